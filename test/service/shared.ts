import { Harness } from './harness';

let shared: Promise<Harness> | undefined;

/**
 * The service of this process, emptied: for a file whose tests need no service of their own. No file stops it, so that the
 * next one in the same process finds threads that have fitted before, which takes a tenth of the processor time.
 */
export async function sharedService(): Promise<Harness> {
  const h = await (shared ??= Harness.start());
  await h.empty();
  return h;
}

/** Ends it, where a process would not end with a thread in it. */
export async function stopSharedService(): Promise<void> {
  await (await shared)?.stop();
}

// Mocha itself ends the processes that it runs side by side. A bench loads this without Mocha.
if (process.env.MOCHA_WORKER_ID === undefined && typeof after === 'function') {
  after(stopSharedService);
}
