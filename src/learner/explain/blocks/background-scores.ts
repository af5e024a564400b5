import { eachPermutation, type Permutations } from '../shapley/permutations';
import type { LeafBlocks } from './leaf-blocks';

/** Scores of the background rows themselves, by trees with one value per leaf: every permutation starts with one. */
export class BackgroundScores {
  /** Background rows × width. */
  private readonly scores: Float64Array;
  private readonly isOfClasses: boolean;

  constructor(
    { trees, blocksAt, leavesAt, valuesAt, slotsAt, passes, rows }: LeafBlocks,
    private readonly permutations: Permutations,
    private readonly width: number,
  ) {
    this.scores = new Float64Array(rows * width);
    this.isOfClasses = trees.width > 1;
    for (let tree = 0; !this.isOfClasses && tree < trees.roots.length; tree++) {
      const end = leavesAt[blocksAt[tree + 1]];
      for (let leaf = leavesAt[blocksAt[tree]]; leaf < end; leaf++) {
        let reached = -1;
        for (let slot = slotsAt[leaf]; slot < slotsAt[leaf + 1]; slot++) {
          reached &= passes[slot];
        }
        for (let row = 0; row < rows; row++) {
          if ((reached >>> row) & 1) {
            this.scores[row * width + (tree % width)] += trees.values[valuesAt[leaf]];
          }
        }
      }
    }
  }

  /** Adds them, times `weight`, to the first mixture of each permutation. */
  add(about: number, weight: number, scores: Float64Array): void {
    if (this.isOfClasses) {
      return;
    }
    eachPermutation(this.permutations, (first, _, row) => {
      for (let k = 0; (about >>> row) & 1 && k < this.width; k++) {
        scores[first * this.width + k] += weight * this.scores[row * this.width + k];
      }
    });
  }
}
