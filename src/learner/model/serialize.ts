import { crc32 } from 'node:zlib';

import { LearnerError } from '../types';
import type { Model } from './model';

/*
 * A model as bytes: "TPM4", length and CRC-32 of the rest, the length of a JSON text, that text with every typed array
 * replaced by its position, and the arrays, each at a multiple of 8 bytes. Not compressed: terminating a thread while
 * zlib sets up a stream in it aborts the process (an assertion in Node), and these threads may be terminated.
 */
const MAGIC = 0x344d5054;
/** The format that `saveModel` writes and `loadModel` reads. */
export const MODEL_FORMAT = 'TPM4';
const ARRAYS = { Float64Array, Float32Array, Int32Array, Uint16Array, Uint8Array };
type ArrayName = keyof typeof ARRAYS;

/** The model as bytes. Equal models give equal bytes. */
export function saveModel(model: Model): Uint8Array {
  const arrays: { at: number; bytes: Uint8Array }[] = [];
  let size = 0;
  const text = JSON.stringify(model, (_key, value: unknown) => {
    if (typeof value === 'number' && !Number.isFinite(value)) {
      return { $number: String(value) };
    }
    if (!ArrayBuffer.isView(value)) {
      return value;
    }
    const array = value as Float64Array;
    const at = size;
    arrays.push({ at, bytes: new Uint8Array(array.buffer, array.byteOffset, array.byteLength) });
    size += Math.ceil(array.byteLength / 8) * 8;
    return { $array: array.constructor.name, at, length: array.length };
  });
  const json = Buffer.from(text);
  const start = 8 + Math.ceil(json.length / 8) * 8;
  const body = Buffer.alloc(start + size);
  body.writeUInt32LE(json.length, 0);
  json.copy(body, 8);
  for (const { at, bytes } of arrays) {
    body.set(bytes, start + at);
  }
  const out = Buffer.alloc(16 + body.length);
  out.writeUInt32LE(MAGIC, 0);
  out.writeUInt32LE(body.length, 4);
  out.writeUInt32LE(crc32(body), 8);
  body.copy(out, 16);
  return out;
}

/** @throws LearnerError when the bytes are not a model, are damaged, or were written by a newer version. */
export function loadModel(bytes: Uint8Array): Model {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 16 || buffer.readUInt32LE(0) !== MAGIC) {
    throw new LearnerError('These bytes are not a model of this version.');
  }
  const packed = buffer.subarray(16);
  if (packed.length !== buffer.readUInt32LE(4) || crc32(packed) !== buffer.readUInt32LE(8)) {
    throw new LearnerError('The model is damaged: its checksum does not match.');
  }
  const body = new Uint8Array(packed.length);
  body.set(packed);
  const jsonLength = packed.readUInt32LE(0);
  const start = 8 + Math.ceil(jsonLength / 8) * 8;
  return JSON.parse(packed.toString('utf8', 8, 8 + jsonLength), (_key, value: unknown) => {
    if (typeof value !== 'object' || value === null) {
      return value;
    }
    if ('$number' in value) {
      return Number(value.$number);
    }
    if (!('$array' in value)) {
      return value;
    }
    const { $array, at, length } = value as { $array: ArrayName; at: number; length: number };
    return new ARRAYS[$array](body.buffer, start + at, length);
  }) as Model;
}
