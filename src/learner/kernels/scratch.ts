import { powerOfTwo, rootOfTwo } from '../math/numeric';
import { bytes as code, type Kernels } from './bytes';
import { POWERS, ROOTS, TreesAt } from './layout';

/** The part of the engine's WebAssembly used here; TypeScript has it among a browser's types only. */
interface WasmEngine {
  Module: new (bytes: Uint8Array) => object;
  Instance: new (module: object, imports: object) => { exports: object };
  Memory: new (size: { initial: number; maximum: number; shared: true }) => WasmMemory;
  validate(bytes: Uint8Array): boolean;
}

interface WasmMemory {
  /** A longer one after `grow`; views of the former one go on, since the memory is a shared one. */
  readonly buffer: SharedArrayBuffer;
  /** Grows by pages of 64 KiB. @throws RangeError if there are none left */
  grow(pages: number): number;
}

/** Undefined if the engine has none (`node --jitless`). */
const engine = (globalThis as { WebAssembly?: WasmEngine }).WebAssembly;

/** Whether this engine and its processor run the kernels: whether they have WebAssembly with SIMD. */
export function runsKernels(): boolean {
  return engine?.validate(code) === true;
}

/** A part of a memory with the kernels, lent to one user: arrays in it are within their reach, at their `byteOffset`. */
export interface Scratch {
  readonly kernels: Kernels;
  /** The whole memory. */
  readonly buffer: SharedArrayBuffer;
  /** The next array of so many elements: bytes, whole numbers of 32 bits, numbers, or numbers of 32 bits. */
  bytes(length: number): Uint8Array;
  wholes(length: number): Int32Array;
  numbers(length: number): Float64Array;
  floats(length: number): Float32Array;
  /** Releases all of its arrays. */
  close(): void;
}

const PAGE = 65_536;
/** Of 32-bit addresses. */
const MOST_PAGES = 65_536;
/** Alignment of arrays in bytes. */
const ALIGNED = 16;
/** A memory never shrinks, so a larger one is dropped once nobody uses it, a turn of the event loop later. */
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

/** A stretch of the thread's memory. */
interface Loan {
  start: number;
  end: number;
}

/** Compiled once per thread, on first use. */
let compiled: object | undefined;
/**
 * The memory of this thread: one, because each has functions of its own, and a loop that calls now these and now those is
 * compiled again and again.
 */
let common: Instance | undefined;
/** What is lent of it, in the order of addresses. */
const loans: Loan[] = [];

function instantiate(pages: number, most: number): Instance {
  if (engine === undefined) {
    throw new Error('The learner needs WebAssembly, which this engine does not have.');
  }
  compiled ??= new engine.Module(code);
  const memory = reserve(pages, most);
  const { exports } = new engine.Instance(compiled, { env: { memory } });
  return { memory, kernels: exports as Kernels };
}

/** Reserves addresses; where there are few of them (32 bits), fewer than asked for. */
function reserve(pages: number, most: number): WasmMemory {
  for (let maximum = most; ; maximum = Math.max(pages, maximum >> 1)) {
    try {
      return new engine!.Memory({ initial: pages, maximum, shared: true });
    } catch (error) {
      if (maximum === pages) {
        throw error;
      }
    }
  }
}

/**
 * Lends memory for arrays of this many bytes in all, as counted by `alignedBytes`. It holds whatever an earlier user left in
 * it; pages that are never written cost nothing.
 *
 * @throws RangeError if memory or address space is short
 */
export function openScratch(bytes: number): Scratch {
  common ??= instantiate(1, MOST_PAGES);
  const { memory } = common;
  const size = alignedBytes(bytes);
  // The kernels of QuickScorer have the beginning.
  let start = alignedBytes(TreesAt.END);
  let at = 0;
  while (at < loans.length && loans[at].start < start + size) {
    start = loans[at++].end;
  }
  const loan = { start, end: start + size };
  const missing = Math.ceil(loan.end / PAGE) - memory.buffer.byteLength / PAGE;
  if (missing > 0) {
    memory.grow(missing);
  }
  loans.splice(at, 0, loan);
  return scratchOf(common, loan, () => giveBack(loan));
}

/** The same in a memory of its own, from its beginning, for what outlives a fit or a prediction. It goes with its arrays. */
export function openOwnMemory(bytes: number): Scratch {
  const pages = Math.ceil(bytes / PAGE) + 1;
  return scratchOf(instantiate(pages, pages), { start: 0, end: pages * PAGE }, () => undefined);
}

function giveBack(loan: Loan): void {
  const at = loans.indexOf(loan);
  if (at >= 0) {
    loans.splice(at, 1);
  }
  if (loans.length === 0 && isLarge()) {
    // Not at once: what is to be trained next needs as much, and memory that is dropped stays until it is collected.
    setImmediate(() => {
      if (loans.length === 0 && isLarge()) {
        common = undefined;
      }
    });
  }
}

function isLarge(): boolean {
  return common !== undefined && common.memory.buffer.byteLength > MOST_KEPT;
}

function scratchOf({ memory, kernels }: Instance, { start, end }: Loan, close: () => void): Scratch {
  const { buffer } = memory;
  let next = start;
  const place = (length: number) => {
    const at = next;
    next += alignedBytes(length);
    if (next > end) {
      throw new RangeError(`Arrays of ${next - start} bytes were placed in ${end - start}.`);
    }
    return at;
  };
  return {
    kernels,
    buffer,
    bytes: (length) => new Uint8Array(buffer, place(length), length),
    wholes: (length) => new Int32Array(buffer, place(length * 4), length),
    numbers: (length) => new Float64Array(buffer, place(length * 8), length),
    floats: (length) => new Float32Array(buffer, place(length * 4), length),
    close,
  };
}

/** Numbers of the table that the exponential of the kernels reads. */
export const EXPONENTIAL_NUMBERS = ROOTS + POWERS;

/** Writes it: 2^(i/32), then the powers of two up to 1. 2^-1075 is too small for a number, so 0 stands for it. */
export function writeExponentialTable(table: Float64Array): void {
  for (let i = 0; i < ROOTS; i++) {
    table[i] = rootOfTwo(i);
  }
  for (let i = 0; i < POWERS; i++) {
    table[ROOTS + i] = i === 0 ? 0 : powerOfTwo(i - (POWERS - 1));
  }
}
