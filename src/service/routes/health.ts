import { parseEstimateCost } from '../../wire/parse-requests';
import { modelLimits } from '../options';
import { notFound } from '../refusal';
import { family, type MetricFamily } from '../service-metrics';
import { MODEL_VERSION, PACKAGE_VERSION } from '../version';
import { accept, type Route, type ServiceContext } from './context';

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

/*
 * Routes that the specification does not have and clients of a hosted service call when they start: is the service
 * there, is the token good, is there news, what has been used up.
 */

/** Is the service there? Needs no token. */
export const root: Route = {
  method: 'GET',
  envelope: 'quickstart',
  open: true,
  handle: () => ({ status: 200, body: { status: 'ok', package_version: PACKAGE_VERSION } }),
};

/** Is the token good? 200, or 401 as everywhere. */
export const checkToken: Route = {
  method: 'GET',
  envelope: 'quickstart',
  handle: () => ({ status: 200, body: { valid: true } }),
};

/** Clients ask for news before they have a token. */
export const getGreetings: Route = {
  method: 'GET',
  envelope: 'quickstart',
  open: true,
  handle: () => ({ status: 200, body: { messages: [] } }),
};

/** Nothing is metered here; −1 is how the route says that there is no limit. */
export const getApiUsage: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rawBody: true,
  handle: () => ({ status: 200, body: { current_usage: 0, usage_limit: -1, reset_time: 'never' } }),
};

/** Bytes of a train set whose fit may take longer than a connection is sure to hold. */
const ASYNC_ABOVE_BYTES = 50 * 1024 * 1024;
/** No fit takes longer: its work is bounded. */
const POLL_TIMEOUT_SECS = 7_200;

/** S 4.5 */
export const modelLimitsRoute: Route = {
  method: 'GET',
  envelope: 'quickstart',
  handle: ({ limits }) => ({ status: 200, body: modelLimits(limits) }),
};

/** Not of the specification: the limits again, and from which size on a fit is better submitted than waited for. */
export const settingsRoute: Route = {
  method: 'GET',
  envelope: 'quickstart',
  handle: ({ limits }) => ({
    status: 200,
    body: {
      ...modelLimits(limits),
      async_settings: {
        use_above_trainset_size_bytes: ASYNC_ABOVE_BYTES,
        poll_timeout_secs: POLL_TIMEOUT_SECS,
      },
    },
  }),
};

/** S 4.6. The embedded service is free. Clients of the hosted service require to be told what was estimated. */
export const estimateCost: Route = {
  method: 'POST',
  envelope: 'quickstart',
  handle(_context, { body }) {
    const { value } = accept(parseEstimateCost(body));
    const inputs = { operation: 'predict', model_version: MODEL_VERSION, ...value };
    return { status: 200, body: { estimated_cost: 0, pricing_version: 'free', inputs } };
  },
};

/** Not of the specification: what the service is doing now, for a person or a monitor. */
export const getServiceStatus: Route = {
  method: 'GET',
  envelope: 'quickstart',
  handle({ fits, predictPool, store }) {
    const uploads = [...store.uploadEntries.items.values()];
    return {
      status: 200,
      body: {
        package_version: PACKAGE_VERSION,
        fits: fits.list(),
        predicts: { running: predictPool.running, waiting: predictPool.queued },
        fitted_train_sets: store.models.items.size,
        train_set_uploads: uploads.filter((item) => item.entry.set === 'train').length,
        test_set_uploads: uploads.filter((item) => item.entry.set === 'test').length,
        stored_bytes: store.bytes(),
        memory_bytes: store.uploads.memoryBytes(),
      },
    };
  },
};
