import type { SpillFile } from './spill-file';
import type { TextNeed } from './text-need';

/** The first piece of memory of a dictionary, and the largest; each is twice as large as the one before. */
const FIRST_CHUNK = 256;
const LARGEST_CHUNK = 1024 * 1024;

/** Bytes of text that stay in memory, over all columns; the rest is spilled. */
export interface TextRoom {
  left: number;
  spill: SpillFile | undefined;
}

interface Chunk {
  bytes: Buffer | undefined;
  used: number;
  /** Where its bytes are in the file. */
  position: number;
}

/**
 * The different texts of a column, numbered in order of first appearance. Kept as UTF-8 outside the JavaScript heap,
 * whose strings would take half as much again and cannot be spilled.
 */
export class TextDictionary {
  size = 0;
  private readonly chunks: Chunk[] = [];
  /** Of each entry: the chunk, where it begins in there, how long it is, and its hash. */
  private chunkOf = new Uint32Array(8);
  private starts = new Uint32Array(8);
  private lengths = new Uint32Array(8);
  private hashes = new Int32Array(8);
  /** Open addressing: entry + 1, or 0. */
  private slots = new Int32Array(16);

  /** @param need counts each different text */
  constructor(
    private readonly room: TextRoom,
    private readonly need: TextNeed,
  ) {}

  /** The number of the text in `bytes[from … to]`. */
  codeOf(bytes: Buffer, from: number, to: number): number {
    const hash = hashOf(bytes, from, to);
    const mask = this.slots.length - 1;
    let slot = hash & mask;
    for (let entry = this.slots[slot]!; entry > 0; entry = this.slots[slot]!) {
      const code = entry - 1;
      if (this.hashes[code] === hash && this.isEntry(code, bytes, from, to)) {
        return code;
      }
      slot = (slot + 1) & mask;
    }
    const code = this.append(hash, bytes, from, to);
    this.slots[slot] = code + 1;
    if (this.size * 2 > this.slots.length) {
      this.growSlots();
    }
    return code;
  }

  /** All texts as strings. */
  toStrings(): string[] {
    const texts = new Array<string>(this.size);
    let at = -1;
    let bytes: Buffer = Buffer.alloc(0);
    for (let code = 0; code < this.size; code++) {
      if (this.chunkOf[code] !== at) {
        at = this.chunkOf[code]!;
        bytes = this.bytesOf(this.chunks[at]!);
      }
      const start = this.starts[code]!;
      texts[code] = bytes.toString('utf8', start, start + this.lengths[code]!);
    }
    return texts;
  }

  private isEntry(code: number, bytes: Buffer, from: number, to: number): boolean {
    const length = this.lengths[code]!;
    if (length !== to - from) {
      return false;
    }
    const chunk = this.chunks[this.chunkOf[code]!]!;
    const start = this.starts[code]!;
    if (chunk.bytes !== undefined) {
      return bytes.compare(chunk.bytes, start, start + length, from, to) === 0;
    }
    const known = Buffer.allocUnsafe(length);
    this.room.spill!.read(known, chunk.position + start);
    return bytes.compare(known, 0, length, from, to) === 0;
  }

  private append(hash: number, bytes: Buffer, from: number, to: number): number {
    const length = to - from;
    const chunk = this.chunkFor(length);
    bytes.copy(chunk.bytes!, chunk.used, from, to);
    const code = this.size++;
    if (code === this.starts.length) {
      this.growEntries();
    }
    this.chunkOf[code] = this.chunks.length - 1;
    this.starts[code] = chunk.used;
    this.lengths[code] = length;
    this.hashes[code] = hash;
    chunk.used += length;
    this.need.add(bytes, from, to);
    return code;
  }

  /** The last chunk if it has room; else a new one, spilling the last if the memory is used up. */
  private chunkFor(length: number): Chunk {
    const last = this.chunks.at(-1);
    if (last?.bytes !== undefined && last.bytes.length - last.used >= length) {
      return last;
    }
    if (last?.bytes !== undefined) {
      this.room.left -= last.bytes.length;
      const { spill } = this.room;
      if (this.room.left < 0 && spill !== undefined) {
        last.position = spill.reserve(last.used);
        spill.write(last.bytes.subarray(0, last.used), last.position);
        this.room.left += last.bytes.length;
        last.bytes = undefined;
      }
    }
    const size = Math.min(LARGEST_CHUNK, FIRST_CHUNK * 2 ** this.chunks.length);
    const chunk = { bytes: Buffer.allocUnsafe(Math.max(size, length)), used: 0, position: 0 };
    this.chunks.push(chunk);
    return chunk;
  }

  private bytesOf(chunk: Chunk): Buffer {
    if (chunk.bytes !== undefined) {
      return chunk.bytes;
    }
    const bytes = Buffer.allocUnsafe(chunk.used);
    this.room.spill!.read(bytes, chunk.position);
    return bytes;
  }

  private growEntries(): void {
    this.chunkOf = twice(this.chunkOf);
    this.starts = twice(this.starts);
    this.lengths = twice(this.lengths);
    this.hashes = twice(this.hashes);
  }

  private growSlots(): void {
    const slots = new Int32Array(this.slots.length * 2);
    const mask = slots.length - 1;
    for (let code = 0; code < this.size; code++) {
      let slot = this.hashes[code]! & mask;
      while (slots[slot]! > 0) {
        slot = (slot + 1) & mask;
      }
      slots[slot] = code + 1;
    }
    this.slots = slots;
  }
}

function twice<T extends Uint32Array | Int32Array>(array: T): T {
  const larger = new (array.constructor as new (length: number) => T)(array.length * 2);
  larger.set(array);
  return larger;
}

/** FNV-1a with a last mix: its low bits choose the slot. */
function hashOf(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 12);
}
