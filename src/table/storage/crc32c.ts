import { crcModule } from './heavy-modules';

/**
 * CRC32C (Castagnoli), by which the service tells files apart: the checksum
 * of `data`, or of all bytes so far when `previous` is the value of what came before. The value is signed.
 */
export function crc32c(data: Uint8Array, previous = 0): number {
  return crcModule().buf(data, previous);
}

/** A checksum as the service takes it: 4 bytes big-endian, standard base64. */
export function crc32cToBase64(checksum: number): string {
  const bytes = Buffer.alloc(4);
  bytes.writeInt32BE(checksum | 0);
  return bytes.toString('base64');
}
