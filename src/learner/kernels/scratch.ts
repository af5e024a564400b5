import { bytes as code } from './bytes';
import type { Kernels } from './functions';

/** The part of the engine's WebAssembly used here; TypeScript has it among a browser's types only. */
interface WasmEngine {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: object };
  Memory: new (size: { initial: number }) => WasmMemory;
  validate(bytes: Uint8Array): boolean;
}

interface WasmMemory {
  /** A new one after `grow`, which detaches all views of the old one. */
  readonly buffer: ArrayBuffer;
  /** Grows by pages of 64 KiB. @throws RangeError if there are none left */
  grow(pages: number): number;
}

/** Undefined if the engine has none (`node --jitless`). */
const engine = (globalThis as { WebAssembly?: WasmEngine }).WebAssembly;

/** Whether this engine and its processor run the kernels: whether they have WebAssembly with SIMD. */
export function runsKernels(): boolean {
  return engine?.validate(code) === true;
}

/** A memory with the kernels, lent to one user: arrays in it are within their reach, at their `byteOffset`. */
export interface Scratch {
  readonly kernels: Kernels;
  readonly buffer: ArrayBuffer;
  /** The next array of so many elements: bytes, whole numbers of 32 bits, numbers, or numbers of 32 bits. */
  bytes(length: number): Uint8Array;
  wholes(length: number): Int32Array;
  numbers(length: number): Float64Array;
  floats(length: number): Float32Array;
  /** Releases all of its arrays. */
  close(): void;
}

const PAGE = 65_536;
/** Alignment of arrays in bytes. */
const ALIGNED = 16;
/** A memory never shrinks, so a larger one is dropped after use. */
const MOST_KEPT = 1 << 24;

/** Bytes that an array takes, with alignment. */
export function alignedBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}

/** Closes what was opened when its use ends, with an exception too. */
export function closing<Opened extends { close(): void }, Result>(
  opened: Opened,
  use: (opened: Opened) => Result,
): Result {
  try {
    return use(opened);
  } finally {
    opened.close();
  }
}

interface Instance {
  memory: WasmMemory;
  kernels: Kernels;
}

/** Compiled once per thread, on first use. */
let compiled: object | undefined;
/** The memories that nobody uses. */
const idle: Instance[] = [];

function instantiate(pages: number): Instance {
  if (engine === undefined) {
    throw new Error('The learner needs WebAssembly, which this engine does not have.');
  }
  compiled ??= new engine.Module(code);
  const memory = new engine.Memory({ initial: pages });
  const { exports } = new engine.Instance(compiled, { env: { memory } });
  return { memory, kernels: exports as Kernels };
}

/** An idle memory of this size: the smallest that suffices, else the largest, which grows. */
function takeIdle(pages: number): Instance | undefined {
  const pagesOf = (at: number) => idle[at].memory.buffer.byteLength / PAGE;
  let best = -1;
  for (let at = 0; at < idle.length; at++) {
    const isEnough = pagesOf(at) >= pages;
    if (
      best < 0 ||
      (isEnough ? pagesOf(best) < pages || pagesOf(at) < pagesOf(best) : pagesOf(at) > pagesOf(best))
    ) {
      best = at;
    }
  }
  return best < 0 ? undefined : idle.splice(best, 1)[0];
}

/**
 * Lends a memory for arrays of this many bytes in all, as counted by `alignedBytes`. It holds whatever an earlier user left
 * in it; pages that are never written cost nothing. It never grows while it is lent, so views stay valid.
 *
 * @throws RangeError if memory or address space is short
 */
export function openScratch(bytes: number): Scratch {
  const pages = Math.ceil(bytes / PAGE) + 1;
  const instance = takeIdle(pages) ?? instantiate(pages);
  const { memory, kernels } = instance;
  const missing = pages - memory.buffer.byteLength / PAGE;
  if (missing > 0) {
    memory.grow(missing);
  }
  const { buffer } = memory;
  let next = 0;
  const place = (length: number) => {
    const at = next;
    next += alignedBytes(length);
    return at;
  };
  return {
    kernels,
    buffer,
    bytes: (length) => new Uint8Array(buffer, place(length), length),
    wholes: (length) => new Int32Array(buffer, place(length * 4), length),
    numbers: (length) => new Float64Array(buffer, place(length * 8), length),
    floats: (length) => new Float32Array(buffer, place(length * 4), length),
    close: () => {
      if (buffer.byteLength <= MOST_KEPT) {
        idle.push(instance);
      }
    },
  };
}
