import { BlockHeader, BlockResult, Branch, GROUP_BITS, LeafChange } from '../kernels/layout';
import { aligned, type BlockMemory } from './block-memory';
import { FlipWriter } from './flips';
import { allRows, type ForegroundRow, mixtureCount, type Permutations } from './shapley';

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

/** Sizes of what is explained: outputs, and numbers of groups and columns. */
interface Sizes {
  width: number;
  groups: number;
  columns: number;
}

/** Bytes of a 32-bit integer. */
const WHOLE = 4;

/** Rows explained in one pass, as many as their results leave room for. */
const MAX_ROWS_AT_ONCE = 16;
const MAX_ROW_BYTES = 32_000_000;

/** Blocks that every row goes through before the next ones, so that they stay in the processor's cache. */
const BLOCKS_AT_ONCE = 64;

/** Results are cached only for blocks with at most this many branches: with more, few rows share a key. */
const MAX_KEYED_BRANCHES = 8;

/** Bytes of memory for rows explained along permutations (if any), or with all background rows alone. */
export function bytesForRows(
  permutations: Permutations | undefined,
  { width, groups, columns }: Sizes,
): number {
  const scores = permutations ? mixtureCount(permutations) * width : 0;
  const row = rowBytes(scores, width * groups, columns);
  return row * Math.max(1, Math.min(MAX_ROWS_AT_ONCE, Math.floor(MAX_ROW_BYTES / row)));
}

/** Bytes of memory for one row explained by coalitions. */
export function bytesForCoalitions(mixtures: number, { width, groups, columns }: Sizes): number {
  return mixtures * width * 8 + aligned(columns) + (groups + 1) * GROUP_BITS;
}

function rowBytes(scores: number, effects: number, columns: number): number {
  return 8 * (scores + effects) + aligned(columns);
}

/** Addresses of the first of some blocks, of the end of the last one, and of the end of their keys and flips. */
interface Written {
  from: number;
  end: number;
  next: number;
}

/** Trees in leaf blocks: their exact Shapley values, and their scores of mixtures. */
export class TreeBlocks {
  private readonly flips: FlipWriter | undefined;
  /** Address of room for the longest result of a block. */
  private readonly result: number;
  /** Blocks that are handled together. Where there is no place for them, they are written anew whenever they are asked for. */
  private readonly stretches: (() => Written)[];
  readonly isPlaced: boolean;

  /**
   * @param blocks of `leafBlocks`
   * @param permutations along which scores are asked for; undefined: none
   * @param perLeaf values of a leaf
   */
  constructor(
    private readonly memory: BlockMemory,
    blocks: readonly Int32Array[],
    permutations: Permutations | undefined,
    private readonly sizes: { width: number; groups: number; perLeaf: number },
  ) {
    this.flips = permutations && new FlipWriter(permutations);
    // Results of several values per leaf are long, and seldom asked for again.
    const isKeyed = memory.size.results > 0 && sizes.perLeaf === 1;
    const places = blocks.reduce((most, block) => Math.max(most, block[BlockHeader.PLACES / WHOLE]), 0);
    // The place after the last change is written to, but not counted.
    const changes = isKeyed ? ((this.flips?.count ?? 0) * places + 1) * LeafChange.BYTES : 0;
    const result = aligned(BlockResult.EFFECTS + places * sizes.perLeaf * 8 + changes);
    const placed = memory.place(result + this.bytes(blocks, isKeyed));
    this.isPlaced = placed !== undefined;
    this.result = placed ?? memory.spare;
    let next = this.result + result;
    this.stretches = [];
    let first = 0;
    while (first < blocks.length) {
      let some = blocks.slice(first, first + BLOCKS_AT_ONCE);
      while (!this.isPlaced && some.length > 1 && !memory.hasSpare(result + this.bytes(some, false))) {
        some = some.slice(0, some.length >> 1);
      }
      first += some.length;
      if (this.isPlaced) {
        const written = this.write(some, isKeyed, next);
        next = written.next;
        this.stretches.push(() => written);
      } else {
        const [rest, at] = [some, next];
        this.stretches.push(() => this.write(rest, false, at));
      }
    }
  }

  /** Adds `weight` times the trees' results for each row. */
  add(rows: readonly ForegroundRow[], weight: number, found: readonly ScoresAndEffects[]): void {
    if (rows.length === 0) {
      return;
    }
    const size = rowBytes(found[0].scores.length, found[0].effects.length, rows[0].bins.length);
    const atOnce = Math.min(MAX_ROWS_AT_ONCE, Math.floor(this.memory.size.rows / size));
    for (let from = 0; from < rows.length; from += atOnce) {
      this.addRows(rows.slice(from, from + atOnce), weight, found.slice(from, from + atOnce), size);
    }
  }

  private addRows(
    rows: readonly ForegroundRow[],
    weight: number,
    found: readonly ScoresAndEffects[],
    size: number,
  ): void {
    const { memory, result } = this;
    const { width, groups, perLeaf } = this.sizes;
    const { kernels, numbers, bytes } = memory;
    const scoresAt = (i: number) => memory.rows + i * size;
    const effectsAt = (i: number) => scoresAt(i) + found[i].scores.length * 8;
    const binsAt = (i: number) => effectsAt(i) + found[i].effects.length * 8;
    rows.forEach(({ bins }, i) => {
      numbers.set(found[i].scores, scoresAt(i) / 8);
      numbers.set(found[i].effects, effectsAt(i) / 8);
      bytes.set(bins, binsAt(i));
    });
    for (const stretch of this.stretches) {
      const { from, end } = stretch();
      rows.forEach(({ background }, i) => {
        const own = [from, end, binsAt(i), allRows(background)] as const;
        const to = [scoresAt(i), width * 8, effectsAt(i), groups * 8] as const;
        kernels.addBlocks(...own, ...to, result, weight, perLeaf * 8);
      });
    }
    found.forEach(({ scores, effects }, i) => {
      scores.set(numbers.subarray(scoresAt(i) / 8, scoresAt(i) / 8 + scores.length));
      effects.set(numbers.subarray(effectsAt(i) / 8, effectsAt(i) / 8 + effects.length));
    });
  }

  /**
   * Adds `weight` times the Möbius transform of the trees' scores of coalitions.
   *
   * @param scores mixtures × width
   */
  addCoalitions(
    { background, bins, groups }: ForegroundRow,
    { at, bitOf }: CoalitionBits,
    weight: number,
    scores: Float64Array,
  ): void {
    const { memory } = this;
    const { width, perLeaf } = this.sizes;
    const { kernels, numbers, wholes, bytes } = memory;
    const starts = memory.rows + scores.length * 8;
    const bits = starts + GROUP_BITS;
    const binsAt = bits + groups * GROUP_BITS;
    numbers.set(scores, memory.rows / 8);
    for (let row = 0; row < background.rows; row++) {
      wholes[starts / WHOLE + row] = at[row];
      for (let group = 0; group < groups; group++) {
        wholes[(bits + group * GROUP_BITS) / WHOLE + row] = bitOf[row * groups + group];
      }
    }
    bytes.set(bins, binsAt);
    for (const stretch of this.stretches) {
      const { from, end } = stretch();
      const own = [from, end, binsAt, allRows(background)] as const;
      kernels.addBlockCoalitions(...own, memory.rows, width * 8, starts, bits, weight, perLeaf * 8);
    }
    scores.set(numbers.subarray(memory.rows / 8, memory.rows / 8 + scores.length));
  }

  /** Bytes that blocks take, with their keys and flips. */
  private bytes(blocks: readonly Int32Array[], isKeyed: boolean): number {
    return blocks.reduce(
      (sum, block) =>
        sum + block.byteLength + (isKeyed ? keyBytes(block) : 0) + (this.flips?.bytes(block) ?? 0),
      0,
    );
  }

  /** Writes blocks. Keys and flips come after all of them: most of a row's blocks have a known result, and do without. */
  private write(blocks: readonly Int32Array[], isKeyed: boolean, from: number): Written {
    const { wholes } = this.memory;
    let end = from;
    for (const block of blocks) {
      wholes.set(block, end / WHOLE);
      end += block.byteLength;
    }
    let header = from;
    let next = end;
    for (const block of blocks) {
      const keys = isKeyed ? keyBytes(block) : 0;
      wholes[(header + BlockHeader.KEYS) / WHOLE] = keys > 0 ? next : 0;
      next += keys;
      wholes[(header + BlockHeader.FLIPS) / WHOLE] = next;
      next = (this.flips?.write(block, wholes, next / WHOLE) ?? next / WHOLE) * WHOLE;
      wholes[(header + BlockHeader.FLIPS_END) / WHOLE] = next;
      header += block.byteLength;
    }
    return { from, end, next };
  }
}

/** Bytes of a block's table of cached results: an address per key. */
function keyBytes(block: Int32Array): number {
  const branches = (block[BlockHeader.LEAVES / WHOLE] - block[BlockHeader.BRANCHES / WHOLE]) / Branch.BYTES;
  return branches <= MAX_KEYED_BRANCHES ? aligned(WHOLE << branches) : 0;
}
