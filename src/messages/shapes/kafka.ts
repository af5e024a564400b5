import type { Shape } from '../types';

/**
 * A record of Apache Kafka; its value is a message of its own. Its partition may stand beside the payload.
 * https://github.com/emrebekar/node-red-contrib-kafkajs/blob/master/js/kafka-consumer.js
 */
export const KAFKA: Shape = {
  name: 'Kafka',
  items: ['', '[]'],
  has: { 'partition|msg.partition': 'number', offset: 'value', value: 'any' },
  key: 'key',
  time: 'timestamp',
  message: 'value',
};
