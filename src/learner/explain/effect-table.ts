import { bitCount, lowestBit } from '../math/bits';
import { isLeft, LEAF, type Trees } from '../trees/trees';
import { SHARES } from './shares';
import type { Ways, WaysSize } from './ways';

/**
 * Effects of every leaf of some trees. They depend on a row by nothing but the slots that it fails on the way there, so a
 * leaf has one pattern of effects for each set of its slots (as in Woodelf, A. Nadel and R. Wettenstein, 2025). A pattern
 * is computed when a row first has it.
 */
export class EffectTable {
  /** Per leaf where its patterns begin in `known`, and their effects: sets of failed slots × slots. */
  private readonly patternsAt: Int32Array;
  private readonly effectsAt: Int32Array;
  private readonly known: Uint8Array;
  private readonly effects: Float64Array;

  constructor(
    private readonly trees: Trees,
    private readonly ways: Ways,
    { leaves, patterns, effects }: WaysSize,
  ) {
    this.patternsAt = new Int32Array(leaves);
    this.effectsAt = new Int32Array(leaves);
    this.known = new Uint8Array(patterns);
    this.effects = new Float64Array(effects);
    for (let leaf = 1; leaf < leaves; leaf++) {
      const slots = ways.slotsAt[leaf] - ways.slotsAt[leaf - 1];
      this.patternsAt[leaf] = this.patternsAt[leaf - 1] + 2 ** slots;
      this.effectsAt[leaf] = this.effectsAt[leaf - 1] + 2 ** slots * slots;
    }
  }

  /** Adds `weight` times the effects that one tree has on a row to `effects` (per group), summed over the background. */
  addTo(effects: Float64Array, tree: number, bins: Uint8Array, weight: number): void {
    this.from(this.trees.roots[tree], 0, bins, weight, effects);
  }

  private from(node: number, failed: number, bins: Uint8Array, weight: number, effects: Float64Array): void {
    const { trees, ways } = this;
    let column = trees.feature[node];
    while (column !== LEAF) {
      const left = trees.left[node];
      const onceFailed = failed | (1 << ways.slotOf[node]);
      if (isLeft(trees, node, bins[column])) {
        this.from(left, failed, bins, weight, effects);
        failed = onceFailed;
      } else {
        this.from(left, onceFailed, bins, weight, effects);
      }
      node = left + 1;
      column = trees.feature[node];
    }
    const leaf = ways.slotOf[node];
    const first = ways.slotsAt[leaf];
    const slots = ways.slotsAt[leaf + 1] - first;
    const pattern = this.patternsAt[leaf] + failed;
    const at = this.effectsAt[leaf] + failed * slots;
    if (this.known[pattern] === 0) {
      this.known[pattern] = 1;
      this.fill(leaf, failed, at);
    }
    const value = weight * trees.values[trees.left[node]];
    for (let slot = 0; slot < slots; slot++) {
      effects[ways.groups[first + slot]] += value * this.effects[at + slot];
    }
  }

  private fill(leaf: number, failed: number, at: number): void {
    const { inside, rows } = this.ways;
    const outside = bitCount(failed);
    let lowered = 0;
    for (let i = leaf * rows; i < (leaf + 1) * rows; i++) {
      if ((inside[i] & failed) !== 0) {
        continue;
      }
      const count = bitCount(inside[i]);
      lowered += SHARES[outside][count];
      for (let rest = inside[i]; rest !== 0; rest &= rest - 1) {
        this.effects[at + lowestBit(rest)] += SHARES[count][outside];
      }
    }
    for (let rest = failed; rest !== 0; rest &= rest - 1) {
      this.effects[at + lowestBit(rest)] -= lowered;
    }
  }
}
