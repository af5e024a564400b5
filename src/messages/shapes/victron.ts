import type { Shape } from '../types';

/** A value of Venus OS; an empty payload says that the device is gone. https://github.com/victronenergy/dbus-flashmq#notifications (and keep-alive) */
export const VICTRON: Shape = {
  name: 'Victron',
  topics: ['N/{key}/{column}'],
  has: { 'value|': 'any' },
  value: 'value|',
  omit: ['full_publish_completed', 'heartbeat', 'keepalive'],
};
