import { parseEstimateCost } from '../../wire/parse-requests';
import { modelLimits } from '../limits';
import { MODEL_VERSION, PACKAGE_VERSION } from '../version';
import { accept, type Route } from './context';

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
