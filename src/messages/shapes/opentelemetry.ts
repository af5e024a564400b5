import type { Shape } from '../types';

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
