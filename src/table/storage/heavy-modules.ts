import { createRequire } from 'node:module';

/**
 * Loads heavy modules on first use, so that loading the package's nodes in Node-RED stays quick.
 * parquet-wasm is for worker threads only.
 */
const load = createRequire(__filename);

export const arrow = (): typeof import('apache-arrow') =>
  load('apache-arrow') as typeof import('apache-arrow');

export const crcModule = (): { buf(data: Uint8Array, seed?: number): number } =>
  load('crc-32/crc32c') as { buf(data: Uint8Array, seed?: number): number };

export const parquet = (): typeof import('parquet-wasm') =>
  load('parquet-wasm') as typeof import('parquet-wasm');

/** Bytes of WebAssembly memory that this thread holds. */
export function wasmBytes(): number {
  return parquet().wasmMemory().buffer.byteLength;
}

/** Loads what every encoding needs, so that the first table does not wait for it. */
export function warmModules(): void {
  arrow();
  parquet();
  crcModule();
}
