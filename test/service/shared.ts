import path from 'node:path';

import { connect, type Tabular } from '../../dist/src';
import { answerOf, Harness, temporaryFolder } from './harness';

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

/** What a program connects to: the same service, with model cards of its own. */
export async function connectShared(): Promise<Tabular> {
  const { folder } = await sharedService();
  return connect({ dataDir: folder, models: path.join(await temporaryFolder(), 'models.json') });
}

const models = new Map<string, Promise<ArrayBuffer>>();

/**
 * Gives a service a model that the shared one has fitted, once for all tests of this process; answers its id. For a service
 * that need not fit itself: the first fit of a new thread takes ten times the processor time of a later one.
 *
 * @param extra as of `Harness.fit`
 */
export async function givenModel(
  h: Harness,
  { x, y }: { x: string; y: string },
  task: string,
  extra: object = {},
): Promise<string> {
  const key = JSON.stringify([x, y, task, extra]);
  let model = models.get(key);
  if (model === undefined) {
    model = fitted({ x, y }, task, extra);
    models.set(key, model);
  }
  const route = h.url('/import_fitted_train_set/');
  const { status, body, text } = await answerOf(
    await fetch(route, { method: 'POST', headers: h.bearer(), body: await model }),
  );
  if (status !== 200) {
    throw new Error(`import: ${status} ${text}`);
  }
  return body.fitted_train_set_id as string;
}

async function fitted(table: { x: string; y: string }, task: string, extra: object): Promise<ArrayBuffer> {
  const h = await sharedService();
  const id = await h.fit(table.x, table.y, task, extra);
  const route = h.url(`/export_fitted_train_set/?fitted_train_set_id=${id}`);
  const model = await (await fetch(route, { headers: h.bearer() })).arrayBuffer();
  await h.empty();
  return model;
}

/** Ends it, where a process would not end with a thread in it. */
export async function stopSharedService(): Promise<void> {
  await (await shared)?.stop();
}

// Mocha itself ends the processes that it runs side by side. A bench loads this without Mocha.
if (process.env.MOCHA_WORKER_ID === undefined && typeof after === 'function') {
  after(stopSharedService);
}
