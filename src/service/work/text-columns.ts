import { randomUUID } from 'node:crypto';
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs';
import path from 'node:path';

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
  findCode(bytes: Buffer, from: number, to: number): number {
    const hash = hashBytes(bytes, from, to);
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
        bytes = this.takeBytes(this.chunks[at]!);
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

  private takeBytes(chunk: Chunk): Buffer {
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
function hashBytes(bytes: Uint8Array, from: number, to: number): number {
  let hash = 0x811c9dc5;
  for (let i = from; i < to; i++) {
    hash = Math.imul(hash ^ bytes[i]!, 0x01000193);
  }
  hash ^= hash >>> 15;
  hash = Math.imul(hash, 0x2c1b3c6d);
  return hash ^ (hash >>> 12);
}

/** What a text takes as a JavaScript string, besides its characters. */
const STRING_BYTES = 32;
/** What the learner takes at most for each text and the words it counts. */
const ENTRY_BYTES = 48;
const TOKENS_BYTES = 50e6;
/** Up to this many texts, words hardly count. */
const FEW_TEXTS = 1000;

/**
 * About how much heap the learner needs for the different texts of a column. It must be known before: running out of
 * heap may end the process, not just the thread.
 */
export class TextNeed {
  /** Bytes of the texts as strings. */
  strings = 0;
  private texts = 0;

  /** @param learns false where the texts are only looked up */
  constructor(private readonly learns: boolean) {}

  /** Bytes. */
  get bytes(): number {
    const learning = this.texts * ENTRY_BYTES + (this.texts > FEW_TEXTS ? TOKENS_BYTES : 0);
    return this.strings + (this.learns ? learning : 0);
  }

  /** Counts another text. */
  add(bytes: Uint8Array, from: number, to: number): void {
    this.texts += 1;
    this.strings += STRING_BYTES + (to - from) * (isAscii(bytes, from, to) ? 1 : 2);
  }
}

function isAscii(bytes: Uint8Array, from: number, to: number): boolean {
  for (let i = from; i < to; i++) {
    if (bytes[i]! > 127) {
      return false;
    }
  }
  return true;
}

type Numbers = Float64Array | Int32Array;

/** A number for each row: in memory, or in a place of its own in a file. */
export class RowStore<T extends Numbers> {
  private readonly memory: T | undefined;
  private readonly position: number;

  constructor(
    private readonly make: { new (length: number): T; readonly BYTES_PER_ELEMENT: number },
    rows: number,
    private readonly spill: SpillFile | undefined,
  ) {
    this.memory = spill === undefined ? new make(rows) : undefined;
    this.position = spill?.reserve(rows * make.BYTES_PER_ELEMENT) ?? 0;
  }

  get inMemory(): boolean {
    return this.memory !== undefined;
  }

  put(values: Float64Array | Int32Array, row: number): void {
    if (this.memory !== undefined) {
      this.memory.set(values, row);
    } else {
      const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      this.spill!.write(bytes, this.position + row * this.make.BYTES_PER_ELEMENT);
    }
  }

  /** The numbers of the first `count` rows. */
  read(count: number): T {
    if (this.memory !== undefined) {
      return count === this.memory.length ? this.memory : (this.memory.slice(0, count) as T);
    }
    const values = new this.make(count);
    this.spill!.read(new Uint8Array(values.buffer), this.position);
    return values;
  }
}

/** What was read back of one column, until another one is read. */
export class LastRead {
  private owner: object | undefined;
  private readonly parts = new Map<string, unknown>();

  get<T>(owner: object, part: string, read: () => T): T {
    if (this.owner !== owner) {
      this.parts.clear();
      this.owner = owner;
    }
    if (!this.parts.has(part)) {
      this.parts.set(part, read());
    }
    return this.parts.get(part) as T;
  }
}

/**
 * An unlinked file for columns that do not fit in memory. Synchronous, as the learner reads its columns; for worker
 * threads only. Where an open file cannot be removed, it is removed with its folder.
 */
export class SpillFile {
  private file: number | undefined;
  private size = 0;

  /** @param folder where the file is made with the first byte */
  constructor(private readonly folder: string) {}

  /** Reserves bytes. @returns where they begin */
  reserve(bytes: number): number {
    const position = this.size;
    this.size += bytes;
    return position;
  }

  /** @throws as the file system does, `ENOSPC` among others */
  write(data: Uint8Array, position: number): void {
    this.file ??= this.open();
    for (let done = 0; done < data.length;) {
      done += writeSync(this.file, data, done, data.length - done, position + done);
    }
  }

  /** Fills all of `target`; bytes reserved but never written are 0. */
  read(target: Uint8Array, position: number): void {
    for (let done = 0; this.file !== undefined && done < target.length;) {
      const bytes = readSync(this.file, target, done, target.length - done, position + done);
      if (bytes === 0) {
        return;
      }
      done += bytes;
    }
  }

  close(): void {
    if (this.file !== undefined) {
      closeSync(this.file);
      this.file = undefined;
    }
  }

  private open(): number {
    const name = path.join(this.folder, `columns-${randomUUID()}`);
    const file = openSync(name, 'wx+', 0o600);
    try {
      rmSync(name, { force: true });
    } catch {
      // Windows keeps the name of an open file.
    }
    return file;
  }
}
