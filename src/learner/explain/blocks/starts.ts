import { eachOrder, type Orders } from '../shapley/orders';
import type { LeafBlocks } from './leaf-blocks';

/** What trees with one value a leaf say of the background's rows themselves, which every order begins with. */
export class Starts {
  /** rows of the background × width */
  private readonly scores: Float64Array;
  private readonly isOfClasses: boolean;

  constructor(
    { trees, blocksAt, leavesAt, valuesAt, slotsAt, passes, rows }: LeafBlocks,
    private readonly orders: Orders,
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

  /** Adds `weight` times that to the scores at the first mixtures of orders. */
  add(about: number, weight: number, scores: Float64Array): void {
    if (this.isOfClasses) {
      return;
    }
    eachOrder(this.orders, (first, _, row) => {
      for (let k = 0; (about >>> row) & 1 && k < this.width; k++) {
        scores[first * this.width + k] += weight * this.scores[row * this.width + k];
      }
    });
  }
}
