import { createRequire } from 'node:module';

import { lazy } from '../../util/concurrency';

const load = createRequire(__filename);

/** Loaded with the first file. */
const crcModule = lazy(() => load('crc-32/crc32c') as { buf(data: Uint8Array, seed?: number): number });

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

/** Reversed polynomial of CRC32C (Castagnoli). */
const POLYNOMIAL = 0x82f63b78;

/**
 * The CRC32C of two byte strings joined, from their checksums and the length of the second: the checksum of a
 * file from chunks that arrived in any order. The method is zlib's `crc32_combine`: appending
 * zero bits is a linear map over GF(2), applied by repeated squaring.
 */
export function combineCrc32c(first: number, second: number, secondLength: number): number {
  if (secondLength <= 0) {
    return first | 0;
  }
  let odd = new Int32Array(32);
  odd[0] = POLYNOMIAL;
  for (let bit = 1; bit < 32; bit++) {
    odd[bit] = 1 << (bit - 1);
  }
  // One zero bit, then two, then four; the loop goes on from one zero byte.
  let even = square(odd);
  odd = square(even);
  let crc = first | 0;
  let length = secondLength;
  for (;;) {
    even = square(odd);
    if (length % 2 === 1) {
      crc = times(even, crc);
    }
    length = Math.floor(length / 2);
    if (length === 0) {
      break;
    }
    odd = square(even);
    if (length % 2 === 1) {
      crc = times(odd, crc);
    }
    length = Math.floor(length / 2);
    if (length === 0) {
      break;
    }
  }
  return (crc ^ second) | 0;
}

function times(matrix: Int32Array, vector: number): number {
  let sum = 0;
  let rest = vector >>> 0;
  for (let i = 0; rest !== 0; i++, rest >>>= 1) {
    if ((rest & 1) === 1) {
      sum ^= matrix[i]!;
    }
  }
  return sum;
}

function square(matrix: Int32Array): Int32Array<ArrayBuffer> {
  return Int32Array.from(matrix, (column) => times(matrix, column));
}
