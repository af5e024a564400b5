import { createRequire } from 'node:module';

import { availableMemory } from '../../util/process';

/**
 * Loads heavy modules on first use, so that loading the package's nodes in Node-RED stays quick.
 * parquet-wasm is for worker threads only.
 */
const load = createRequire(__filename);

type Arrow = typeof import('apache-arrow');

let arrowModule: Arrow | undefined;

export function arrow(): Arrow {
  if (arrowModule === undefined) {
    arrowModule = load('apache-arrow') as Arrow;
    boundVectors(createRequire(load.resolve('apache-arrow'))('flatbuffers') as Flatbuffers);
  }
  return arrowModule;
}

export const zstdModule = (): typeof import('fzstd') => load('fzstd') as typeof import('fzstd');

type Flatbuffers = Parameters<typeof boundVectors>[0];
type ParquetWasm = typeof import('parquet-wasm');

/** Part of the machine's memory that the WebAssembly of one thread may take, and its bounds. */
const WASM_SHARE = 1 / 4;
const MIN_WASM_BYTES = 128 * 1024 * 1024;
const MAX_WASM_BYTES = 1024 * 1024 * 1024;

/** Bytes that parquet-wasm may take in a thread, unless it is limited to less; what needs more traps. */
export function maxWasmBytes(memoryBytes = availableMemory()): number {
  return Math.max(MIN_WASM_BYTES, Math.min(MAX_WASM_BYTES, Math.floor(memoryBytes * WASM_SHARE)));
}

/** Reading took more than this thread was allowed (`limitWasm`); with the whole share it may succeed. */
export class NeedsMemory extends Error {}

let limit: number | undefined;

/**
 * Lowers what parquet-wasm may take in this thread, so that many threads cannot take the share of one each.
 * @param bytes undefined: the whole share of a thread, and no `NeedsMemory` any more
 */
export function limitWasm(bytes: number | undefined): void {
  if (bytes !== limit) {
    limit = bytes;
    if (instance !== undefined) {
      unloadParquet();
    }
  }
}

/** Whether this thread may take less than the whole share. */
export function isWasmLimited(): boolean {
  return limit !== undefined;
}

let instance: ParquetWasm | undefined;
let trapped = false;

export function parquet(): ParquetWasm {
  if (instance === undefined) {
    // A loader of its own: what it loads is collected with it.
    const loadOnce = createRequire(__filename);
    instance = loadBounded(limit ?? maxWasmBytes(), () => loadOnce('parquet-wasm') as ParquetWasm);
  }
  return instance;
}

/** Drops the instance after a trap, which leaves it in an unknown state; the next use loads a new one. */
export function dropParquet(): void {
  unloadParquet();
  trapped = true;
}

function unloadParquet(): void {
  Reflect.deleteProperty(load.cache, load.resolve('parquet-wasm'));
  instance = undefined;
}

/** Bytes of WebAssembly memory that this thread holds. */
export function wasmBytes(): number {
  return instance?.wasmMemory().buffer.byteLength ?? 0;
}

/** Whether an instance was dropped in this thread: its memory is given back for sure only when the thread ends. */
export function hasTrapped(): boolean {
  return trapped;
}

/** What is used of a buffer of the flatbuffers library, in which Arrow keeps its metadata. */
interface ByteBuffer {
  capacity(): number;
  __vector_len(offset: number): number;
}

const BOUNDED = Symbol.for('tabular-prediction/bounded-vectors');

/**
 * Makes the library refuse a vector of more elements than its buffer has bytes. It believes what a file says, and goes
 * over two billion elements that are not there: a damaged file of a few KB would hold the thread for minutes.
 *
 * @param flatbuffers the module as Arrow has loaded it
 */
function boundVectors(flatbuffers: { ByteBuffer: { prototype: ByteBuffer } }): void {
  const { prototype } = flatbuffers.ByteBuffer;
  if (BOUNDED in prototype) {
    return;
  }
  const lengthOf = Object.getOwnPropertyDescriptor(prototype, '__vector_len')!.value as (
    this: ByteBuffer,
    offset: number,
  ) => number;
  prototype.__vector_len = function (offset) {
    const length = lengthOf.call(this, offset);
    if (length < 0 || length > this.capacity()) {
      throw new RangeError(`a list of ${length} in metadata of ${this.capacity()} bytes`);
    }
    return length;
  };
  Object.defineProperty(prototype, BOUNDED, { value: true });
}

/** Sections of a WebAssembly binary that matter here, and the flag of a memory that has an upper bound. */
const MEMORY_SECTION = 5;
const HAS_MAXIMUM = 1;
const HEADER_BYTES = 8;
const WASM_PAGE = 64 * 1024;

/**
 * Loads a module that brings its own WebAssembly, and limits its memory to `maxBytes`. Beyond that its code traps
 * instead of exhausting the process: no decoder can say in advance what a file will need.
 *
 * @param load must make its `WebAssembly.Module` at once, in this thread
 */
function loadBounded<T>(maxBytes: number, load: () => T): T {
  const { Module } = WebAssembly;
  WebAssembly.Module = class extends Module {
    constructor(bytes: BufferSource) {
      super(withMaximum(asBytes(bytes), Math.floor(maxBytes / WASM_PAGE)));
    }
  };
  try {
    return load();
  } finally {
    WebAssembly.Module = Module;
  }
}

function asBytes(source: BufferSource): Uint8Array {
  return ArrayBuffer.isView(source)
    ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength)
    : new Uint8Array(source);
}

/** The binary with an upper bound of its memory, in pages of 64 KiB, where it has none of its own. */
function withMaximum(binary: Uint8Array, pages: number): Uint8Array<ArrayBuffer> {
  for (let at = HEADER_BYTES; at < binary.length;) {
    const size = readVarint(binary, at + 1);
    const end = size.next + size.value;
    if (binary[at] === MEMORY_SECTION) {
      const count = readVarint(binary, size.next);
      const flags = binary[count.next]!;
      const minimum = readVarint(binary, count.next + 1);
      if (count.value !== 1 || flags !== 0) {
        break;
      }
      const body = [1, HAS_MAXIMUM, ...varint(minimum.value), ...varint(Math.max(minimum.value, pages))];
      const section = [MEMORY_SECTION, ...varint(body.length), ...body];
      return new Uint8Array(
        Buffer.concat([binary.subarray(0, at), Buffer.from(section), binary.subarray(end)]),
      );
    }
    at = end;
  }
  return new Uint8Array(binary);
}

function readVarint(bytes: Uint8Array, at: number): { value: number; next: number } {
  let value = 0;
  for (let i = at, scale = 1; ; i++, scale *= 128) {
    value += (bytes[i]! & 127) * scale;
    if (bytes[i]! < 128) {
      return { value, next: i + 1 };
    }
  }
}

function varint(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...varint(value >> 7)];
}
