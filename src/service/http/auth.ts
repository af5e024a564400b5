import { createHash, timingSafeEqual } from 'node:crypto';

import { Refusal } from '../refusal';

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
