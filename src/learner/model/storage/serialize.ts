import { crc32 } from 'node:zlib';

import { LearnerError } from '../../types';
import type { Model } from '../model';
import { isCount, must } from './soundness';
import { fromStored, toStored } from './stored-model';

/*
 * A model as bytes: "TPM8", the length and CRC-32 of the rest, the length of a JSON text, the text with every typed
 * array replaced by its position, and the arrays, each aligned to 8 bytes. Trees are bit-packed, and a linear model
 * is stored by its terms. Not compressed: terminating a thread while zlib sets up a stream in it aborts the process
 * (an assertion in Node), and these threads may be terminated.
 */
const MAGIC = 0x384d5054;
/**
 * "TPM4" had neither packed trees nor terms; readers of "TPM5" may know no kernel and no growth; those of "TPM6" no
 * kernel for classes; those of "TPM7" no linear terms that take values as numbers.
 */
const FORMER_MAGICS = [0x344d5054, 0x354d5054, 0x364d5054, 0x374d5054];
/** The format that `saveModel` writes. */
export const MODEL_FORMAT = 'TPM8';
/** The formats that `loadModel` reads. */
export const READ_FORMATS: readonly unknown[] = ['TPM4', 'TPM5', 'TPM6', 'TPM7', MODEL_FORMAT];
/** Formats of earlier versions, which are not read any more. */
export const OUTDATED_FORMATS: readonly unknown[] = ['TPM1', 'TPM2', 'TPM3'];
const ARRAYS = { Float64Array, Float32Array, Int32Array, Uint16Array, Uint8Array };
type ArrayName = keyof typeof ARRAYS;

/** Equal models give equal bytes. */
export function saveModel(model: Model): Uint8Array {
  const arrays: { at: number; bytes: Uint8Array }[] = [];
  let size = 0;
  const text = JSON.stringify(toStored(model), (_key, value: unknown) => {
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

/** @throws LearnerError if the bytes are not a model, are damaged, or were written by a newer version */
export function loadModel(bytes: Uint8Array): Model {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (buffer.length < 16 || ![MAGIC, ...FORMER_MAGICS].includes(buffer.readUInt32LE(0))) {
    throw new LearnerError('These bytes are not a model of this version.');
  }
  const packed = buffer.subarray(16);
  if (packed.length !== buffer.readUInt32LE(4) || crc32(packed) !== buffer.readUInt32LE(8)) {
    throw new LearnerError('The model is damaged: its checksum does not match.');
  }
  const body = new Uint8Array(packed.length);
  body.set(packed);
  must(packed.length >= 8, 'it ends too early');
  const jsonLength = packed.readUInt32LE(0);
  const start = 8 + Math.ceil(jsonLength / 8) * 8;
  must(start <= packed.length, 'it ends too early');
  return fromStored(parsed(packed.toString('utf8', 8, 8 + jsonLength), body.subarray(start)));
}

/**
 * The value of the text, with its arrays. No two of them share bytes, so all of them together are no larger than the file.
 *
 * @throws LearnerError
 */
function parsed(text: string, bytes: Uint8Array): unknown {
  let left = bytes.length;
  const arrayOf = (value: object): unknown => {
    const { $array: name, at, length } = value as { $array: unknown; at: unknown; length: unknown };
    must(typeof name === 'string' && Object.hasOwn(ARRAYS, name), 'an array is of no known type');
    const type = ARRAYS[name as ArrayName];
    must(isCount(at, bytes.length) && at % 8 === 0 && isCount(length, bytes.length), 'an array is nowhere');
    const size = length * type.BYTES_PER_ELEMENT;
    left -= size;
    must(at + size <= bytes.length && left >= 0, 'its arrays are larger than the file');
    return new type(bytes.buffer as ArrayBuffer, bytes.byteOffset + at, length);
  };
  try {
    return JSON.parse(text, (_key, value: unknown) => {
      if (typeof value !== 'object' || value === null) {
        return value;
      }
      return '$number' in value ? Number(value.$number) : '$array' in value ? arrayOf(value) : value;
    });
  } catch (error) {
    // A text nested too deep ends as a RangeError.
    must(!(error instanceof SyntaxError || error instanceof RangeError), 'its text cannot be read');
    throw error;
  }
}
