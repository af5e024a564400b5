import type { Shape } from '../types';

/**
 * Meter values of a charging station: the call as it is sent, or what it carries. A value that does not say what it measures
 * is the energy taken from the grid. The node CS Server has it in `data`, with the station beside the payload.
 * https://github.com/argonne-vci/node-red-contrib-ocpp/blob/master/ocpp/ocpp-server.js,
 * https://github.com/lorenzodonini/ocpp-go/blob/master/ocpp1.6/types/types.go (MeterValue, SampledValue)
 */
export const OCPP: Shape = {
  name: 'OCPP',
  items: ['meterValue[]', '3.meterValue[]', 'data.meterValue[]'],
  each: 'sampledValue',
  has: { timestamp: 'time', sampledValue: 'list' },
  key: [
    'msg.ocpp.chargeBoxIdentity',
    'payload.connectorId|payload.3.connectorId|payload.data.connectorId|payload.evseId|payload.3.evseId|payload.evse.id|payload.3.evse.id',
  ],
  column: ['each.measurand', 'each.phase'],
  apart: 'each.location',
  unnamed: 'Energy.Active.Import.Register',
  value: 'each.value',
  time: 'timestamp',
};
