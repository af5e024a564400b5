import type { Shape } from '../types';

/**
 * Meter values of a charging station: the call as it is sent, or what it carries. A value that does not say what it measures
 * is the energy taken from the grid. https://openchargealliance.org/protocols/open-charge-point-protocol/ (1.6, 6.29 and 7.28)
 */
export const OCPP: Shape = {
  name: 'OCPP',
  items: ['meterValue[]', '3.meterValue[]'],
  each: 'sampledValue',
  has: { timestamp: 'time', sampledValue: 'list' },
  key: 'payload.connectorId|payload.3.connectorId|payload.evseId|payload.3.evseId',
  column: ['each.measurand', 'each.phase'],
  unnamed: 'Energy.Active.Import.Register',
  value: 'each.value',
  time: 'timestamp',
};
