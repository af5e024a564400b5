import type { Kernels } from '../kernels/bytes';
import { BlocksAt } from '../kernels/layout';
import { openOwnMemory } from '../kernels/scratch';
import { shapleyWeights } from './shapley';

/** Alignment in bytes. */
const ALIGNED = 8;

/** For blocks that found no place: as many at a time as fit are written here, and overwritten by the next. */
const SPARE_BYTES = 4_194_304;

export function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}

/** Bytes for the rows being explained, for blocks, and for their cached results. */
interface BlockBytes {
  rows: number;
  blocks: number;
  results: number;
}

/**
 * The memory for the blocks of one model, with the kernels that read it. It goes with the model's explanations. Pages that
 * are never written cost nothing.
 */
export class BlockMemory {
  readonly kernels: Kernels;
  readonly bytes: Uint8Array;
  readonly wholes: Int32Array;
  readonly floats: Float32Array;
  readonly numbers: Float64Array;
  /** The addresses for rows, and for blocks without a place. */
  readonly rows = aligned(BlocksAt.END);
  readonly spare: number;
  private next: number;
  private readonly end: number;

  constructor(readonly size: BlockBytes) {
    this.spare = this.rows + aligned(size.rows);
    this.next = this.spare + SPARE_BYTES;
    this.end = this.next + aligned(size.blocks);
    const { kernels, buffer } = openOwnMemory(this.end + aligned(size.results));
    this.kernels = kernels;
    this.bytes = new Uint8Array(buffer);
    this.wholes = new Int32Array(buffer);
    this.floats = new Float32Array(buffer);
    this.numbers = new Float64Array(buffer);
    shapleyWeights().forEach((row, i) =>
      this.numbers.set(row, BlocksAt.SHAPLEY_WEIGHTS / 8 + i * row.length),
    );
    this.wholes[BlocksAt.NEXT_RESULT / 4] = this.end;
    this.wholes[BlocksAt.RESULTS_END / 4] = this.end + aligned(size.results);
  }

  /** Allocates bytes for blocks and returns their address, or undefined if the memory is full. */
  place(bytes: number): number | undefined {
    const at = this.next;
    const end = at + aligned(bytes);
    if (end > this.end) {
      return undefined;
    }
    this.next = end;
    return at;
  }

  /** Whether so many bytes fit where blocks without a place are written. */
  hasSpare(bytes: number): boolean {
    return bytes <= SPARE_BYTES;
  }
}
