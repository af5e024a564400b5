import { notFound } from '../refusal';
import { family, type MetricFamily } from '../service-metrics';
import { PACKAGE_VERSION } from '../version';
import type { Route, ServiceContext } from './context';

/* For those who run the service: is it alive, may it be sent work, what does it do? No route needs a token. */

/** Unix seconds. */
const STARTED_AT = Math.round(Date.now() / 1000 - process.uptime());

const OPEN_METRICS = 'application/openmetrics-text; version=1.0.0; charset=utf-8';

/** The process answers. */
export const healthz: Route = {
  method: 'GET',
  envelope: 'quickstart',
  open: true,
  handle: () => ({ status: 200, body: { status: 'ok' } }),
};

/** 200 where fits and predicts are taken, 503 where not: see `ServiceState`. */
export const readyz: Route = {
  method: 'GET',
  envelope: 'quickstart',
  open: true,
  handle: ({ state }) => {
    const status = state();
    return { status: status === 'ready' ? 200 : 503, body: { status } };
  },
};

/** Numbers in the text format of OpenMetrics 1.0, where they are asked for. */
export const metricsRoute: Route = {
  method: 'GET',
  envelope: 'quickstart',
  open: true,
  handle(context, { res }) {
    if (!context.options.showMetrics) {
      throw notFound('The metrics of this service are off: start it with --metrics.');
    }
    const text = `${momentary(context)}${context.metrics.text()}# EOF\n`;
    res.writeHead(200, { 'content-type': OPEN_METRICS, 'cache-control': 'no-store' });
    res.end(text);
    return undefined;
  },
};

/** What is so at this moment. */
function momentary({ fits, predictPool, store, state }: ServiceContext): string {
  const gauge = (name: string, help: string, value: number): MetricFamily => ({
    name,
    type: 'gauge',
    help,
    samples: [`${name} ${value}`],
    ...(name.endsWith('_bytes') && { unit: 'bytes' }),
  });
  const cpu = process.cpuUsage();
  const families: MetricFamily[] = [
    {
      name: 'tabular_service_build',
      type: 'info',
      help: 'The version of the package.',
      samples: [`tabular_service_build_info{version="${PACKAGE_VERSION}"} 1`],
    },
    gauge(
      'tabular_service_ready',
      'Whether fits and predicts are taken: 1 or 0.',
      Number(state() === 'ready'),
    ),
    gauge('tabular_service_fits', 'Fits that wait or run.', fits.list().length),
    gauge('tabular_service_predicts_running', 'Predicts at work.', predictPool.running),
    gauge('tabular_service_predicts_waiting', 'Predicts in the queue.', predictPool.queued),
    gauge('tabular_service_models', 'Fitted models that are stored.', store.models.items.size),
    gauge('tabular_service_stored_bytes', 'Uploads and models on disk.', store.bytes()),
    gauge('tabular_service_stored_limit_bytes', 'What they may take.', store.maxBytes),
    gauge('process_resident_memory_bytes', 'Resident memory of the process.', process.memoryUsage.rss()),
    {
      name: 'process_cpu_seconds',
      type: 'counter',
      unit: 'seconds',
      help: 'Processor time of all threads, user and system.',
      samples: [`process_cpu_seconds_total ${(cpu.user + cpu.system) / 1e6}`],
    },
    {
      name: 'process_start_time_seconds',
      type: 'gauge',
      unit: 'seconds',
      help: 'When the process was started, in unix seconds.',
      samples: [`process_start_time_seconds ${STARTED_AT}`],
    },
  ];
  return families.map(family).join('');
}
