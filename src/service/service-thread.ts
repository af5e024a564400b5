import { parentPort, workerData } from 'node:worker_threads';

import { toServiceError } from '../wire/service-error';
import type { ResolvedOptions } from './options';
import { type RunningService, runService } from './service';
import type { ServiceWord } from './start';

/* The thread of the embedded service: Node-RED's own event loop never works for it. */

const port = parentPort;
if (port === null) {
  throw new Error('This script runs in a worker thread only.');
}
const say = (word: ServiceWord): void => port.postMessage(word);
const log = (level: 'debug' | 'info' | 'warn', text: string): void => say({ log: { level, text } });

const starting = runService(workerData as ResolvedOptions, log, () => process.exit(0));

port.once('message', () => {
  void starting
    .then((service: RunningService) => service.close())
    .catch((error: unknown) => log('warn', `The service did not close cleanly: ${String(error)}`))
    .finally(() => process.exit(0));
});

starting.then(
  ({ url, port: number }) => say({ ready: { url, port: number } }),
  (error: unknown) => {
    const { code, message } = toServiceError(error);
    say({ failed: { code, message } });
    port.close();
  },
);
