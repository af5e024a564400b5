const OPAQUE = 'opaque:';
const SHA256 = 'sha256:';
/** 128 bits, in hexadecimal or base64. */
const WIDE = /^(?:[0-9a-f]{32,}|[A-Za-z0-9+/_-]{22,}={0,2})$/i;

/**
 * The announced hash of a file (S 2.1) in one form. A CRC32C as base64 of its four bytes, or as eight
 * hexadecimal digits, becomes the former. A SHA-256 as 64 hexadecimal digits is known as one. Anything else is stored as an opaque key: it may find duplicates, but
 * checks no bytes.
 */
export function normalHash(hash: string): string {
  if (isCrc32c(hash)) {
    return hash;
  }
  if (/^[0-9a-f]{8}$/i.test(hash)) {
    return Buffer.from(hash, 'hex').toString('base64');
  }
  return /^[0-9a-f]{64}$/i.test(hash) ? `${SHA256}${hash.toLowerCase()}` : `${OPAQUE}${hash}`;
}

/** Is it a CRC32C as the service writes it: 4 bytes, big-endian, standard base64? */
export function isCrc32c(hash: string): boolean {
  return /^[A-Za-z0-9+/]{5}[AQgw]==$/.test(hash);
}

/** Is a hash in its normal form a SHA-256? */
export function isSha256(hash: string): boolean {
  return hash.startsWith(SHA256);
}

/** The normal form of a SHA-256. */
export function normalSha256(digest: Uint8Array): string {
  return `${SHA256}${Buffer.from(digest).toString('hex')}`;
}

/** Does a hash in its normal form have 128 bits or more, so that equal ones mean equal files? */
export function isWide(hash: string): boolean {
  return isSha256(hash) || (hash.startsWith(OPAQUE) && WIDE.test(hash.slice(OPAQUE.length)));
}
