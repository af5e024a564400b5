import { bitCount, lowestBit } from '../math/bits';
import type { Trees } from '../trees/trees';
import type { ReachedLeaves } from './reached-leaves';
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

  /**
   * Adds `weight` times the effects that a tree has on a row to `out`, summed over the background.
   *
   * @param output of a tree with one value a leaf the output that it is for
   * @param out outputs × groups
   */
  add(
    { count, leaves, failed, values: from }: ReachedLeaves,
    { values, width: perLeaf }: Trees,
    weight: number,
    output: number,
    out: Float64Array,
    groupCount: number,
  ): void {
    const { slotsAt, groups } = this.ways;
    for (let i = 0; i < count; i++) {
      const leaf = leaves[i];
      const first = slotsAt[leaf];
      const slots = slotsAt[leaf + 1] - first;
      const pattern = this.patternsAt[leaf] + failed[i];
      const at = this.effectsAt[leaf] + failed[i] * slots;
      if (this.known[pattern] === 0) {
        this.known[pattern] = 1;
        this.fill(leaf, failed[i], at);
      }
      for (let k = 0; k < perLeaf; k++) {
        const value = weight * values[from[i] + k];
        const to = (output + k) * groupCount;
        for (let slot = 0; slot < slots; slot++) {
          out[to + groups[first + slot]] += value * this.effects[at + slot];
        }
      }
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
