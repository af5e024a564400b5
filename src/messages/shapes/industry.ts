import type { Shape } from '../types';

/** A tag or several with their time. https://github.com/united-manufacturing-hub/umh.docs.umh.app (docs/Legacy/datamodel/messages/_historian.md) */
export const UMH: Shape = {
  name: 'UMH',
  topics: ['umh/v1/#'],
  has: { timestamp_ms: 'time' },
  time: 'timestamp_ms',
  values: '',
  omit: ['timestamp_ms'],
};

/** A telegram of KNX: the group address is its column, unless it has a name. https://github.com/Supergiovane/node-red-contrib-knx-ultimate/blob/master/docs/wiki/Device.md */
export const KNX: Shape = {
  name: 'KNX',
  has: { 'msg.knx.destination': 'text', '': 'value' },
  column: 'msg.devicename|msg.knx.destination',
  value: '',
};

const SITEWISE_VALUE = 'value.doubleValue|value.integerValue|value.booleanValue|value.stringValue';

/**
 * Values of a property as they are sent.
 * https://github.com/boto/botocore/blob/develop/botocore/data/iotsitewise/2019-12-02/service-2.json (BatchPutAssetPropertyValue)
 */
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

/** Past values of a property. (GetAssetPropertyValueHistory) */
export const SITEWISE_HISTORY: Shape = {
  name: 'SiteWise',
  items: ['assetPropertyValueHistory[]'],
  has: { timestamp: 'object', value: 'object' },
  isTable: true,
  unnamed: 'value',
  value: SITEWISE_VALUE,
  time: 'timestamp',
  quality: 'quality',
};

/** Tags of the IoT Gateway of Kepware. https://support.ptc.com/help/kepware/kepware_edge/en/kepware/kepware-edge/edge-iot-mqtt.html */
export const KEPWARE: Shape = {
  name: 'Kepware',
  items: ['values[]'],
  has: { id: 'text', v: 'any', q: 'any', t: 'time' },
  column: 'id',
  value: 'v',
  time: 't',
  quality: 'q',
};

/**
 * Tags of EMQX Neuron in its format "values", for eKuiper with longer names.
 * https://github.com/emqx/neuron-docs/blob/main/en_US/configuration/north-apps/mqtt/api.md
 */
export const NEURON: Shape = {
  name: 'Neuron',
  has: {
    'node|node_name': 'text',
    'group|group_name': 'text',
    timestamp: 'time',
    values: 'object',
    'errors|metas': 'object',
  },
  key: 'node|node_name',
  time: 'timestamp',
  values: 'values',
};

/** The same in its formats "tags" and ECP: a tag with an error has no value. */
export const NEURON_TAGS: Shape = {
  name: 'Neuron',
  items: ['tags[]'],
  has: { name: 'text', 'value|error': 'any', 'payload.node': 'text', 'payload.group': 'text' },
  key: 'payload.node',
  column: 'name',
  value: 'value',
  time: 'payload.timestamp',
};

/** Tags of a Siemens connector by their ids. https://github.com/industrial-edge/common-databus-payload-format/blob/main/docs/payload-format/PayloadFormat.md */
export const INDUSTRIAL_EDGE: Shape = {
  name: 'Industrial Edge',
  items: ['vals[]'],
  has: { id: 'text', val: 'value', 'ts|qc|payload.seq': 'value' },
  column: 'id',
  value: 'val',
  time: 'ts',
  quality: 'qc',
};

/** Symbols of TwinCAT IoT. https://infosys.beckhoff.com/content/1033/tf6730_tc3_iot_communicator/12706626955.html (TwinCAT JSON) */
export const BECKHOFF: Shape = {
  name: 'Beckhoff',
  has: { Timestamp: 'time', GroupName: 'text', Values: 'object' },
  key: 'GroupName',
  time: 'Timestamp',
  values: 'Values',
};

/** An event of EdgeX Foundry, times in nanoseconds. https://github.com/edgexfoundry/edgex-docs/blob/main/docs_src/getting-started/quick-start/index.md */
export const EDGEX: Shape = {
  name: 'EdgeX',
  items: ['readings[]', 'event.readings[]', 'payload.event.readings[]'],
  has: { deviceName: 'text', resourceName: 'text', value: 'value', origin: 'time' },
  key: 'deviceName',
  column: 'resourceName',
  value: 'value',
  time: 'origin',
};
