import { HEADER_BYTES, MAX_SLOTS } from '../../kernels/blocks-layout';
import type { Trees } from '../../trees/trees';
import { allRows, type ForegroundRow } from '../shapley/foreground';
import type { Permutations } from '../shapley/permutations';
import { BackgroundScores } from './background-scores';
import { addBlockEffects } from './block-effects';
import { FlipWriter } from './block-flips';
import { type BlockMemory, MAX_ROWS_AT_ONCE } from './block-memory';
import { BlockSteps } from './block-steps';
import { type BlockAddresses, writeBlocks } from './block-writer';
import { findPasses, type LeafBlocks } from './leaf-blocks';

/** A row, and the background rows (as bits) to mix it with. */
export interface MixedRow {
  foreground: ForegroundRow;
  rows: number;
}

/** Results for one row: mixtures × width, and outputs × groups. */
export interface ScoresAndEffects {
  /** For trees, the score of the first mixture of each permutation, and the changes at the others. */
  scores: Float64Array;
  /** Shapley values, summed over the background rows. */
  effects: Float64Array;
}

/** Scores trees along permutations of the groups, and adds their exact Shapley values. */
export interface PermutationScorer {
  /** Adds `weight` times the trees' results for each row. */
  add(rows: readonly MixedRow[], weight: number, found: readonly ScoresAndEffects[]): void;
}

/** Most outputs × groups of trees with a value per class: a slot has 24 bits for the offset of its effects. */
const MAX_EFFECTS = 2 ** 21;
/** Blocks that every row goes through before the next ones, so that their data stays in the processor's cache. */
const BLOCKS_AT_ONCE = 64;

/**
 * @param width outputs
 * @param memory undefined where rows take too much of it
 * @param unplaced budget in bytes for flips that do not fit in the memory
 * @returns with the number of leaves cached outside the memory
 */
export function makePermutationScorer(
  blocks: LeafBlocks,
  permutations: Permutations,
  width: number,
  memory: BlockMemory | undefined,
  unplaced: { bytes: number },
): { scorer: PermutationScorer; leaves: number } {
  const { trees } = blocks;
  const writer = new FlipWriter(blocks, permutations);
  const starts = new BackgroundScores(blocks, permutations, width);
  const isFitting =
    blocks.maxSlots <= MAX_SLOTS && (trees.width === 1 || trees.width * permutations.groups < MAX_EFFECTS);
  const addresses =
    memory && isFitting
      ? writeBlocks(blocks, writer, memory, { width, groups: permutations.groups })
      : undefined;
  if (memory === undefined || addresses === undefined) {
    const steps = new BlockSteps(blocks, permutations, width, unplaced);
    const scorer = new JsScorer(trees, blocks, steps, starts, width);
    return { scorer, leaves: blocks.valuesAt.length };
  }
  const end = addresses.headers + (blocks.leavesAt.length - 1) * HEADER_BYTES;
  return { scorer: new WasmScorer(memory, addresses, end, starts, trees.width), leaves: 0 };
}

class JsScorer implements PermutationScorer {
  private readonly own: Int32Array;

  constructor(
    private readonly trees: Trees,
    private readonly blocks: LeafBlocks,
    private readonly steps: BlockSteps,
    private readonly starts: BackgroundScores,
    private readonly width: number,
  ) {
    this.own = new Int32Array(blocks.maxPlaces);
  }

  add(rows: readonly MixedRow[], weight: number, found: readonly ScoresAndEffects[]): void {
    const { trees, blocks, steps, starts, width, own } = this;
    rows.forEach(({ rows: about }, i) => starts.add(about, weight, found[i].scores));
    for (let tree = 0; tree < trees.roots.length; tree++) {
      const output = trees.width > 1 ? 0 : tree % width;
      for (let block = blocks.blocksAt[tree]; block < blocks.blocksAt[tree + 1]; block++) {
        for (let i = 0; i < rows.length; i++) {
          const { foreground } = rows[i];
          findPasses(blocks, block, foreground.bins, own);
          const asked = { rows: rows[i].rows, own, weight, output };
          steps.add(block, asked, found[i].scores);
          addBlockEffects(blocks, block, asked, found[i].effects, foreground.groups);
        }
      }
    }
  }
}

class WasmScorer implements PermutationScorer {
  /**
   * @param end address after the last header
   * @param classes values per leaf
   */
  constructor(
    private readonly memory: BlockMemory,
    private readonly addresses: BlockAddresses,
    private readonly end: number,
    private readonly starts: BackgroundScores,
    private readonly classes: number,
  ) {}

  add(rows: readonly MixedRow[], weight: number, found: readonly ScoresAndEffects[]): void {
    for (let from = 0; from < rows.length; from += MAX_ROWS_AT_ONCE) {
      this.addRows(
        rows.slice(from, from + MAX_ROWS_AT_ONCE),
        weight,
        found.slice(from, from + MAX_ROWS_AT_ONCE),
      );
    }
  }

  private addRows(rows: readonly MixedRow[], weight: number, found: readonly ScoresAndEffects[]): void {
    const { memory, end } = this;
    const { headers } = this.addresses;
    const { row, numbers, bytes } = memory;
    rows.forEach(({ foreground, rows: about }, i) => {
      this.starts.add(about, weight, found[i].scores);
      bytes.set(foreground.bins, row.bins + i * row.size);
      numbers.set(found[i].scores, (row.scores + i * row.size) / 8);
      this.copyEffects(found[i].effects, (row.effects + i * row.size) / 8, true);
    });
    for (let from = headers; from < end; from += BLOCKS_AT_ONCE * HEADER_BYTES) {
      const to = Math.min(end, from + BLOCKS_AT_ONCE * HEADER_BYTES);
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

  /** @param at offset of the row from the first one, in bytes */
  private addBlocks(
    from: number,
    to: number,
    { foreground, rows }: MixedRow,
    at: number,
    weight: number,
  ): void {
    const { kernels, row } = this.memory;
    const { scratch } = this.addresses;
    const asked = [from, to, row.bins + at, rows, row.scores + at, row.effects + at, scratch] as const;
    if (this.classes === 1) {
      kernels.addBlocks(...asked, rows === allRows(foreground.background) ? 1 : 0, weight);
    } else {
      kernels.addBlocksOfClasses(...asked, this.classes * 8, weight);
    }
  }

  /** The memory holds the effects of trees with a value per class as groups × classes. */
  private copyEffects(effects: Float64Array, at: number, isIn: boolean): void {
    const { numbers } = this.memory;
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
