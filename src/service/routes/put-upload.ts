import type { IncomingMessage, ServerResponse } from 'node:http';

import { sendJson } from '../http/reply';
import { verifyUpload } from '../http/signed-url';
import { Refusal } from '../refusal';
import type { ServiceContext } from './context';

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
