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

/**
 * Numbers texts from 0 in the order in which they first come.
 * @param there cells that are not missing
 * @returns undefined where texts hardly come again
 */
export function makeDictionary(
  parts: readonly (ColumnData & { type: 'text' })[],
  there: number,
): Dictionary | undefined {
  if (there < FEWEST_CELLS) {
    return undefined;
  }
  const texts = new NumberedTexts();
  const numbers = new Int32Array(there);
  let cell = 0;
  for (const { bytes, offsets, missing } of parts) {
    const from = makeView(bytes);
    for (let row = 0; row + 1 < offsets.length; row++) {
      if (missing !== undefined && missing[row] === 1) {
        continue;
      }
      const { length } = texts;
      const number = texts.readNumber(from, offsets[row]!, offsets[row + 1]!);
      if (number === length && cell >= TRIAL && length > MOST_NEW * cell) {
        return undefined;
      }
      numbers[cell++] = number;
    }
  }
  const { length } = texts;
  return length > MOST_NEW * cell
    ? undefined
    : { values: texts.plain(), length, indices: encodeIndices(numbers, length) };
}

/** Different texts by number, in a hash table with open addressing that is at most half full. */
class NumberedTexts {
  length = 0;
  /** In each slot the number of a text plus one, 0 where it is free. */
  private slots = new Int32Array(64);
  /** By number: the hash of a text, and where it starts and ends in `values`. */
  private readonly hashes: number[] = [];
  private readonly starts: number[] = [];
  private readonly ends: number[] = [];
  private readonly values: PlainTexts = { view: new DataView(new ArrayBuffer(1024)), size: 0 };

  /** The number of a text, which is a new one where it has not come before. */
  readNumber(from: DataView, start: number, end: number): number {
    const hash = hashBytes(from, start, end);
    const { slots, hashes } = this;
    let slot = hash & (slots.length - 1);
    for (let taken = slots[slot]!; taken !== 0; taken = slots[slot]!) {
      const known = taken - 1;
      if (hashes[known] === hash && this.isText(known, from, start, end)) {
        return known;
      }
      slot = (slot + 1) & (slots.length - 1);
    }
    this.append(from, start, end);
    hashes.push(hash);
    slots[slot] = ++this.length;
    if (2 * this.length > slots.length) {
      this.widen();
    }
    return this.length - 1;
  }

  /** Whether the text of this number is the one that stands there. */
  private isText(known: number, from: DataView, start: number, end: number): boolean {
    const { view } = this.values;
    let j = this.starts[known]!;
    if (end - start !== this.ends[known]! - j) {
      return false;
    }
    let i = start;
    for (; i + 4 <= end; i += 4, j += 4) {
      if (from.getInt32(i) !== view.getInt32(j)) {
        return false;
      }
    }
    for (; i < end; i++, j++) {
      if (from.getUint8(i) !== view.getUint8(j)) {
        return false;
      }
    }
    return true;
  }

  /** All texts as PLAIN has them, by number. */
  plain(): Uint8Array {
    return new Uint8Array(this.values.view.buffer, 0, this.values.size);
  }

  private append(from: DataView, start: number, end: number): void {
    const { values } = this;
    values.view = withRoom(values.view, values.size, 4 + end - start);
    putText(from, start, end, values);
    this.starts.push(values.size - (end - start));
    this.ends.push(values.size);
  }

  private widen(): void {
    const slots = new Int32Array(4 * this.slots.length);
    this.hashes.forEach((hash, number) => {
      let slot = hash & (slots.length - 1);
      while (slots[slot] !== 0) {
        slot = (slot + 1) & (slots.length - 1);
      }
      slots[slot] = number + 1;
    });
    this.slots = slots;
  }
}

function withRoom(bytes: DataView<ArrayBuffer>, used: number, more: number): DataView<ArrayBuffer> {
  if (used + more <= bytes.byteLength) {
    return bytes;
  }
  const grown = new Uint8Array(2 * (used + more));
  grown.set(new Uint8Array(bytes.buffer, 0, used));
  return makeView(grown);
}

/** Odd, with bits spread evenly: of 2^32 divided by the golden ratio (Knuth, TAOCP 6.4). */
const SPREAD = 0x9e3779b1;

/** Texts are hashed, compared and copied four bytes at a time, which a DataView reads at any place. */
function hashBytes(from: DataView, start: number, end: number): number {
  let hash = end - start;
  let i = start;
  for (; i + 4 <= end; i += 4) {
    hash = Math.imul(hash ^ from.getInt32(i, true), SPREAD);
    hash ^= hash >>> 15;
  }
  for (; i < end; i++) {
    hash = Math.imul(hash ^ from.getUint8(i), SPREAD);
    hash ^= hash >>> 15;
  }
  return hash;
}

/** Of more bytes a call is quicker than a loop. */
const FEW_BYTES = 128;

/** Texts as PLAIN has them, the first `size` bytes. */
export interface PlainTexts {
  view: DataView<ArrayBuffer>;
  size: number;
}

/** Adds a text as PLAIN has it, after its length in four bytes, to where there is room for it. */
export function putText(from: DataView, start: number, end: number, to: PlainTexts): void {
  const { view } = to;
  view.setInt32(to.size, end - start, true);
  let i = start;
  let j = to.size + 4;
  to.size = j + end - start;
  if (end - start > FEW_BYTES) {
    bytesIn(view).set(bytesIn(from).subarray(start, end), j);
    return;
  }
  for (; i + 4 <= end; i += 4, j += 4) {
    view.setInt32(j, from.getInt32(i));
  }
  for (; i < end; i++, j++) {
    view.setUint8(j, from.getUint8(i));
  }
}

export function makeView<T extends ArrayBufferLike>({
  buffer,
  byteOffset,
  byteLength,
}: Uint8Array<T>): DataView<T> {
  return new DataView(buffer, byteOffset, byteLength);
}

export function bytesIn<T extends ArrayBufferLike>({
  buffer,
  byteOffset,
  byteLength,
}: ArrayBufferView<T>): Uint8Array<T> {
  return new Uint8Array(buffer, byteOffset, byteLength);
}

function encodeIndices(numbers: Int32Array, length: number): Uint8Array {
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
