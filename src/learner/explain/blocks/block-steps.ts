import { FLIP_SIZE, PLACE_BITS } from '../../kernels/blocks-layout';
import { withCapacity } from '../../math/with-capacity';
import type { Permutations } from '../shapley/permutations';
import { FlipWriter } from './block-flips';
import { BLOCK_LEAVES, type LeafBlocks } from './leaf-blocks';

const PLACE = (1 << PLACE_BITS) - 1;
/** Bytes of an element. */
const BYTES = 4;

/** What is asked of a block. */
export interface BlockQuery {
  /** Background rows to mix with, as bits. */
  rows: number;
  /** The foreground row's passes, from `findPasses`. */
  own: Int32Array;
  weight: number;
  /** The output that a tree with one value per leaf is for. */
  output: number;
}

/** Adds the scores of mixtures along permutations, block by block, in JavaScript. */
export class BlockSteps {
  private readonly writer: FlipWriter;
  /** Per block, where its flips begin, plus 1; 0 while they have not been computed. */
  private readonly at: Int32Array;
  private flips = new Int32Array(1024);
  private length = 0;
  /** Values of a block's leaves in reverse, then 0 for "no leaf": indexed by the leading zeros of the leaf's bit. */
  private readonly values: Float64Array;

  /**
   * @param width outputs
   * @param budget bytes of flips that may still be cached, shared by all blocks of the model
   */
  constructor(
    private readonly blocks: LeafBlocks,
    private readonly permutations: Permutations,
    private readonly width: number,
    private readonly budget: { bytes: number },
  ) {
    this.writer = new FlipWriter(blocks, permutations);
    this.at = new Int32Array(blocks.leavesAt.length - 1);
    this.values = new Float64Array((BLOCK_LEAVES + 1) * blocks.trees.width);
  }

  /**
   * Adds a block's share of the mixtures' scores, times `weight`: changes from one mixture to the next, and for trees
   * with a value per class also the score of the first mixture (`BackgroundScores` has it for the others).
   *
   * @param scores mixtures × width
   */
  add(block: number, asked: BlockQuery, scores: Float64Array): void {
    const { blocks, permutations } = this;
    const from = this.flipsOf(block);
    const size = FLIP_SIZE * this.writer.flipsOf(block);
    this.takeValues(block, asked.weight);
    const all = permutations.perRow * size;
    for (let row = 0; row < permutations.rows; row++) {
      if ((asked.rows >>> row) & 1) {
        const [at, end] = [from + row * all, from + (row + 1) * all];
        if (blocks.trees.width === 1) {
          this.addOne(at, end, size, asked, scores);
        } else {
          this.addSeveral(at, end, size, asked.own, scores);
        }
      }
    }
  }

  private takeValues(block: number, weight: number): void {
    const { trees, leavesAt, valuesAt } = this.blocks;
    const { width } = trees;
    for (let leaf = leavesAt[block], to = BLOCK_LEAVES - 1; leaf < leavesAt[block + 1]; leaf++, to--) {
      for (let k = 0; k < width; k++) {
        this.values[to * width + k] = weight * trees.values[valuesAt[leaf] + k];
      }
    }
  }

  /** @param size elements per permutation */
  private addOne(
    from: number,
    end: number,
    size: number,
    { own, output }: BlockQuery,
    scores: Float64Array,
  ): void {
    const { flips, values, width } = this;
    for (let first = from; first < end; first += size) {
      let before = Math.clz32(flips[first + 1]);
      let passed = -1;
      for (let at = first + FLIP_SIZE; at < first + size; at += FLIP_SIZE) {
        const flip = flips[at];
        passed &= own[flip & PLACE];
        const now = Math.clz32(passed & flips[at + 1]);
        if (now !== before) {
          scores[(flip >>> PLACE_BITS) * width + output] += values[now] - values[before];
          before = now;
        }
      }
    }
  }

  private addSeveral(from: number, end: number, size: number, own: Int32Array, scores: Float64Array): void {
    const { flips, values, width } = this;
    for (let first = from; first < end; first += size) {
      let before = Math.clz32(flips[first + 1]) * width;
      const start = (flips[first] >>> PLACE_BITS) * width;
      for (let k = 0; k < width; k++) {
        scores[start + k] += values[before + k];
      }
      let passed = -1;
      for (let at = first + FLIP_SIZE; at < first + size; at += FLIP_SIZE) {
        passed &= own[flips[at] & PLACE];
        const now = Math.clz32(passed & flips[at + 1]) * width;
        if (now !== before) {
          const to = (flips[at] >>> PLACE_BITS) * width;
          for (let k = 0; k < width; k++) {
            scores[to + k] += values[now + k] - values[before + k];
          }
          before = now;
        }
      }
    }
  }

  /** Where the flips of a block begin. */
  private flipsOf(block: number): number {
    const known = this.at[block];
    if (known > 0) {
      return known - 1;
    }
    const { length } = this;
    const size = this.writer.sizeOf(block);
    this.flips = withCapacity(this.flips, length + size);
    this.writer.write(block, this.flips, length);
    if (size * BYTES <= this.budget.bytes) {
      this.budget.bytes -= size * BYTES;
      this.length += size;
      this.at[block] = length + 1;
    }
    return length;
  }
}
