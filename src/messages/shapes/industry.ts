import type { Shape } from '../types';

/** `ns=2;s=Line1/Motor1/Temperature`; of a number the whole of it is the name. https://reference.opcfoundation.org/Core/Part6/v105/docs/5.3.1.10 */
const NODE_IDS = [
  /^(?:ns=\d+;|nsu=[^;]+;)?s=(?<column>.+?)(?:;datatype=\w+)?$/,
  /^(?<column>(?:ns=\d+;|nsu=[^;]+;)?[igb]=.+?)(?:;datatype=\w+)?$/,
];

/**
 * A value on the topic of its node, with its status and times beside it: node-red-contrib-opcua, node-red-contrib-iiot-opcua.
 * https://github.com/mikakaraila/node-red-contrib-opcua
 */
export const OPC_UA: Shape = {
  name: 'OPC UA',
  topics: NODE_IDS,
  has: { 'value.value.value|value.value|value|': 'value' },
  value: 'value.value.value|value.value|value|',
  time: 'value.sourceTimestamp|sourceTimestamp|msg.sourceTimestamp|value.serverTimestamp|serverTimestamp|msg.serverTimestamp',
  quality: 'value.statusCode|statusCode|msg.statusCode',
};

/** Where a message has the address of its node, beside the value or around it. */
const NODE =
  'displayName|browseName|nodeId|payload.nodeId|payload.addressSpaceItems.0.nodeId|msg.addressSpaceItems.0.nodeId';

/**
 * A DataValue on any topic, with the name of its node: also of the nodes Listener and Read of
 * node-red-contrib-iiot-opcua, which have the DataValue in `value`.
 * https://github.com/BiancoRoyal/node-red-contrib-iiot-opcua/blob/master/src/opcua-iiot-listener.ts
 */
export const OPC_UA_VALUE: Shape = {
  name: 'OPC UA',
  topics: [/^(?!(?:ns=\d+;|nsu=[^;]+;)?[sigb]=)/],
  items: ['value', ''],
  has: {
    'value.value': 'value',
    'value.dataType|statusCode': 'any',
    'sourceTimestamp|serverTimestamp': 'time',
    [NODE]: 'text',
  },
  column: NODE,
  within: NODE_IDS,
  value: 'value.value',
  time: 'sourceTimestamp|serverTimestamp',
  quality: 'statusCode',
};

/**
 * Several nodes read at once: DataValues in the order of the addresses in `msg.items`, or in the topic.
 * https://github.com/mikakaraila/node-red-contrib-opcua/blob/master/opcua/102-opcuaclient.js (readmultiple_action_input)
 */
export const OPC_UA_SEVERAL: Shape = {
  name: 'OPC UA',
  items: ['[]'],
  beside: 'msg.items|msg.topic',
  has: { 'beside.nodeId|beside': 'text', 'value.dataType|statusCode': 'any', 'value|statusCode': 'any' },
  column: 'beside.nodeId|beside',
  within: NODE_IDS,
  value: 'value.value',
  time: 'sourceTimestamp|serverTimestamp',
  quality: 'statusCode',
};

/** Past values of a node, on its topic. (readhistory_action_input in the same file) */
export const OPC_UA_HISTORY: Shape = {
  name: 'OPC UA',
  topics: NODE_IDS,
  items: ['historyData.dataValues[]', '[]'],
  has: { 'value.dataType': 'any', 'value.value': 'value', 'sourceTimestamp|serverTimestamp': 'time' },
  isTable: true,
  value: 'value.value',
  time: 'sourceTimestamp|serverTimestamp',
  quality: 'statusCode',
};

/** Samples of OPC Publisher. https://github.com/Azure/Industrial-IoT/blob/main/docs/opc-publisher/messageformats.md (samples mode) */
export const OPC_UA_SAMPLES: Shape = {
  name: 'OPC UA',
  items: ['', '[]', 'body', 'body[]'],
  has: { NodeId: 'text', 'Value.SourceTimestamp|Value.ServerTimestamp|SourceTimestamp|Timestamp': 'time' },
  column: 'DisplayName|NodeId',
  within: NODE_IDS,
  value: 'Value.Value|Value',
  time: 'Value.SourceTimestamp|Value.ServerTimestamp|SourceTimestamp|Timestamp',
  quality: 'Value.StatusCode|StatusCode',
};

/** A network message of PubSub as JSON, also of OPC Publisher. https://github.com/Azure/Industrial-IoT/blob/main/docs/opc-publisher/messageformats.md (PubSub mode) */
export const OPC_UA_PUBSUB: Shape = {
  name: 'OPC UA PubSub',
  items: ['Messages[]', 'body.Messages[]'],
  has: {
    Payload: 'object',
    'payload.MessageType|payload.MessageId|payload.body.MessageType|payload.body.MessageId': 'text',
  },
  key: 'DataSetWriterName|DataSetWriterId',
  time: 'Timestamp',
  values: 'Payload',
};

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

/** Data and births of Sparkplug B, decoded. https://sparkplug.eclipse.org/specification/version/3.0/documents/sparkplug-specification-3.0.0.pdf (6.4) */
export const SPARKPLUG: Shape = {
  name: 'Sparkplug B',
  topics: [
    /^spBv1\.0\/[^/]+\/D(?:DATA|BIRTH)\/[^/]+\/(?<key>[^/]+)$/,
    /^spBv1\.0\/[^/]+\/N(?:DATA|BIRTH)\/(?<key>[^/]+)$/,
  ],
  items: ['metrics[]'],
  has: { name: 'text' },
  column: 'name',
  value: 'value',
  time: 'timestamp|payload.timestamp',
};

/** The same on another topic, as gateways publish it in JSON. */
export const SPARKPLUG_JSON: Shape = {
  name: 'Sparkplug B',
  topics: [/^(?!spBv1\.0\/)/],
  items: ['metrics[]'],
  has: {
    name: 'text',
    value: 'any',
    'dataType|datatype|type|payload.seq': 'any',
    'payload.timestamp': 'time',
  },
  column: 'name',
  value: 'value',
  time: 'timestamp|payload.timestamp',
};

/**
 * Samples and events of an MTConnect agent, as JSON (version 2), over HTTP or MQTT. Each tells when its value has changed;
 * the document tells of when they all are. Conditions are left out.
 * https://github.com/TrakHound/MTConnect.NET (JSON-cppagent: MTConnectStreams)
 */
export const MTCONNECT: Shape = {
  name: 'MTConnect',
  items: [
    'MTConnectStreams.Streams.DeviceStream[].ComponentStream[].Samples{}',
    'MTConnectStreams.Streams.DeviceStream[].ComponentStream[].Events{}',
  ],
  isEvery: true,
  has: { dataItemId: 'text', value: 'any', timestamp: 'time' },
  key: 'up.up.name|up.up.uuid',
  time: 'payload.MTConnectStreams.Header.creationTime',
  column: 'dataItemId',
  value: 'value',
};

/**
 * A property that the node BACnet Read has read: object type, instance and property are its column (`0.3.85` is the present
 * value of analog input 3). https://github.com/BiancoRoyal/node-red-contrib-bacnet,
 * https://github.com/fh1ch/node-bacstack (readProperty)
 */
export const BACNET: Shape = {
  name: 'BACnet',
  has: {
    'objectId.type': 'number',
    'objectId.instance': 'number',
    'property.id': 'number',
    'values.0.value': 'value',
  },
  column: ['objectId.type', 'objectId.instance', 'property.id'],
  value: 'values.0.value',
};

/** Several properties of several objects. (readPropertyMultiple) */
export const BACNET_MULTIPLE: Shape = {
  name: 'BACnet',
  items: ['values[]'],
  each: 'values',
  has: { 'objectId.type': 'number', 'objectId.instance': 'number', 'values.0.id': 'number', values: 'list' },
  column: ['objectId.type', 'objectId.instance', 'each.id'],
  value: 'each.value.0.value',
};

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
