import type { Shape } from '../types';

/** What a thing reports, by its shadow. https://docs.aws.amazon.com/iot/latest/developerguide/device-shadow-document.html */
export const AWS_SHADOW: Shape = {
  name: 'AWS IoT',
  topics: [
    /^\$aws\/things\/(?<key>[^/]+)\/shadow\/(?:name\/[^/]+\/)?(?:update|get)(?:\/(?:accepted|documents))?$/,
  ],
  items: ['current', ''],
  has: { 'state.reported': 'object' },
  time: 'payload.timestamp',
  values: 'state.reported',
};

/** What a thing is asked for and does not report. (delta) */
export const AWS_SHADOW_DELTA: Shape = {
  name: 'AWS IoT',
  topics: [/^\$aws\/things\/(?<key>[^/]+)\/shadow\/(?:name\/[^/]+\/)?(?:update|get)\/delta$/],
  has: { state: 'object', version: 'number' },
  time: 'timestamp',
  values: 'state',
};

const AZURE_DEVICE =
  'deviceId|iothub-connection-device-id|systemProperties.iothub-connection-device-id|device.id';

/**
 * Telemetry of a device by IoT Central or IoT Hub.
 * https://github.com/MicrosoftDocs/azure-docs/blob/main/includes/iot-central-data-export-setup.md (telemetry format)
 */
export const AZURE_IOT: Shape = {
  name: 'Azure IoT',
  has: {
    [AZURE_DEVICE]: 'text',
    'telemetry|body': 'json',
    'enqueuedTime|systemProperties.iothub-enqueuedtime': 'time',
  },
  key: AZURE_DEVICE,
  time: 'enqueuedTime|systemProperties.iothub-enqueuedtime',
  values: 'telemetry|body',
};

/** An event of a device whose data is JSON. https://github.com/influxdata/telegraf/blob/master/plugins/inputs/webhooks/particle/particle_webhooks_test.go */
export const PARTICLE: Shape = {
  name: 'Particle',
  has: { event: 'text', data: 'json', published_at: 'time', coreid: 'text' },
  key: 'coreid',
  time: 'published_at',
  values: 'data',
};

/** An event of a device whose data is a value: its column is the name of the event. */
export const PARTICLE_VALUE: Shape = {
  name: 'Particle',
  has: { event: 'text', data: 'plain', published_at: 'time', coreid: 'text' },
  key: 'coreid',
  column: 'event',
  value: 'data',
  time: 'published_at',
};

/** The state of a device. https://github.com/Losant/losant-mqtt-js/blob/master/lib/device.js (sendState) */
export const LOSANT: Shape = {
  name: 'Losant',
  topics: ['losant/{key}/state'],
  has: { data: 'object' },
  time: 'time',
  values: 'data',
};

/** A device with what it reported last. https://learn.microsoft.com/azure/iot-hub/iot-hub-devguide-device-twins */
export const AZURE_TWIN: Shape = {
  name: 'Azure IoT',
  has: { deviceId: 'text', 'properties.reported': 'object', 'properties.desired': 'object' },
  key: 'deviceId',
  time: 'properties.reported.$metadata.$lastUpdated',
  values: 'properties.reported',
  omit: ['$metadata', '$version'],
};

/** Entries of a channel, each with up to eight fields. https://mathworks.com/help/thingspeak/get-a-channel-feed.html */
export const THINGSPEAK: Shape = {
  name: 'ThingSpeak',
  items: ['feeds[]'],
  has: { created_at: 'time', entry_id: 'number', 'payload.channel': 'object' },
  isTable: true,
  key: 'payload.channel.id',
  time: 'created_at',
  values: '',
  omit: ['created_at', 'entry_id', 'status', 'latitude', 'longitude', 'elevation'],
};

/** A measurement of Cumulocity. https://app.unpkg.com/@c8y/client@1023.61.12/files/lib/cjs/src/measurement/IMeasurement.d.ts */
export const CUMULOCITY: Shape = {
  name: 'Cumulocity',
  has: { 'source.id': 'text', time: 'time', type: 'text' },
  key: 'source.id',
  time: 'time',
  values: '',
  omit: ['id', 'self', 'source', 'time', 'type'],
};

/**
 * Values of data points with their time.
 * https://developer.siemens.com/insights-hub/docs/apis/connectivity-mindconnect-async/api-mindconnect-async-sample.html
 */
export const MINDSPHERE: Shape = {
  name: 'MindSphere',
  items: ['[]', 'timeseries[]'],
  each: 'values',
  has: { timestamp: 'time', 'values.0.dataPointId': 'text', values: 'list' },
  column: 'each.dataPointId',
  value: 'each.value',
  time: 'timestamp',
};

/** A notification of FIWARE Orion: entities with their attributes. https://github.com/telefonicaid/fiware-orion/blob/master/doc/manuals/orion-api.md (notification messages) */
export const FIWARE: Shape = {
  name: 'FIWARE',
  items: ['data[]'],
  has: { id: 'text', type: 'text', 'payload.subscriptionId': 'text' },
  key: 'id',
  values: '',
  omit: ['id', 'type', '@context'],
};

/**
 * Changes of a table of DynamoDB: items as they are now, with when they were written.
 * https://github.com/boto/botocore/blob/develop/botocore/data/dynamodbstreams/2012-08-10/service-2.json (Record)
 */
export const DYNAMODB_STREAM: Shape = {
  name: 'DynamoDB',
  items: ['Records[]', ''],
  has: { eventName: 'text', 'dynamodb.NewImage': 'object', 'dynamodb.ApproximateCreationDateTime': 'time' },
  time: 'dynamodb.ApproximateCreationDateTime',
  values: 'dynamodb.NewImage',
};

/** Telemetry of a device as an event. https://github.com/MicrosoftDocs/azure-docs/blob/main/articles/iot-hub/iot-hub-event-grid.md (DeviceTelemetry) */
export const AZURE_EVENT_GRID: Shape = {
  name: 'Azure IoT',
  items: ['[]', ''],
  has: {
    'eventType|type': 'text',
    'eventTime|time': 'time',
    'data.systemProperties.iothub-connection-device-id': 'text',
    'data.body': 'json',
  },
  key: 'data.systemProperties.iothub-connection-device-id',
  time: 'eventTime|time',
  values: 'data.body',
};

/** An event of a device of IBM Watson IoT; its values stand under `d`. https://github.com/ibm-watson-iot/iot-nodejs (topics) */
export const WATSON_IOT: Shape = {
  name: 'Watson IoT',
  topics: [/^iot-2\/type\/[^/]+\/id\/(?<key>[^/]+)(?:\/evt\/[^/]+\/fmt\/json)?$/],
  has: { 'd|': 'object' },
  time: 'payload.ts|payload.timestamp|payload.d.ts|payload.d.timestamp',
  values: 'd|',
};

/** Past values of metrics of CloudWatch, each with a list of times. https://github.com/boto/botocore/blob/develop/botocore/data/cloudwatch/2010-08-01/service-2.json (GetMetricDataOutput) */
export const CLOUDWATCH: Shape = {
  name: 'CloudWatch',
  items: ['MetricDataResults[]'],
  each: 'Values',
  has: { Id: 'text', Timestamps: 'list', Values: 'list' },
  isTable: true,
  column: 'Label|Id',
  value: 'each',
  time: 'Timestamps',
};

/** Telemetry of a device with its time, one or a list. https://thingsboard.io/docs/reference/mqtt-api/#telemetry-upload-api */
export const THINGSBOARD: Shape = {
  name: 'ThingsBoard',
  items: ['', '[]'],
  has: { ts: 'time', values: 'object' },
  time: 'ts',
  values: 'values',
};

/** Past telemetry of a device, a list for each column. https://thingsboard.io/docs/user-guide/telemetry/#get-historical-time-series-data-values */
export const THINGSBOARD_PAST: Shape = {
  name: 'ThingsBoard',
  byColumn: true,
  has: { ts: 'time', value: 'value' },
  isTable: true,
  value: 'value',
  time: 'ts',
};

/** Telemetry of several devices by a gateway. https://thingsboard.io/docs/reference/gateway-mqtt-api/#telemetry-upload-api */
export const THINGSBOARD_GATEWAY: Shape = {
  name: 'ThingsBoard gateway',
  byKey: true,
  has: { ts: 'time', values: 'object' },
  time: 'ts',
  values: 'values',
};

const OMIT = [
  'phenomenonTime',
  'resultTime',
  'validTime',
  'resultQuality',
  'parameters',
  '@iot.id',
  '*@iot.selfLink',
  '*@iot.navigationLink',
];

/** An observation of the SensorThings API, over MQTT on the topic of its data stream. https://github.com/FraunhoferIOSB/FROST-Server/blob/v2.x/docs/extensions/MqttExpand.md */
export const SENSOR_THINGS: Shape = {
  name: 'SensorThings',
  topics: [/Datastreams\((?<key>[^)]+)\)/, /(?:)/],
  has: { phenomenonTime: 'time', result: 'any' },
  time: 'phenomenonTime',
  values: '',
  omit: OMIT,
};

/** Past observations, as a query answers them. */
export const SENSOR_THINGS_LIST: Shape = {
  ...SENSOR_THINGS,
  topics: undefined,
  items: ['value[]'],
  isTable: true,
};

/** Features of GeoJSON, or one: their properties, and of each its station or id as the key. An observation has an id of its own. https://www.rfc-editor.org/rfc/rfc7946#section-3.3 */
export const GEOJSON: Shape = {
  name: 'GeoJSON',
  items: ['features[]', ''],
  has: { type: 'text', properties: 'object', geometry: 'any' },
  lacks: ['properties.periods', 'properties.timeseries'],
  key: 'properties.station|id|properties.id|properties.name',
  values: 'properties',
};

/**
 * A record of Apache Kafka; its value is a message of its own. Its partition may stand beside the payload.
 * https://github.com/emrebekar/node-red-contrib-kafkajs/blob/master/js/kafka-consumer.js
 */
export const KAFKA: Shape = {
  name: 'Kafka',
  items: ['', '[]'],
  has: { 'partition|msg.partition': 'number', offset: 'value', value: 'any' },
  key: 'key',
  time: 'timestamp',
  message: 'value',
};

/** JSON of Kafka Connect with its schema; what it carries is a message of its own. https://docs.confluent.io/platform/current/connect/userguide.html#json-with-embedded-schemas */
export const KAFKA_CONNECT: Shape = {
  name: 'Kafka Connect',
  has: { 'schema.type': 'text', payload: 'object' },
  message: 'payload',
};

/** A change of a row: the row as it is now. https://debezium.io/documentation/reference/stable/connectors/postgresql.html#postgresql-events */
export const DEBEZIUM: Shape = {
  name: 'Debezium',
  has: { op: 'text', after: 'object', source: 'object', 'source.ts_ms|ts_ms': 'time' },
  time: 'source.ts_ms|ts_ms',
  values: 'after',
};
