import type { Shape } from '../types';

/** A tag or several with their time. https://umh.docs.umh.app/docs/datamodel/messages/_historian/ */
export const UMH: Shape = {
  name: 'UMH',
  topics: ['umh/v1/#'],
  has: { timestamp_ms: 'time' },
  time: 'timestamp_ms',
  values: '',
  omit: ['timestamp_ms'],
};

/** A telegram of KNX: the group address is its column, unless it has a name. https://supergiovane.github.io/node-red-contrib-knx-ultimate/wiki/Device */
export const KNX: Shape = {
  name: 'KNX',
  has: { 'msg.knx.destination': 'text', '': 'value' },
  column: 'msg.devicename|msg.knx.destination',
  value: '',
};

const SITEWISE_VALUE = 'value.doubleValue|value.integerValue|value.booleanValue|value.stringValue';

/** Values of a property as they are sent. https://docs.aws.amazon.com/iot-sitewise/latest/APIReference/API_BatchPutAssetPropertyValue.html */
export const SITEWISE: Shape = {
  name: 'SiteWise',
  items: ['propertyValues[]'],
  has: { 'payload.propertyAlias|payload.propertyId': 'text', [SITEWISE_VALUE]: 'value', timestamp: 'object' },
  key: 'payload.assetId',
  column: 'payload.propertyAlias|payload.propertyId',
  value: SITEWISE_VALUE,
  time: 'timestamp',
  quality: 'quality',
};

/** A notification of new values. https://docs.aws.amazon.com/iot-sitewise/latest/userguide/interact-with-other-services.html */
export const SITEWISE_NOTIFICATION: Shape = {
  name: 'SiteWise',
  items: ['payload.values[]'],
  has: { 'payload.payload.propertyId': 'text', [SITEWISE_VALUE]: 'value', timestamp: 'object' },
  key: 'payload.payload.assetId',
  column: 'payload.payload.propertyId',
  value: SITEWISE_VALUE,
  time: 'timestamp',
  quality: 'quality',
};

/** Tags of the IoT Gateway of Kepware. https://www.ptc.com/en/support/help/kepware (IoT Gateway, standard template) */
export const KEPWARE: Shape = {
  name: 'Kepware',
  items: ['values[]'],
  has: { id: 'text', v: 'any', q: 'any', t: 'time' },
  column: 'id',
  value: 'v',
  time: 't',
  quality: 'q',
};

/** Tags of EMQX Neuron in its format "values". https://docs.emqx.com/en/neuronex/latest/ (MQTT, upstream data format) */
export const NEURON: Shape = {
  name: 'Neuron',
  has: { node: 'text', group: 'text', timestamp: 'time', values: 'object' },
  key: 'node',
  time: 'timestamp',
  values: 'values',
};

/** Tags of a Siemens connector by their ids. https://support.industry.siemens.com/ (Industrial Edge, databus payload format) */
export const INDUSTRIAL_EDGE: Shape = {
  name: 'Industrial Edge',
  items: ['vals[]'],
  has: { id: 'text', val: 'value', ts: 'time' },
  column: 'id',
  value: 'val',
  time: 'ts',
};

/** Symbols of TwinCAT IoT. https://infosys.beckhoff.com/english.php?content=../content/1033/tf6720_tc3_iot_data_agent/ (JSON format) */
export const BECKHOFF: Shape = {
  name: 'Beckhoff',
  has: { Timestamp: 'time', GroupName: 'text', Values: 'object' },
  key: 'GroupName',
  time: 'Timestamp',
  values: 'Values',
};

/** An event of EdgeX Foundry, times in nanoseconds. https://docs.edgexfoundry.org/ (core data, event) */
export const EDGEX: Shape = {
  name: 'EdgeX',
  items: ['readings[]', 'event.readings[]'],
  has: { deviceName: 'text', resourceName: 'text', value: 'value', origin: 'time' },
  key: 'deviceName',
  column: 'resourceName',
  value: 'value',
  time: 'origin',
};
