import { parentPort, workerData } from 'node:worker_threads';

import { type ErrorCode, toServiceError } from '../../wire/service-error';
import type { LogLevel, ResolvedOptions } from '../options';
import { type HttpService, runService } from '../service';

/* The thread of the embedded service: Node-RED's own event loop never works for it. */

/** What the thread reports to the one that started it, which posts `close` to end it. */
export type ServiceReport =
  | { ready: { url: string; port: number } }
  | { failed: { code: ErrorCode; message: string } }
  | { log: { level: LogLevel; text: string } };

const port = parentPort;
if (port === null) {
  throw new Error('This script runs in a worker thread only.');
}
const report = (message: ServiceReport): void => port.postMessage(message);
const log = (level: LogLevel, text: string): void => report({ log: { level, text } });

const starting = runService(workerData as ResolvedOptions, log, () => process.exit(0));

port.once('message', () => {
  void starting
    .then((service: HttpService) => service.close())
    .catch((error: unknown) => log('warn', `The service did not close cleanly: ${String(error)}`))
    .finally(() => process.exit(0));
});

starting.then(
  ({ url, port: number }) => report({ ready: { url, port: number } }),
  (error: unknown) => {
    const { code, message } = toServiceError(error);
    report({ failed: { code, message } });
    port.close();
  },
);
