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
