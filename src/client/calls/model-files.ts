import { EXPORT_MODEL_PATH, IMPORT_MODEL_PATH } from '../../wire/dialect';
import { malformedAnswer } from '../errors/answer';
import type { Call } from '../retry/deadline';
import { ask } from '../retry/request';
import type { Core } from './core';

/** A model and its entry. */
const MAX_BYTES = 288 * 1024 * 1024;

/** A fitted train set as bytes, as `askModelImport` takes it. */
export async function askModelExport(core: Core, call: Call, fittedId: string): Promise<Buffer> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  const url = core.url(EXPORT_MODEL_PATH);
  url.searchParams.set('fitted_train_set_id', fittedId);
  const request = { method: 'GET' as const, url, headers: core.headers() };
  const { bytes } = await ask(core.wiring, call, {
    ...plan,
    path: EXPORT_MODEL_PATH,
    request,
    maxBytes: MAX_BYTES,
    isBytes: true,
  });
  return bytes as Buffer;
}

/** Gives the service a fitted train set; returns its id there. */
export async function askModelImport(core: Core, call: Call, bytes: Buffer): Promise<string> {
  const plan = core.plan('info', call.what, 'get_settings', { repeatable: true });
  const headers = { ...core.headers(), 'content-type': 'application/octet-stream' };
  const request = { method: 'POST' as const, url: core.url(IMPORT_MODEL_PATH), headers, body: bytes };
  const body = await ask(core.wiring, call, { ...plan, path: IMPORT_MODEL_PATH, request });
  const { fitted_train_set_id: id } = body;
  if (typeof id !== 'string') {
    throw malformedAnswer(call.what, 'it names no fitted_train_set_id');
  }
  return id;
}
