import type { Trees } from '../../trees/trees';
import { allRows, type Compared } from '../shapley/compared';
import type { Orders } from '../shapley/orders';
import { MOST_SLOTS } from '../shapley/shares';
import { addBlockEffects } from './block-effects';
import { type LaidOut, layOut } from './block-program';
import { type BlockRoom, ROWS_OF_ROOM } from './block-room';
import { BlockSteps } from './block-steps';
import { TurnWriter } from './block-turns';
import { HEADER } from './kernel/block-layout';
import { findPasses, type LeafBlocks } from './leaf-blocks';
import { Starts } from './starts';

/** A row whose mixtures with some of the background's rows (as bits) are followed. */
export interface FollowedRow {
  compared: Compared;
  rows: number;
}

/** What is found of one: mixtures × width, and outputs × groups. */
export interface Followed {
  /** Of trees the score at the first mixture of each order, and the changes at the others. */
  scores: Float64Array;
  /** The Shapley values of the sum of trees, added up over the background's rows. */
  effects: Float64Array;
}

/** Follows trees along orders. */
export interface TreeFollower {
  /** Adds `weight` times what the trees say of each row to what is found of it. */
  add(rows: readonly FollowedRow[], weight: number, found: readonly Followed[]): void;
}

/** Outputs × groups of trees with a value for each class: where those of a group are is 24 bits of a slot. */
const MOST_EFFECTS = 2 ** 21;
/** Blocks that all rows go through before the next ones, so that what is known of them stays close to the processor. */
const BLOCKS = 64;

/**
 * @param width outputs
 * @param room for blocks of trees with one value a leaf; undefined: there is no WebAssembly
 * @param spare bytes that turns may take in addition where they are not in the room
 * @returns how many leaves are kept outside the room, too
 */
export function makeFollower(
  blocks: LeafBlocks,
  orders: Orders,
  width: number,
  room: BlockRoom | undefined,
  spare: { bytes: number },
): { follower: TreeFollower; leaves: number } {
  const { trees } = blocks;
  const writer = new TurnWriter(blocks, orders);
  const starts = new Starts(blocks, orders, width);
  const isFitting =
    blocks.mostSlots <= MOST_SLOTS &&
    (trees.width === 1 ||
      (room?.functions.addBlocksOfClasses !== undefined && trees.width * orders.groups < MOST_EFFECTS));
  const laidOut =
    room && isFitting ? layOut(blocks, writer, room, { width, groups: orders.groups }) : undefined;
  if (room === undefined || laidOut === undefined) {
    const steps = new BlockSteps(blocks, orders, width, spare);
    const follower = new ScriptFollower(trees, blocks, steps, starts, width);
    return { follower, leaves: blocks.valuesAt.length };
  }
  const end = laidOut.headers + (blocks.leavesAt.length - 1) * HEADER.size;
  return { follower: new KernelFollower(room, laidOut, end, starts, trees.width), leaves: 0 };
}

class ScriptFollower implements TreeFollower {
  private readonly own: Int32Array;

  constructor(
    private readonly trees: Trees,
    private readonly blocks: LeafBlocks,
    private readonly steps: BlockSteps,
    private readonly starts: Starts,
    private readonly width: number,
  ) {
    this.own = new Int32Array(blocks.mostPlaces);
  }

  add(rows: readonly FollowedRow[], weight: number, found: readonly Followed[]): void {
    const { trees, blocks, steps, starts, width, own } = this;
    rows.forEach(({ rows: about }, i) => starts.add(about, weight, found[i].scores));
    for (let tree = 0; tree < trees.roots.length; tree++) {
      const output = trees.width > 1 ? 0 : tree % width;
      for (let block = blocks.blocksAt[tree]; block < blocks.blocksAt[tree + 1]; block++) {
        for (let i = 0; i < rows.length; i++) {
          const { compared } = rows[i];
          findPasses(blocks, block, compared.bins, own);
          const asked = { rows: rows[i].rows, own, weight, output };
          steps.add(block, asked, found[i].scores);
          addBlockEffects(blocks, block, asked, found[i].effects, compared.groups);
        }
      }
    }
  }
}

class KernelFollower implements TreeFollower {
  /**
   * @param end the address behind the last header
   * @param classes values of a leaf
   */
  constructor(
    private readonly room: BlockRoom,
    private readonly laidOut: LaidOut,
    private readonly end: number,
    private readonly starts: Starts,
    private readonly classes: number,
  ) {}

  add(rows: readonly FollowedRow[], weight: number, found: readonly Followed[]): void {
    for (let from = 0; from < rows.length; from += ROWS_OF_ROOM) {
      this.addRows(rows.slice(from, from + ROWS_OF_ROOM), weight, found.slice(from, from + ROWS_OF_ROOM));
    }
  }

  private addRows(rows: readonly FollowedRow[], weight: number, found: readonly Followed[]): void {
    const { room, end } = this;
    const { headers } = this.laidOut;
    const { row, numbers, bytes } = room;
    rows.forEach(({ compared, rows: about }, i) => {
      this.starts.add(about, weight, found[i].scores);
      bytes.set(compared.bins, row.bins + i * row.size);
      numbers.set(found[i].scores, (row.scores + i * row.size) / 8);
      this.copyEffects(found[i].effects, (row.effects + i * row.size) / 8, true);
    });
    for (let from = headers; from < end; from += BLOCKS * HEADER.size) {
      const to = Math.min(end, from + BLOCKS * HEADER.size);
      for (let i = 0; i < rows.length; i++) {
        this.addBlocks(from, to, rows[i], i * row.size, weight);
      }
    }
    found.forEach(({ scores, effects }, i) => {
      const at = (row.scores + i * row.size) / 8;
      const effectsAt = (row.effects + i * row.size) / 8;
      scores.set(numbers.subarray(at, at + scores.length));
      this.copyEffects(effects, effectsAt, false);
    });
  }

  /** @param at where the row is, in bytes behind the first one */
  private addBlocks(
    from: number,
    to: number,
    { compared, rows }: FollowedRow,
    at: number,
    weight: number,
  ): void {
    const { functions, row } = this.room;
    const { scratch } = this.laidOut;
    const asked = [from, to, row.bins + at, rows, row.scores + at, row.effects + at, scratch] as const;
    if (this.classes === 1) {
      functions.addBlocks(...asked, rows === allRows(compared.background) ? 1 : 0, weight);
    } else {
      functions.addBlocksOfClasses!(...asked, this.classes * 8, weight);
    }
  }

  /** Of trees with a value for each class those of a group stand side by side in the room. */
  private copyEffects(effects: Float64Array, at: number, isIn: boolean): void {
    const { numbers } = this.room;
    const groups = effects.length / this.classes;
    for (let k = 0, i = 0; k < this.classes; k++) {
      for (let group = 0; group < groups; group++, i++) {
        const place = this.classes === 1 ? at + i : at + group * this.classes + k;
        if (isIn) {
          numbers[place] = effects[i];
        } else {
          effects[i] = numbers[place];
        }
      }
    }
  }
}
