import { createRequire } from 'node:module';

import { availableMemory } from '../../util/process';
import { boundVectors } from './bounded-vectors';
import { loadBounded } from './bounded-wasm';

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

export const crcModule = (): { buf(data: Uint8Array, seed?: number): number } =>
  load('crc-32/crc32c') as { buf(data: Uint8Array, seed?: number): number };

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
