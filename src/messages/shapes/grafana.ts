import type { Shape } from '../types';

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
