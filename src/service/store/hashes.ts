/**
 * The announced hash of a file (S 2.1) in one form. A CRC32C as base64 of its four bytes, or as eight
 * hexadecimal digits, becomes the former; anything else is kept as an opaque key, good for finding duplicates
 * but not for checking bytes.
 */
export function normalHash(hash: string): string {
  if (isCrc32c(hash)) {
    return hash;
  }
  if (/^[0-9a-f]{8}$/i.test(hash)) {
    return Buffer.from(hash, 'hex').toString('base64');
  }
  return `opaque:${hash}`;
}

/** Is it a CRC32C as the service writes it: 4 bytes, big-endian, standard base64? */
export function isCrc32c(hash: string): boolean {
  return /^[A-Za-z0-9+/]{5}[AQgw]==$/.test(hash);
}
