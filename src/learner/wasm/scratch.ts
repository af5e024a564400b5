import { engine, type WasmMemory } from './assemble';

/** Scratch arrays that a module's functions can reach: an array's `byteOffset` is its address. */
export interface Scratch<Functions> {
  /** Undefined if the arrays are ordinary ones. */
  readonly functions: Functions | undefined;
  bytes(length: number): Uint8Array;
  wholes(length: number): Int32Array;
  numbers(length: number): Float64Array;
  /** 32-bit floating point. */
  floats(length: number): Float32Array;
  /** Releases all of its arrays. */
  close(): void;
}

/** Ordinary arrays, out of the functions' reach. */
export const ORDINARY: Scratch<never> = {
  functions: undefined,
  bytes: (length) => new Uint8Array(length),
  wholes: (length) => new Int32Array(length),
  numbers: (length) => new Float64Array(length),
  floats: (length) => new Float32Array(length),
  close: () => undefined,
};

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

const PAGE = 65_536;
/** Alignment of arrays in bytes. */
const ALIGNED = 16;
/** Above this, arrays are ordinary ones: each thread would need a copy of the table that all of them share. */
const MOST_BYTES = 1 << 26;
/** A memory never shrinks, so a larger one is dropped after use. */
const MOST_KEPT = 1 << 24;

/** Bytes that an array takes, with alignment. */
export function alignedBytes(bytes: number): number {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}

/**
 * A module with one memory, lent to one user at a time and compiled once per thread, on first use. Arrays are not
 * cleared between users.
 */
export class ScratchMemory<Functions extends object> {
  private memory: WasmMemory | undefined;
  private functions: Functions | undefined;
  private isOpen = false;
  private isRefused = engine === undefined;

  /** @param moduleBytes from `assemble` */
  constructor(private readonly moduleBytes: () => Uint8Array) {}

  /**
   * Lends arrays of this many bytes in all, as counted by `alignedBytes`. They are ordinary arrays if that is too much, if
   * there is no WebAssembly or no memory for it, or while another user has the memory.
   */
  open(bytes: number): Scratch<Functions> {
    if (this.isOpen || bytes > MOST_BYTES || !this.reach(bytes)) {
      return ORDINARY;
    }
    this.isOpen = true;
    const { buffer } = this.memory!;
    let next = 0;
    const place = (length: number) => {
      const at = next;
      next += alignedBytes(length);
      return at;
    };
    return {
      functions: this.functions,
      bytes: (length) => new Uint8Array(buffer, place(length), length),
      wholes: (length) => new Int32Array(buffer, place(length * 4), length),
      numbers: (length) => new Float64Array(buffer, place(length * 8), length),
      floats: (length) => new Float32Array(buffer, place(length * 4), length),
      close: () => {
        this.isOpen = false;
        if (buffer.byteLength > MOST_KEPT) {
          this.memory = this.functions = undefined;
        }
      },
    };
  }

  /** Makes sure there is a memory of this size. */
  private reach(bytes: number): boolean {
    if (this.isRefused || !engine) {
      return false;
    }
    const pages = Math.ceil(bytes / PAGE) + 1;
    try {
      if (this.memory === undefined) {
        const module = this.moduleBytes();
        this.isRefused = !engine.validate(module);
        if (this.isRefused) {
          return false;
        }
        const memory = new engine.Memory({ initial: pages });
        const { exports } = new engine.Instance(new engine.Module(module), { env: { memory } });
        this.functions = exports as Functions;
        this.memory = memory;
      }
      const missing = pages - this.memory.buffer.byteLength / PAGE;
      if (missing > 0) {
        this.memory.grow(missing);
      }
      return true;
    } catch (error) {
      // Address space or memory is short: ordinary arrays need less of it.
      if (error instanceof RangeError) {
        return false;
      }
      throw error;
    }
  }
}
