import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';

import { parsePrepareTestSetUpload, parsePrepareTrainSetUpload } from '../../wire/parse-requests';
import type { FileInfo, FileUploadInfo } from '../../wire/types';
import { sendJson } from '../http/reply';
import { signUpload, verifyUpload } from '../http/signed-url';
import { Refusal } from '../refusal';
import type { PartName, UploadEntry, UploadPart } from '../store/entries';
import { countChunks, normalHash } from '../store/parts';
import {
  accept,
  missingModel,
  type Route,
  type RouteAnswer,
  type RouteRequest,
  type ServiceContext,
} from './context';

const MAX_CHUNKS = 64;

/** S 4.1 */
export const prepareTrainSetUpload: Route = {
  method: 'POST',
  envelope: 'generic',
  rate: 'upload',
  handle(context, request) {
    const { value: body } = accept(parsePrepareTrainSetUpload(request.body));
    const wanted = {
      set: 'train' as const,
      x: makePart(body.x_train_info, 'x_train_info', context),
      y: makePart(body.y_train_info, 'y_train_info', context),
      ...(typeof body.description === 'string' ? { description: body.description } : {}),
    };
    const { uploads } = context.store;
    const known = body.force_reupload === true ? undefined : uploads.findDuplicate(wanted);
    if (known !== undefined) {
      return duplicate('TRAIN', { train_set_upload_id: known });
    }
    const { entry, expiresAt } = place(context, (seconds) => uploads.prepare(wanted, seconds * 1000));
    const urls = (part: PartName): FileUploadInfo => uploadInfo(context, request, { entry, part, expiresAt });
    return {
      status: 200,
      body: { train_set_upload_id: entry.id, x_train_info: urls('x'), y_train_info: urls('y') },
    };
  },
};

/** S 4.2. A test set is a duplicate only among those of the same fitted train set. */
export const prepareTestSetUpload: Route = {
  method: 'POST',
  envelope: 'quickstart',
  rate: 'upload',
  handle(context, request) {
    const { value: body } = accept(parsePrepareTestSetUpload(request.body));
    const { uploads, models } = context.store;
    const fittedId = body.fitted_train_set_id.toLowerCase();
    if (models.use(fittedId) === undefined) {
      throw missingModel(context.store, fittedId);
    }
    const wanted = { set: 'test' as const, fittedId, x: makePart(body.x_test_info, 'x_test_info', context) };
    const known = body.force_reupload === true ? undefined : uploads.findDuplicate(wanted);
    if (known !== undefined) {
      return duplicate('TEST', { test_set_upload_id: known });
    }
    const { entry, expiresAt } = place(context, (seconds) => uploads.prepare(wanted, seconds * 1000));
    return {
      status: 200,
      body: {
        test_set_upload_id: entry.id,
        x_test_info: uploadInfo(context, request, { entry, part: 'x', expiresAt }),
      },
    };
  },
};

/** @throws Refusal 413 for a file announced to be larger than the limit, 422 */
function makePart(info: FileInfo, name: string, { limits, options }: ServiceContext): UploadPart {
  const max = limits.dataset_max_size_bytes;
  if (typeof info.size_bytes === 'number' && info.size_bytes > max) {
    throw new Refusal({
      status: 413,
      errorCode: 'LIMIT_EXCEEDED',
      message: `${name} announces ${info.size_bytes} bytes; this service takes at most ${max}.`,
      retryable: false,
    });
  }
  return {
    format: info.format,
    chunks: countChunks(info, options.chunkBytes, MAX_CHUNKS),
    ...(typeof info.size_bytes === 'number' ? { announcedBytes: info.size_bytes } : {}),
    ...(typeof info.hash === 'string' && info.hash !== '' ? { announcedHash: normalHash(info.hash) } : {}),
  };
}

function place(
  { options }: ServiceContext,
  prepare: (expiresAtSeconds: number) => UploadEntry,
): { entry: UploadEntry; expiresAt: number } {
  const expiresAt = Math.floor(Date.now() / 1000) + options.urlSeconds;
  return { entry: prepare(expiresAt), expiresAt };
}

/** FileUploadInfo (S 2.2). `expires_at` is in unix seconds. */
function uploadInfo(
  context: ServiceContext,
  request: RouteRequest,
  { entry, part, expiresAt }: { entry: UploadEntry; part: PartName; expiresAt: number },
): FileUploadInfo {
  const info = entry[part]!;
  const headers = {
    'content-type': info.format === 'csv' ? 'text/csv' : 'application/vnd.apache.parquet',
    'x-upload-id': entry.id,
  };
  const base = baseUrl(context, request);
  const signed_urls = Array.from(
    { length: info.chunks },
    (_, chunk) =>
      base + signUpload(context.store.secret, { uploadId: entry.id, part, chunk }, expiresAt, headers),
  );
  return { signed_urls, expires_at: expiresAt, required_headers: headers };
}

/** Under which address the client reached us; signed URLs lead back the same way. */
function baseUrl(context: ServiceContext, { req }: RouteRequest): string {
  const { publicUrl } = context.options;
  if (publicUrl !== undefined) {
    return publicUrl.replace(/\/+$/, '');
  }
  const host = req.headers.host ?? '';
  return /^[\w.-]+(:\d+)?$|^\[[0-9a-f:]+\](:\d+)?$/i.test(host)
    ? `http://${host}`
    : `http://127.0.0.1:${context.port()}`;
}

/** The strict 409 body of S 7; on the test route the same with the id of the test set. */
function duplicate(set: 'TRAIN' | 'TEST', id: Record<string, string>): RouteAnswer {
  const message = `A ${set.toLowerCase()} set with the same content has been uploaded already: reuse its id`;
  return {
    status: 409,
    body: {
      message,
      ...id,
      error_code: `DUPLICATE_${set}_SET_UPLOAD`,
      trace_id: randomUUID(),
      detail: null,
    },
  };
}

/**
 * PUT on a signed URL (S 4.1 and 4.2): no token, the headers of `required_headers`, the file's bytes as they
 * are. Streamed to disk; answers 200 without content of interest.
 *
 * @throws Refusal 403 (signature, expiry, headers), 400 (size or hash other than announced), 405, 408 (too slow), 413
 */
export async function putUpload(
  context: ServiceContext,
  url: URL,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  if (req.method !== 'PUT') {
    throw new Refusal({
      status: 405,
      errorCode: 'METHOD_NOT_ALLOWED',
      message: 'A signed URL takes a PUT.',
      headers: { allow: 'PUT' },
    });
  }
  const { store, limits, options } = context;
  const target = verifyUpload(store.secret, url, req.headers, Date.now() / 1000);
  const length =
    req.headers['content-length'] === undefined ? undefined : Number(req.headers['content-length']);
  if (length !== undefined && length > limits.dataset_max_size_bytes) {
    throw new Refusal({
      status: 413,
      errorCode: 'PAYLOAD_TOO_LARGE',
      message: `The file has ${length} bytes; this service takes at most ${limits.dataset_max_size_bytes}.`,
      retryable: false,
    });
  }
  const body = { stream: req, length, patience: options.times.upload };
  const complete = await store.uploads.receive(target, body);
  sendJson(res, 200, {});
  if (complete !== undefined) {
    await store.trim();
  }
}
