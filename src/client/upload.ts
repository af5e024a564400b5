import { schemas } from '../wire/check';
import { toWireTestSetUpload, toWireTrainSetUpload } from '../wire/dialect';
import { ANY_TEXT, checkGiven, type Form, OBJECT, optional } from '../wire/given';
import type {
  FileInfo,
  FileUploadInfo,
  PrepareTestSetUploadRequest,
  PrepareTestSetUploadResponse,
  PrepareTrainSetUploadRequest,
  PrepareTrainSetUploadResponse,
} from '../wire/types';
import { assertRequest, type Core } from './core';
import { DuplicateUploadError } from './errors';
import type { Call } from './pacing';
import { putFile, UrlRefused } from './transfer';
import type { CallOptions, TestSetUpload, TrainSetOptions, TrainSetUpload, UploadSource } from './types';

/** S 4.1 */
export function askTrainSetUpload(
  core: Core,
  call: Call,
  request: PrepareTrainSetUploadRequest,
): Promise<PrepareTrainSetUploadResponse> {
  assertRequest(schemas().PrepareTrainSetUploadRequestSchema, request, call.what);
  const plan = core.plan('upload', call.what, 'prepare_train_set_upload', {
    body: toWireTrainSetUpload(request, core.dialect),
    repeatable: true,
    uploadId: 'train_set_upload_id',
  });
  return core.ask(call, plan, schemas().PrepareTrainSetUploadResponseSchema);
}

/** S 4.2 */
export function askTestSetUpload(
  core: Core,
  call: Call,
  request: PrepareTestSetUploadRequest,
): Promise<PrepareTestSetUploadResponse> {
  assertRequest(schemas().PrepareTestSetUploadRequestSchema, request, call.what);
  const plan = core.plan('upload', call.what, 'prepare_test_set_upload', {
    body: toWireTestSetUpload(request, core.dialect),
    repeatable: true,
    missing: 'model.unknown',
    uploadId: 'test_set_upload_id',
  });
  return core.ask(call, plan, schemas().PrepareTestSetUploadResponseSchema);
}

/** Files that this package wrote, or that have as much. */
export const SOURCE: Form = {
  must: 'a file as encodeTrainSet and encodeBatches write it: with format, bytes, hash and open',
  fits: (value) => {
    const { format, bytes, hash, open } = Object(value) as Partial<UploadSource>;
    const isNamed = typeof format === 'string' && typeof hash === 'string';
    return isNamed && typeof bytes === 'number' && typeof open === 'function';
  },
};

/** Prepares a train set and sends X and y side by side. */
export async function uploadTrainSet(
  core: Core,
  call: Call,
  request: TrainSetUpload,
  { onProgress, onPrepared }: TrainSetOptions,
): Promise<{ train_set_upload_id: string; reused: boolean }> {
  checkGiven('uploadTrainSet', request, { x: SOURCE, y: SOURCE, digests: optional(OBJECT) });
  const { x, y, digests, description, chunks } = request;
  const describeFile = ({ format, bytes, hash }: UploadSource, digest = hash): FileInfo =>
    fileInfo({ format, bytes, hash: digest }, chunks, true);
  const prepare = async (force: boolean) => {
    const prepared = await askTrainSetUpload(core, call, {
      x_train_info: describeFile(x, digests?.x),
      y_train_info: describeFile(y, digests?.y),
      ...(description !== undefined && { description }),
      ...((force || request.force === true) && { force_reupload: true }),
    });
    await onPrepared?.(prepared.train_set_upload_id);
    return {
      id: prepared.train_set_upload_id,
      files: [
        { what: 'features', source: x, info: prepared.x_train_info },
        { what: 'target', source: y, info: prepared.y_train_info },
      ],
    };
  };
  const { id, reused } = await sendUpload(core, call, prepare, onProgress);
  return { train_set_upload_id: id, reused };
}

/** Prepares a test set for a model and sends it. */
export async function uploadTestSet(
  core: Core,
  call: Call,
  request: TestSetUpload,
  onProgress: CallOptions['onProgress'],
): Promise<{ test_set_upload_id: string; reused: boolean }> {
  checkGiven('uploadTestSet', request, { fitted_train_set_id: ANY_TEXT, x: SOURCE });
  const { fitted_train_set_id, x, chunks } = request;
  const prepare = async (force: boolean) => {
    const withHash = !force && request.force !== true;
    const prepared = await askTestSetUpload(core, call, {
      fitted_train_set_id,
      x_test_info: fileInfo(x, chunks, withHash),
    });
    return {
      id: prepared.test_set_upload_id,
      files: [{ what: 'test set', source: x, info: prepared.x_test_info }],
    };
  };
  const { id, reused } = await sendUpload(core, call, prepare, onProgress);
  return { test_set_upload_id: id, reused };
}

interface PreparedUpload {
  id: string;
  files: { what: string; source: UploadSource; info: FileUploadInfo }[];
}

/** Description of a file for a prepare route. Without a hash it is never taken for a duplicate. */
function fileInfo(
  source: Omit<UploadSource, 'open'>,
  chunks: boolean | undefined,
  withHash: boolean,
): FileInfo {
  return {
    format: source.format,
    size_bytes: source.bytes,
    ...(withHash && { hash: source.hash }),
    ...(chunks === true && { use_chunks: true }),
  };
}

/**
 * Prepares an upload and sends its files side by side. Where a signed URL is refused, everything is prepared again
 * and sent again, once, by force: else the service may take the first attempt, whose bytes never arrived, for a
 * duplicate. `prepare` answers, or throws DuplicateUploadError, whose id is reused.
 * @throws ServiceError `upload.expired`, or `upload.failed` with the storage's reason, where the new URLs are refused too
 */
async function sendUpload(
  core: Core,
  call: Call,
  prepare: (force: boolean) => Promise<PreparedUpload>,
  onProgress: CallOptions['onProgress'],
): Promise<{ id: string; reused: boolean }> {
  let refused: UrlRefused | undefined;
  for (const force of [false, true]) {
    let prepared: PreparedUpload;
    try {
      prepared = await prepare(force);
    } catch (error) {
      if (error instanceof DuplicateUploadError) {
        return { id: error.uploadId, reused: true };
      }
      throw error;
    }
    refused = await sendAll(core, call, prepared, onProgress);
    if (refused === undefined) {
      return { id: prepared.id, reused: false };
    }
    core.settings.log('warn', `A signed URL was refused (${refused.status}). Preparing the upload again.`);
  }
  throw refused!.error;
}

/** Sends the files; a failure of one stops the others. Answers with the refusal where a URL was refused. */
async function sendAll(
  core: Core,
  outer: Call,
  prepared: PreparedUpload,
  onProgress: CallOptions['onProgress'],
): Promise<UrlRefused | undefined> {
  const { secrets } = core.wiring;
  const { files } = prepared;
  let total = 0;
  let urls = 0;
  for (const { info, source } of files) {
    secrets.addUrls(info.signed_urls);
    urls += info.signed_urls.length;
    total += source.bytes;
  }
  let sent = 0;
  const onBytes = (bytes: number) => {
    sent += bytes;
    if (bytes > 0) {
      onProgress?.(sent, total);
    }
  };
  // A file that goes to one URL has none beside it to stop.
  const stop = urls === 1 ? undefined : new AbortController();
  const call = stop === undefined ? outer : outer.within(stop.signal);
  let first: unknown;
  await Promise.all(
    files.map(async (file) => {
      try {
        await putFile(core, call, { ...file, onBytes });
      } catch (error) {
        first ??= error;
        stop?.abort();
      }
    }),
  );
  if (stop !== undefined) {
    call.end();
  }
  for (const { info } of files) {
    secrets.forgetUrls(info.signed_urls);
  }
  outer.throwIfOver();
  if (first === undefined) {
    return undefined;
  }
  if (first instanceof UrlRefused) {
    return first;
  }
  throw first as Error;
}
