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
