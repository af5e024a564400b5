import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

import { Refusal } from '../refusal';
import type { UploadTarget } from '../upload-target';

/** First segment of the upload path; no API may have this name. */
export const UPLOAD_ROOT = '_upload';

/**
 * A path with query that allows one PUT. The signature (HMAC-SHA256) covers the path, the expiry and the
 * headers that the PUT must carry (`required_headers`, S 2.2).
 *
 * @param expiresAt unix seconds
 */
export function signUpload(
  secret: Buffer,
  target: UploadTarget,
  expiresAt: number,
  headers: Record<string, string>,
): string {
  const path = uploadPath(target);
  const names = Object.keys(headers).sort();
  const signature = sign(secret, { path, expiresAt, names, headers });
  const query = new URLSearchParams({
    expires: String(expiresAt),
    headers: names.join(';'),
    signature: signature.toString('hex'),
  });
  return `${path}?${query.toString()}`;
}

/**
 * The target of a PUT on a signed URL, once its signature, expiry and headers have been checked.
 *
 * @param nowSeconds unix seconds
 * @throws Refusal 403
 */
export function verifyUpload(
  secret: Buffer,
  url: URL,
  headers: IncomingHttpHeaders,
  nowSeconds: number,
): UploadTarget {
  const match = /^\/_upload\/([0-9a-f-]{36})\/([xy])\/(\d{1,6})$/.exec(url.pathname);
  const expires = url.searchParams.get('expires') ?? '';
  const names = (url.searchParams.get('headers') ?? '').split(';').filter((name) => name !== '');
  const given = Buffer.from(url.searchParams.get('signature') ?? '', 'hex');
  if (match === null || !/^\d{1,12}$/.test(expires)) {
    throw refused('This is not a signed upload URL.');
  }
  const sent: Record<string, string> = {};
  for (const name of names) {
    const value = headers[name];
    if (typeof value !== 'string') {
      throw refused(`The required header "${name}" is missing from this PUT.`);
    }
    sent[name] = value;
  }
  const expected = sign(secret, { path: url.pathname, expiresAt: Number(expires), names, headers: sent });
  if (given.length !== expected.length || !timingSafeEqual(given, expected)) {
    throw refused(
      'The signature does not fit this URL and its headers: send the required headers exactly as they were given.',
    );
  }
  if (Number(expires) <= nowSeconds) {
    throw refused('This signed URL has expired: prepare the upload again.', 'URL_EXPIRED');
  }
  return { uploadId: match[1]!, part: match[2] as 'x' | 'y', chunk: Number(match[3]) };
}

function uploadPath(target: UploadTarget): string {
  return `/${UPLOAD_ROOT}/${target.uploadId}/${target.part}/${target.chunk}`;
}

/** What a signature stands for: a PUT to a path, until then, with these headers. */
interface SignedPut {
  path: string;
  expiresAt: number;
  names: string[];
  headers: Record<string, string>;
}

function sign(secret: Buffer, { path, expiresAt, names, headers }: SignedPut): Buffer {
  const lines = ['PUT', path, String(expiresAt), ...names.map((name) => `${name}:${headers[name]}`)];
  return createHmac('sha256', secret).update(lines.join('\n')).digest();
}

function refused(message: string, errorCode = 'SIGNATURE_INVALID'): Refusal {
  return new Refusal({ status: 403, errorCode, message, retryable: false });
}

/** Checks an Authorization header against the service's token (S 5). @throws Refusal 401 */
export function checkBearer(header: string | undefined, token: string): void {
  const sent = /^Bearer +(\S+) *$/i.exec(header ?? '')?.[1];
  if (sent !== undefined && timingSafeEqual(digest(sent), digest(token))) {
    return;
  }
  throw new Refusal({
    status: 401,
    errorCode: 'UNAUTHORIZED',
    message:
      sent === undefined
        ? 'No bearer token: send the header "Authorization: Bearer <token>".'
        : 'The bearer token is not the one of this service.',
    retryable: false,
    headers: { 'www-authenticate': 'Bearer' },
  });
}

/** Tokens are compared by digest, since timingSafeEqual wants equal lengths. */
function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
