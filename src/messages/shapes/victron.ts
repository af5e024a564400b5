import type { Shape } from '../types';

/** A value of Venus OS. https://github.com/victronenergy/dbus-flashmq#notifications */
export const VICTRON: Shape = {
  name: 'Victron',
  topics: ['N/{key}/{column}'],
  has: { value: 'any' },
  value: 'value',
};
