import { engine, type WasmMemory } from './assemble';

/** Arrays that a module's functions can reach are numbered by their `byteOffset`, which is their address. */
export interface Room<Functions> {
  /** Undefined where the arrays are ordinary ones. */
  readonly functions: Functions | undefined;
  bytes(length: number): Uint8Array;
  wholes(length: number): Int32Array;
  numbers(length: number): Float64Array;
  /** Of 32 bits. */
  floats(length: number): Float32Array;
  /** Ends the use of all of its arrays. */
  close(): void;
}

/** Ordinary arrays. */
export const ORDINARY: Room<never> = {
  functions: undefined,
  bytes: (length) => new Uint8Array(length),
  wholes: (length) => new Int32Array(length),
  numbers: (length) => new Float64Array(length),
  floats: (length) => new Float32Array(length),
  close: () => undefined,
};

const PAGE = 65_536;
/** Each array begins at a multiple of this. */
const ALIGNED = 16;
/** Above, arrays are ordinary ones: each thread would have a copy of the table beside the one that all share. */
const MOST_BYTES = 1 << 26;
/** A memory never shrinks, so a larger one is not kept for the next room. */
const MOST_KEPT = 1 << 24;

/** Bytes that an array takes in a room. */
export function roomOf(bytes: number): number {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}

/**
 * A module with a memory for the arrays of one user at a time; in each thread it is compiled when first used. Its arrays
 * have what the one before left in them.
 */
export class RoomMaker<Functions extends object> {
  private memory: WasmMemory | undefined;
  private functions: Functions | undefined;
  private isOpen = false;
  private isRefused = engine === undefined;

  /** @param moduleBytes of `assemble` */
  constructor(private readonly moduleBytes: () => Uint8Array) {}

  /**
   * Room for so many bytes, as `roomOf` counts them. Its arrays are ordinary ones where they would take too much, where
   * the engine has no WebAssembly or no memory for it, and as long as another room is open.
   */
  open(bytes: number): Room<Functions> {
    if (this.isOpen || bytes > MOST_BYTES || !this.reach(bytes)) {
      return ORDINARY;
    }
    this.isOpen = true;
    const { buffer } = this.memory!;
    let next = 0;
    const place = (length: number) => {
      const at = next;
      next += roomOf(length);
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

  /** Whether there is a memory of so many bytes now. */
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
