import type { Shape } from '../types';

/** A record of Apache Kafka; its value is a message of its own. https://kafka.js.org/docs/consuming */
export const KAFKA: Shape = {
  name: 'Kafka',
  items: ['', '[]'],
  has: { partition: 'number', offset: 'value', value: 'any' },
  key: 'key',
  time: 'timestamp',
  message: 'value',
};
