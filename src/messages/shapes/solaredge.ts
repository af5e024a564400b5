import type { Shape } from '../types';

/**
 * Power or energy of a site, in its local time; the unit is the column. Monitoring API:
 * https://knowledge-center.solaredge.com/sites/kc/files/se_monitoring_api.pdf (site power, site energy)
 */
export const SOLAREDGE: Shape = {
  name: 'SolarEdge',
  items: ['power.values[]', 'energy.values[]'],
  has: {
    date: 'time',
    value: 'any',
    'payload.power.timeUnit|payload.energy.timeUnit': 'text',
    'payload.power.unit|payload.energy.unit': 'text',
  },
  isTable: true,
  column: 'payload.power.unit|payload.energy.unit',
  value: 'value',
  time: 'date',
};

/** The same of each meter, such as Production and Consumption. (site power and site energy, detailed) */
export const SOLAREDGE_DETAILS: Shape = {
  name: 'SolarEdge',
  items: ['powerDetails.meters[]', 'energyDetails.meters[]'],
  each: 'values',
  has: { type: 'text', values: 'list', 'payload.powerDetails.unit|payload.energyDetails.unit': 'text' },
  isTable: true,
  column: ['type', 'payload.powerDetails.unit|payload.energyDetails.unit'],
  value: 'each.value',
  time: 'each.date',
};
