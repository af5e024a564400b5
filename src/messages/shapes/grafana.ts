import type { Shape } from '../types';

/** Past values of Graphite. https://graphite.readthedocs.io/en/latest/render_api.html#json */
export const GRAPHITE: Shape = {
  name: 'Graphite',
  items: ['[]'],
  each: 'datapoints',
  has: { target: 'text', datapoints: 'list' },
  isTable: true,
  column: 'target',
  value: 'each.0',
  time: 'each.1',
};

/** Values of alerts that Grafana sends to a webhook; labels tell series apart. https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/ */
export const GRAFANA: Shape = {
  name: 'Grafana',
  items: ['alerts[]'],
  has: { labels: 'object', startsAt: 'time', values: 'object' },
  labels: 'labels',
  values: 'values',
};
