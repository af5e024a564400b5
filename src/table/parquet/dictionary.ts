import type { ColumnData } from '../columns/column-batch';
import { varint } from './thrift';

/** The texts of a column chunk, each once, and the number of its text for every cell that is there. */
export interface Dictionary {
  /** As PLAIN has them, in the order in which they first come. */
  values: Uint8Array;
  /** Number of texts. */
  length: number;
  /** A byte with the width of a number in bits, then the numbers in the hybrid of run lengths and packed bits. */
  indices: Uint8Array;
}

/** After so many cells, … */
const TRIAL = 1000;
/** … and at the end, at most this share of the cells may have brought a new text, or there is no dictionary. */
const MOST_NEW = 0.5;
/** Fewer cells are not worth a page of their own. */
const FEWEST_CELLS = 32;

/** Constants of the hash FNV-1a, 32 bits (Fowler, Noll, Vo). */
const FNV_BASIS = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;

/**
 * Numbers texts from 0 in the order in which they first come, by a hash table with open addressing.
 * @param there cells that are not missing
 * @returns undefined where texts hardly come again
 */
export function dictionaryOf(
  parts: readonly (ColumnData & { type: 'text' })[],
  there: number,
): Dictionary | undefined {
  if (there < FEWEST_CELLS) {
    return undefined;
  }
  const numbers = new Int32Array(there);
  /** In each slot the number of a text plus one, 0 where it is free, and the text's hash. */
  const slots = new Int32Array(2 ** Math.ceil(Math.log2(2 * there)));
  const hashes = new Int32Array(slots.length);
  const mask = slots.length - 1;
  /** By number, where in `values` the text stands. */
  const starts = new Int32Array(there);
  const ends = new Int32Array(there);
  let values = new Uint8Array(1024);
  let [length, size, cell] = [0, 0, 0];
  for (const { bytes, offsets, missing } of parts) {
    for (let row = 0; row + 1 < offsets.length; row++) {
      if (missing?.[row] === 1) {
        continue;
      }
      const [start, end] = [offsets[row]!, offsets[row + 1]!];
      let hash = FNV_BASIS;
      for (let i = start; i < end; i++) {
        hash = Math.imul(hash ^ bytes[i]!, FNV_PRIME);
      }
      let slot = (hash ^ (hash >>> 16)) & mask;
      while (slots[slot] !== 0) {
        const known = slots[slot]! - 1;
        if (hashes[slot] === hash && areSame(bytes, start, end, values, starts[known]!, ends[known]!)) {
          break;
        }
        slot = (slot + 1) & mask;
      }
      if (slots[slot] === 0) {
        if (cell >= TRIAL && length > MOST_NEW * cell) {
          return undefined;
        }
        values = withRoom(values, size, 4 + end - start);
        new DataView(values.buffer).setUint32(size, end - start, true);
        values.set(bytes.subarray(start, end), size + 4);
        starts[length] = size + 4;
        size += 4 + end - start;
        ends[length++] = size;
        slots[slot] = length;
        hashes[slot] = hash;
      }
      numbers[cell++] = slots[slot]! - 1;
    }
  }
  return length > MOST_NEW * cell
    ? undefined
    : { values: values.subarray(0, size), length, indices: indicesOf(numbers, length) };
}

function areSame(
  a: Uint8Array,
  aStart: number,
  aEnd: number,
  b: Uint8Array,
  bStart: number,
  bEnd: number,
): boolean {
  if (aEnd - aStart !== bEnd - bStart) {
    return false;
  }
  for (let i = aStart, j = bStart; i < aEnd; i++, j++) {
    if (a[i] !== b[j]) {
      return false;
    }
  }
  return true;
}

function withRoom(bytes: Uint8Array<ArrayBuffer>, used: number, more: number): Uint8Array<ArrayBuffer> {
  if (used + more <= bytes.length) {
    return bytes;
  }
  const grown = new Uint8Array(2 * (used + more));
  grown.set(bytes.subarray(0, used));
  return grown;
}

function indicesOf(numbers: Int32Array, length: number): Uint8Array {
  const width = Math.max(1, 32 - Math.clz32(length - 1));
  const body = length === 1 ? run(0, numbers.length) : packed(numbers, width);
  const indices = new Uint8Array(1 + body.length);
  indices[0] = width;
  indices.set(body, 1);
  return indices;
}

/** `count` times the same value of at most eight bits, as a run of the hybrid of run lengths and packed bits. */
export function run(value: number, count: number): Uint8Array {
  return Uint8Array.of(...varint(count * 2), value);
}

/** Values of `width` bits each, packed from the lowest bit of the first byte on, as one run of the hybrid. */
export function packed(values: ArrayLike<number>, width: number): Uint8Array {
  const groups = Math.ceil(values.length / 8);
  const head = varint(groups * 2 + 1);
  const result = new Uint8Array(head.length + groups * width);
  result.set(head);
  let at = head.length;
  let held = 0;
  let bits = 0;
  for (let i = 0; i < values.length; i++) {
    held |= values[i]! << bits;
    bits += width;
    while (bits >= 8) {
      result[at++] = held;
      held >>>= 8;
      bits -= 8;
    }
  }
  if (bits > 0) {
    result[at] = held;
  }
  return result;
}
