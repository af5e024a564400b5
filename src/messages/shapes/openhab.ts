import type { Shape } from '../types';

/**
 * A new state of an item, with the old one beside it. https://www.openhab.org/docs/developer/utils/events.html#the-core-events
 * (ItemStateEvent, ItemStateChangedEvent)
 */
export const OPENHAB: Shape = {
  name: 'openHAB',
  topics: [/^(?:openhab|smarthome)\/items\/(?<column>[^/]+)\/state(?:changed|updated)?$/],
  has: { type: 'text', value: 'value' },
  value: 'value',
};

/** The same as an event of the REST API, with its topic. https://www.openhab.org/docs/configuration/restdocs.html (events) */
export const OPENHAB_EVENT: Shape = {
  name: 'openHAB',
  has: { topic: 'text', type: 'text', payload: 'json' },
  message: 'payload',
};
