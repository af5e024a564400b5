import type { Shape } from '../types';

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
