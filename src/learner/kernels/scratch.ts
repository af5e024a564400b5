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
  /**
   * Another array of so many elements: bytes, whole numbers of 32 bits, numbers, or numbers of 32 bits. It holds whatever an
   * earlier user left there; pages that are never written cost nothing.
   *
   * @throws RangeError if memory or address space is short: then all of its arrays are released
   */
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

/** Compiled once per thread, on first use. */
let compiled: object | undefined;
/**
 * The memory of this thread: one, because each has functions of its own, and a loop that calls now these and now those is
 * compiled again and again.
 */
let common: Instance | undefined;
/** The ends of the arrays that are lent of it, and to whom. Each begins where the one before ends. */
let lent: { to: Scratch; end: number }[] = [];

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

/** Lends memory of this thread. What is opened last is closed first, or else a gap remains until then. */
export function openScratch(): Scratch {
  const instance = (common ??= instantiate(1, MOST_PAGES));
  const { memory } = instance;
  const scratch = makeScratch(instance, placeNext, giveBack);
  return scratch;

  function placeNext(bytes: number): number {
    // The kernels of QuickScorer have the beginning.
    const start = lent.at(-1)?.end ?? alignedBytes(TreesAt.END);
    const missing = Math.ceil((start + bytes - memory.buffer.byteLength) / PAGE);
    if (missing > 0) {
      try {
        memory.grow(missing);
      } catch (error) {
        giveBack();
        throw error;
      }
    }
    lent.push({ to: scratch, end: start + bytes });
    return start;
  }

  function giveBack(): void {
    lent = lent.filter(({ to }) => to !== scratch);
    if (isLargeAndFree()) {
      // Not at once: what is to be trained next needs as much, and memory that is dropped stays until it is collected.
      setImmediate(() => {
        common = isLargeAndFree() ? undefined : common;
      });
    }
  }
}

function isLargeAndFree(): boolean {
  return lent.length === 0 && common !== undefined && common.memory.buffer.byteLength > MOST_KEPT;
}

/**
 * A memory of its own, from its beginning, for what outlives a fit or a prediction. It goes with its arrays.
 *
 * @param bytes of all arrays, as counted by `alignedBytes`
 */
export function openOwnMemory(bytes: number): Scratch {
  const pages = Math.ceil(bytes / PAGE) + 1;
  let end = 0;
  const placeNext = (bytes: number) => {
    end += bytes;
    return end - bytes;
  };
  return makeScratch(instantiate(pages, pages), placeNext, () => undefined);
}

/** @param placeNext takes so many bytes, and answers where they begin */
function makeScratch(
  { memory, kernels }: Instance,
  placeNext: (bytes: number) => number,
  close: () => void,
): Scratch {
  const array =
    <A>(type: ArrayType<A>) =>
    (length: number): A => {
      const at = placeNext(alignedBytes(length * type.BYTES_PER_ELEMENT));
      return new type(memory.buffer, at, length);
    };
  return {
    kernels,
    get buffer() {
      return memory.buffer;
    },
    bytes: array(Uint8Array),
    wholes: array(Int32Array),
    numbers: array(Float64Array),
    floats: array(Float32Array),
    close,
  };
}

interface ArrayType<A> {
  readonly BYTES_PER_ELEMENT: number;
  new (buffer: SharedArrayBuffer, at: number, length: number): A;
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
