import { withRoom } from '../../math/with-room';
import type { Orders } from '../shapley/orders';
import { TurnWriter } from './block-turns';
import { PLACE_BITS, TURN } from './kernel/block-layout';
import { type LeafBlocks, MOST_OF_BLOCK } from './leaf-blocks';

const PLACE = (1 << PLACE_BITS) - 1;
/** Bytes of a number of a turn. */
const BYTES = 4;

/** What is asked of a block for a row. */
export interface AskedBlock {
  /** Rows of the background that take part, as bits. */
  rows: number;
  /** What `findPasses` gave for the row. */
  own: Int32Array;
  weight: number;
  /** Of a tree with one value a leaf the output that it is for. */
  output: number;
}

/** What leaves say of the mixtures of rows along orders, block by block. */
export class BlockSteps {
  private readonly writer: TurnWriter;
  /** Per block where its turns begin, plus 1; 0: not known yet. */
  private readonly at: Int32Array;
  private turns = new Int32Array(1024);
  private length = 0;
  /** Values of a block's leaves, the last one first, and 0 for none of them: by how many zeros are before the leaf's bit. */
  private readonly values: Float64Array;

  /**
   * @param width outputs
   * @param room bytes that turns may take in addition, all blocks of the model together
   */
  constructor(
    private readonly blocks: LeafBlocks,
    private readonly orders: Orders,
    private readonly width: number,
    private readonly room: { bytes: number },
  ) {
    this.writer = new TurnWriter(blocks, orders);
    this.at = new Int32Array(blocks.leavesAt.length - 1);
    this.values = new Float64Array((MOST_OF_BLOCK + 1) * blocks.trees.width);
  }

  /**
   * Adds what a block says of the mixtures of a row, times `weight`: at the first mixture of an order all of it (of trees
   * with a value for each class; the others' are known), at the others what changes.
   *
   * @param scores mixtures × width
   */
  add(block: number, asked: AskedBlock, scores: Float64Array): void {
    const { blocks, orders } = this;
    const from = this.turnsOf(block);
    const size = TURN * this.writer.turnsOf(block);
    this.takeValues(block, asked.weight);
    const all = orders.perRow * size;
    for (let row = 0; row < orders.rows; row++) {
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
    for (let leaf = leavesAt[block], to = MOST_OF_BLOCK - 1; leaf < leavesAt[block + 1]; leaf++, to--) {
      for (let k = 0; k < width; k++) {
        this.values[to * width + k] = weight * trees.values[valuesAt[leaf] + k];
      }
    }
  }

  /** @param size numbers of an order */
  private addOne(
    from: number,
    end: number,
    size: number,
    { own, output }: AskedBlock,
    scores: Float64Array,
  ): void {
    const { turns, values, width } = this;
    for (let first = from; first < end; first += size) {
      let before = Math.clz32(turns[first + 1]);
      let passed = -1;
      for (let at = first + TURN; at < first + size; at += TURN) {
        const turn = turns[at];
        passed &= own[turn & PLACE];
        const now = Math.clz32(passed & turns[at + 1]);
        if (now !== before) {
          scores[(turn >>> PLACE_BITS) * width + output] += values[now] - values[before];
          before = now;
        }
      }
    }
  }

  private addSeveral(from: number, end: number, size: number, own: Int32Array, scores: Float64Array): void {
    const { turns, values, width } = this;
    for (let first = from; first < end; first += size) {
      let before = Math.clz32(turns[first + 1]) * width;
      const start = (turns[first] >>> PLACE_BITS) * width;
      for (let k = 0; k < width; k++) {
        scores[start + k] += values[before + k];
      }
      let passed = -1;
      for (let at = first + TURN; at < first + size; at += TURN) {
        passed &= own[turns[at] & PLACE];
        const now = Math.clz32(passed & turns[at + 1]) * width;
        if (now !== before) {
          const to = (turns[at] >>> PLACE_BITS) * width;
          for (let k = 0; k < width; k++) {
            scores[to + k] += values[now + k] - values[before + k];
          }
          before = now;
        }
      }
    }
  }

  /** Where the turns of a block begin. */
  private turnsOf(block: number): number {
    const known = this.at[block];
    if (known > 0) {
      return known - 1;
    }
    const { length } = this;
    const size = this.writer.sizeOf(block);
    this.turns = withRoom(this.turns, length + size);
    this.writer.write(block, this.turns, length);
    if (size * BYTES <= this.room.bytes) {
      this.room.bytes -= size * BYTES;
      this.length += size;
      this.at[block] = length + 1;
    }
    return length;
  }
}
