import {
  BLOCKS_SCRATCH_BYTES,
  SCRATCH_NEXT_RESULT,
  SCRATCH_RESULTS_END,
  SCRATCH_SHAPLEY_WEIGHTS,
} from '../../kernels/blocks-layout';
import type { Kernels } from '../../kernels/functions';
import { openOwnMemory, type Scratch } from '../../kernels/scratch';
import { SHAPLEY_WEIGHTS } from '../shapley/shapley-weights';

/** Alignment in bytes. */
const ALIGNED = 8;

/** For the results of all rows together. Very wide tables of many classes exceed it and are explained block by block. */
const MAX_ROW_BYTES = 32_000_000;

/** Rows explained in one pass. */
export const MAX_ROWS_AT_ONCE = 16;

/** Array elements per row. */
export interface RowSize {
  /** Mixtures × outputs, and outputs × groups. */
  scores: number;
  effects: number;
  columns: number;
}

function rowBytes({ scores, effects, columns }: RowSize): number {
  return 8 * (scores + effects + Math.ceil(columns / 8));
}

/**
 * The memory for the blocks of one model, with the kernels that read it. It goes with the model's explanations.
 */
export class BlockMemory {
  readonly bytes: Uint8Array;
  readonly wholes: Int32Array;
  readonly floats: Float32Array;
  readonly numbers: Float64Array;
  /** The addresses of the first row's scores, effects and bins, and the distance between rows. */
  readonly row: { scores: number; effects: number; bins: number; size: number };
  readonly kernels: Kernels;
  /** Whether results can be cached. */
  readonly hasResults: boolean;
  private next = BLOCKS_SCRATCH_BYTES;
  private readonly end: number;

  private constructor(
    { kernels, buffer }: Scratch,
    size: RowSize,
    { blocks, results }: { blocks: number; results: number },
  ) {
    this.kernels = kernels;
    this.bytes = new Uint8Array(buffer);
    this.wholes = new Int32Array(buffer);
    this.floats = new Float32Array(buffer);
    this.numbers = new Float64Array(buffer);
    SHAPLEY_WEIGHTS.forEach((row, i) => this.numbers.set(row, SCRATCH_SHAPLEY_WEIGHTS / 8 + i * row.length));
    const scores = this.next;
    const effects = scores + size.scores * 8;
    this.row = { scores, effects, bins: effects + size.effects * 8, size: rowBytes(size) };
    this.next += MAX_ROWS_AT_ONCE * this.row.size;
    this.end = this.next + Math.ceil(blocks / ALIGNED) * ALIGNED;
    this.hasResults = results > 0;
    this.wholes[SCRATCH_NEXT_RESULT / 4] = this.end;
    this.wholes[SCRATCH_RESULTS_END / 4] = buffer.byteLength;
  }

  /**
   * Undefined if rows take too much. Pages that are never written cost nothing.
   *
   * @param bytes for blocks, and for their cached results
   */
  static open(size: RowSize, bytes: { blocks: number; results: number }): BlockMemory | undefined {
    const rows = MAX_ROWS_AT_ONCE * rowBytes(size);
    const all = BLOCKS_SCRATCH_BYTES + rows + bytes.blocks + bytes.results + ALIGNED;
    return rows > MAX_ROW_BYTES ? undefined : new BlockMemory(openOwnMemory(all), size, bytes);
  }

  /** Allocates bytes for blocks and returns their address, or undefined if the memory is full. */
  place(bytes: number): number | undefined {
    const at = this.next;
    const end = at + Math.ceil(bytes / ALIGNED) * ALIGNED;
    if (end > this.end) {
      return undefined;
    }
    this.next = end;
    return at;
  }
}
