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
  has: { 'value.value|value|': 'value' },
  value: 'value.value|value|',
  time: 'sourceTimestamp|msg.sourceTimestamp|serverTimestamp|msg.serverTimestamp',
  quality: 'statusCode|msg.statusCode',
};

/** A DataValue on any topic, with the name of its node. https://node-opcua.github.io/api_doc/ (DataValue) */
export const OPC_UA_VALUE: Shape = {
  name: 'OPC UA',
  has: {
    'value.value': 'value',
    'value.dataType|statusCode': 'any',
    'sourceTimestamp|serverTimestamp': 'time',
    'nodeId|displayName|browseName': 'text',
  },
  column: 'displayName|browseName|nodeId',
  value: 'value.value',
  time: 'sourceTimestamp|serverTimestamp',
  quality: 'statusCode',
};

/** Samples of OPC Publisher. https://learn.microsoft.com/azure/iot-operations/discover-manage-assets/ (OPC Publisher 2.x, telemetry samples) */
export const OPC_UA_SAMPLES: Shape = {
  name: 'OPC UA',
  items: ['', '[]'],
  has: { NodeId: 'text', 'Value.SourceTimestamp|Value.ServerTimestamp|SourceTimestamp|Timestamp': 'time' },
  column: 'DisplayName|NodeId',
  value: 'Value.Value|Value',
  time: 'Value.SourceTimestamp|Value.ServerTimestamp|SourceTimestamp|Timestamp',
  quality: 'Value.StatusCode|StatusCode',
};

/** A network message of PubSub as JSON, also of OPC Publisher. https://reference.opcfoundation.org/Core/Part14/v105/docs/7.2.5 */
export const OPC_UA_PUBSUB: Shape = {
  name: 'OPC UA PubSub',
  items: ['Messages[]'],
  has: { Payload: 'object', 'payload.MessageType|payload.MessageId': 'text' },
  key: 'DataSetWriterName|DataSetWriterId',
  time: 'Timestamp',
  values: 'Payload',
};
