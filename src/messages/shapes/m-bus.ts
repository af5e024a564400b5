import type { Shape } from '../types';

/** A meter on M-Bus: its records by their number and unit. https://github.com/robertsLando/node-red-contrib-m-bus (mbDeviceUpdated) */
export const M_BUS: Shape = {
  name: 'M-Bus',
  items: ['DataRecord[]'],
  has: { id: 'value', Function: 'text', Value: 'any', 'payload.SlaveInformation.Id': 'value' },
  key: 'payload.SlaveInformation.Id',
  column: ['id', 'Unit'],
  value: 'Value',
  time: 'payload.DataRecord.0.Timestamp',
};
