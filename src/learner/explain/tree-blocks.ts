import { GROUP_BITS, HEADER_BYTES } from '../kernels/layout';
import { aligned, type BlockAddresses, type BlockMemory, BlockWriter } from './block-writer';
import { FlipWriter, type LeafBlocks } from './leaf-blocks';
import { allRows, type ForegroundRow, mixtureCount, type Permutations } from './shapley';

/** A row, and the background rows (as bits) to mix it with. */
export interface MixedRow {
  foreground: ForegroundRow;
  rows: number;
}

/** Results for one row. */
export interface ScoresAndEffects {
  /** Mixtures × width: changes of scores from one mixture of a permutation to the next; empty where none are asked for. */
  scores: Float64Array;
  /** Outputs × groups: Shapley values, summed over the background rows. */
  effects: Float64Array;
}

/** Where the mixtures of coalitions are (see `CoalitionLayout`): per background row, and background rows × groups. */
interface CoalitionBits {
  at: Int32Array;
  bitOf: Int32Array;
}

/** Rows explained in one pass, as many as their results leave room for. */
const MAX_ROWS_AT_ONCE = 16;
const MAX_ROW_BYTES = 32_000_000;

/** Stretches of headers that every row goes through before the next ones, so that blocks stay in the processor's cache. */
const BLOCKS_AT_ONCE = 64;

/** Bytes of memory for rows explained along permutations (if any), or with all background rows alone. */
export function bytesForRows(
  permutations: Permutations | undefined,
  { width, groups, columns }: { width: number; groups: number; columns: number },
): number {
  const scores = permutations ? mixtureCount(permutations) * width : 0;
  const row = rowBytes(scores, width * groups, columns);
  return row * Math.max(1, Math.min(MAX_ROWS_AT_ONCE, Math.floor(MAX_ROW_BYTES / row)));
}

/** Bytes of memory for one row explained by coalitions. */
export function bytesForCoalitions(
  mixtures: number,
  { width, groups, columns }: { width: number; groups: number; columns: number },
): number {
  return mixtures * width * 8 + aligned(columns) + (groups + 1) * GROUP_BITS;
}

function rowBytes(scores: number, effects: number, columns: number): number {
  return 8 * (scores + effects) + aligned(columns);
}

/** Trees in leaf blocks: their exact Shapley values, and their scores of mixtures. */
export class TreeBlocks {
  private readonly writer: BlockWriter;
  /** Undefined where there is no place for them: they are written anew whenever they are asked for. */
  private readonly placed: BlockAddresses | undefined;
  private readonly count: number;
  /** Values per leaf. */
  private readonly perLeaf: number;

  /**
   * @param permutations along which scores are asked for; undefined: none
   * @param width outputs
   * @param groups number of all groups
   */
  constructor(
    private readonly memory: BlockMemory,
    blocks: LeafBlocks,
    permutations: Permutations | undefined,
    private readonly width: number,
    groups: number,
  ) {
    this.perLeaf = blocks.trees.width;
    this.count = blocks.leavesAt.length - 1;
    this.writer = new BlockWriter(
      memory,
      blocks,
      permutations && new FlipWriter(blocks, permutations),
      width,
      groups,
    );
    const { isKeyed } = this.writer;
    const at = memory.place(this.writer.bytes(0, this.count, isKeyed));
    this.placed = at === undefined ? undefined : this.writer.write(0, this.count, isKeyed, at);
  }

  get isPlaced(): boolean {
    return this.placed !== undefined;
  }

  /** Adds `weight` times the trees' results for each row. */
  add(rows: readonly MixedRow[], weight: number, found: readonly ScoresAndEffects[]): void {
    if (rows.length === 0) {
      return;
    }
    const size = rowBytes(found[0].scores.length, found[0].effects.length, rows[0].foreground.bins.length);
    const atOnce = Math.min(MAX_ROWS_AT_ONCE, Math.floor(this.memory.size.rows / size));
    for (let from = 0; from < rows.length; from += atOnce) {
      this.addRows(rows.slice(from, from + atOnce), weight, found.slice(from, from + atOnce), size);
    }
  }

  private addRows(
    rows: readonly MixedRow[],
    weight: number,
    found: readonly ScoresAndEffects[],
    size: number,
  ): void {
    const { memory, perLeaf } = this;
    const { kernels, numbers, bytes } = memory;
    const scoresAt = (i: number) => memory.rows + i * size;
    const effectsAt = (i: number) => scoresAt(i) + found[i].scores.length * 8;
    const binsAt = (i: number) => effectsAt(i) + found[i].effects.length * 8;
    rows.forEach(({ foreground }, i) => {
      numbers.set(found[i].scores, scoresAt(i) / 8);
      this.copyEffects(found[i].effects, effectsAt(i) / 8, true);
      bytes.set(foreground.bins, binsAt(i));
    });
    this.eachStretch((from, end, scratch) => {
      rows.forEach(({ foreground, rows: about }, i) => {
        const asked = [from, end, binsAt(i), about, scoresAt(i), effectsAt(i), scratch] as const;
        if (perLeaf === 1) {
          kernels.addBlocks(...asked, about === allRows(foreground.background) ? 1 : 0, weight);
        } else {
          kernels.addBlocksOfClasses(...asked, perLeaf * 8, weight);
        }
      });
    });
    found.forEach(({ scores, effects }, i) => {
      scores.set(numbers.subarray(scoresAt(i) / 8, scoresAt(i) / 8 + scores.length));
      this.copyEffects(effects, effectsAt(i) / 8, false);
    });
  }

  /**
   * Adds `weight` times the Möbius transform of the trees' scores of coalitions.
   *
   * @param scores mixtures × width
   */
  addCoalitions(
    { foreground, rows }: MixedRow,
    { at, bitOf }: CoalitionBits,
    weight: number,
    scores: Float64Array,
  ): void {
    const { memory, width, perLeaf } = this;
    const { kernels, numbers, wholes, bytes } = memory;
    const { background, bins, groups } = foreground;
    const starts = memory.rows + scores.length * 8;
    const bits = starts + GROUP_BITS;
    const binsAt = bits + groups * GROUP_BITS;
    numbers.set(scores, memory.rows / 8);
    for (let row = 0; row < background.rows; row++) {
      wholes[starts / 4 + row] = at[row] * width * 8;
      for (let group = 0; group < groups; group++) {
        wholes[(bits + group * GROUP_BITS) / 4 + row] = bitOf[row * groups + group];
      }
    }
    bytes.set(bins, binsAt);
    this.eachStretch((from, end) => {
      kernels.addBlockCoalitions(from, end, binsAt, rows, memory.rows, starts, bits, perLeaf, weight);
    });
    scores.set(numbers.subarray(memory.rows / 8, memory.rows / 8 + scores.length));
  }

  /** Visits the headers of all blocks, a stretch at a time. */
  private eachStretch(visit: (from: number, end: number, scratch: number) => void): void {
    const { writer, count, memory } = this;
    let block = 0;
    while (block < count) {
      let next = Math.min(count, block + BLOCKS_AT_ONCE);
      if (this.placed) {
        const { headers, scratch } = this.placed;
        visit(headers + block * HEADER_BYTES, headers + next * HEADER_BYTES, scratch);
      } else {
        while (next > block + 1 && !memory.hasSpare(writer.bytes(block, next, false))) {
          next = block + ((next - block) >> 1);
        }
        const written = writer.write(block, next, false, memory.spare);
        visit(written.headers, written.end, written.scratch);
      }
      block = next;
    }
  }

  /** The memory holds the effects of trees with a value per class as groups × classes. */
  private copyEffects(effects: Float64Array, at: number, isIn: boolean): void {
    const { perLeaf } = this;
    const { numbers } = this.memory;
    const groups = effects.length / perLeaf;
    for (let k = 0, i = 0; k < perLeaf; k++) {
      for (let group = 0; group < groups; group++, i++) {
        const place = perLeaf === 1 ? at + i : at + group * perLeaf + k;
        if (isIn) {
          numbers[place] = effects[i];
        } else {
          effects[i] = numbers[place];
        }
      }
    }
  }
}
