import type { Shape } from '../types';

/** JSON of Kafka Connect with its schema; what it carries is a message of its own. https://docs.confluent.io/platform/current/connect/userguide.html#json-with-embedded-schemas */
export const KAFKA_CONNECT: Shape = {
  name: 'Kafka Connect',
  has: { 'schema.type': 'text', payload: 'object' },
  message: 'payload',
};

/** A change of a row: the row as it is now. https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events */
export const DEBEZIUM: Shape = {
  name: 'Debezium',
  has: { op: 'text', after: 'object', source: 'object', 'source.ts_ms|ts_ms': 'time' },
  time: 'source.ts_ms|ts_ms',
  values: 'after',
};
