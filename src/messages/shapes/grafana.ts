import type { Shape } from '../types';

/** Values of alerts that Grafana sends to a webhook; labels tell series apart. https://grafana.com/docs/grafana/latest/alerting/configure-notifications/manage-contact-points/integrations/webhook-notifier/ */
export const GRAFANA: Shape = {
  name: 'Grafana',
  items: ['alerts[]'],
  has: { labels: 'object', startsAt: 'time', values: 'object' },
  labels: 'labels',
  values: 'values',
};
