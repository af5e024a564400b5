import type { Shape } from '../types';

/** Rows of a Flux query, one per field and time; tags are the columns beside. https://docs.influxdata.com/influxdb/v2/reference/syntax/annotated-csv/ */
export const INFLUXDB_ROWS: Shape = {
  name: 'InfluxDB',
  items: ['[]'],
  has: { _field: 'text', _value: 'any', _time: 'time' },
  isTable: true,
  labels: '',
  omit: ['_field', '_value', '_time', '_start', '_stop', '_measurement', 'result', 'table', ''],
  column: '_field',
  apart: '_measurement',
  value: '_value',
  time: '_time',
};

/** Documents that a search of Elasticsearch or OpenSearch has found. https://www.elastic.co/docs/api/doc/elasticsearch/operation/operation-search */
export const ELASTICSEARCH: Shape = {
  name: 'Elasticsearch',
  items: ['hits.hits[]'],
  has: { _index: 'text', _source: 'object', '_source.@timestamp|_source.timestamp': 'time' },
  isTable: true,
  time: '_source.@timestamp|_source.timestamp',
  values: '_source',
  omit: ['@timestamp', 'timestamp'],
};

/** Points as they are written. https://github.com/mblackstock/node-red-contrib-influxdb#the-batch-output-node */
export const INFLUXDB_POINTS: Shape = {
  name: 'InfluxDB points',
  items: ['', '[]'],
  has: { measurement: 'text', fields: 'object' },
  labels: 'tags',
  time: 'timestamp|time',
  values: 'fields',
};

/** JSON of Telegraf, one metric or a batch of them. https://docs.influxdata.com/telegraf/v1/data_formats/output/json/ */
export const TELEGRAF: Shape = {
  name: 'Telegraf',
  items: ['metrics[]', '[]', ''],
  has: { name: 'text', fields: 'object', tags: 'object', timestamp: 'time' },
  labels: 'tags',
  time: 'timestamp',
  values: 'fields',
};

/** Past values of items. https://www.zabbix.com/documentation/current/en/manual/api/reference/history/get (its example, read in a test of the client pybix) */
export const ZABBIX: Shape = {
  name: 'Zabbix',
  items: ['result[]', '[]'],
  has: { itemid: 'text', clock: 'time', value: 'value' },
  isTable: true,
  column: 'itemid',
  value: 'value',
  time: 'clock',
};

/** Values of a plugin of collectd, each with its name: JSON of its plugin Write HTTP, read in what clients send and test. */
export const COLLECTD: Shape = {
  name: 'collectd',
  items: ['[]', ''],
  has: { dsnames: 'list', values: 'list', plugin: 'text', time: 'time' },
  key: 'host',
  column: ['plugin', 'plugin_instance', 'type', 'type_instance'],
  time: 'time',
  values: 'values',
  names: 'dsnames',
};

/** Past values of a PI point, as the PI Web API answers them (streams, interpolated and recorded), read in what clients document and test. */
export const PI: Shape = {
  name: 'PI',
  items: ['Items[]'],
  has: { Timestamp: 'time', Value: 'any', Good: 'value' },
  isTable: true,
  unnamed: 'Value',
  value: 'Value',
  time: 'Timestamp',
  quality: 'Good',
};

/** The value of a PI point now. */
export const PI_VALUE: Shape = {
  ...PI,
  items: undefined,
  has: { Timestamp: 'time', Value: 'any', Good: 'value', UnitsAbbreviation: 'any' },
  isTable: undefined,
};

/** Values of several PI points. (stream sets) */
export const PI_SEVERAL: Shape = {
  name: 'PI',
  items: ['Items[]'],
  has: { Name: 'text', 'Value.Timestamp': 'time', 'Value.Good': 'value' },
  column: 'Name',
  value: 'Value.Value',
  time: 'Value.Timestamp',
  quality: 'Value.Good',
};

/** What a query of the HTTP API answers for a moment: labels tell series apart. https://prometheus.io/docs/prometheus/latest/querying/api/#instant-vectors */
export const PROMETHEUS: Shape = {
  name: 'Prometheus',
  items: ['data.result[]'],
  has: { metric: 'object', value: 'list', 'payload.data.resultType': 'text' },
  labels: 'metric',
  omit: ['__name__'],
  column: 'metric.__name__',
  unnamed: 'value',
  value: 'value.1',
  time: 'value.0',
};

/** The same for a range. https://prometheus.io/docs/prometheus/latest/querying/api/#range-vectors */
export const PROMETHEUS_RANGE: Shape = {
  ...PROMETHEUS,
  each: 'values',
  has: { metric: 'object', values: 'list', 'payload.data.resultType': 'text' },
  isTable: true,
  value: 'each.1',
  time: 'each.0',
};

/** The metrics of an exporter, as `written.ts` reads them from text. */
export const PROMETHEUS_TEXT: Shape = {
  name: 'Prometheus',
  items: ['#samples[]'],
  has: { values: 'object' },
  time: 'timestamp',
  values: 'values',
};

/** Past values of Graphite. https://github.com/graphite-project/graphite-web/blob/master/docs/render_api.rst (json, rickshaw) */
export const GRAPHITE: Shape = {
  name: 'Graphite',
  items: ['[]'],
  each: 'datapoints',
  has: { target: 'text', datapoints: 'list' },
  isTable: true,
  column: 'target',
  value: 'each.0|each.y',
  time: 'each.1|each.x',
};

/** Lines of logs, by the labels of their stream. https://github.com/grafana/loki/blob/main/docs/sources/reference/loki-http-api.md (streams) */
export const LOKI: Shape = {
  name: 'Loki',
  items: ['data.result[]'],
  each: 'values',
  has: { stream: 'object', values: 'list', 'payload.data.resultType': 'text' },
  isTable: true,
  labels: 'stream',
  unnamed: 'line',
  value: 'each.1',
  time: 'each.0',
};

/** Values of alerts that Grafana sends to a webhook; labels tell series apart. https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/ */
export const GRAFANA: Shape = {
  name: 'Grafana',
  items: ['alerts[]'],
  has: { labels: 'object', startsAt: 'time', values: 'object' },
  labels: 'labels',
  values: 'values',
};

/**
 * Metrics by OTLP as JSON: gauges and sums, of which attributes tell series apart; histograms are left out.
 * https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding, and the example in
 * https://github.com/open-telemetry/opentelemetry-proto/blob/main/examples/metrics.json
 */
export const OPEN_TELEMETRY: Shape = {
  name: 'OpenTelemetry',
  items: ['resourceMetrics[].scopeMetrics[].metrics[]'],
  each: 'gauge.dataPoints|sum.dataPoints',
  has: { name: 'text', 'gauge|sum|histogram|exponentialHistogram|summary': 'object' },
  labels: ['up.up.resource.attributes', 'each.attributes'],
  column: 'name',
  value: 'each.asDouble|each.asInt',
  time: 'each.timeUnixNano',
};
