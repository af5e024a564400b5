import { bitCount, lowestBit } from '../../math/bits';
import { withCapacity } from '../../math/with-capacity';
import { SHAPLEY_WEIGHTS } from '../shapley/shapley-weights';
import type { ReachedSubtrees } from './reached-subtrees';
import { eachLeafOf, type Subtrees } from './subtrees';

/** Bytes of an effect. */
const BYTES = 8;

/**
 * Caches the Shapley values of subtrees by key, so that foreground rows that take the same decisions in a subtree
 * share them. Woodelf (A. Nadel and R. Wettenstein, 2025) does this with leaves and their decision patterns. Entries
 * are computed on first use.
 */
export class EffectTable {
  /** Per subtree, where its groups begin in `groups`; the extra last element is the end. */
  private readonly groupsAt: Int32Array;
  private readonly groups: Int32Array;
  /** Per key, where its effects begin, plus 1; 0 while they have not been computed. */
  private readonly at: Int32Array;
  /** Values per leaf × groups of the subtree, for each cached key. */
  private effects = new Float64Array(1024);
  private length = 0;
  /** The index of each group in the subtree being computed. */
  private readonly placeOf = new Map<number, number>();

  /** @param budget bytes that may still be cached, shared by all tables of the model */
  constructor(
    readonly subtrees: Subtrees,
    private readonly budget: { bytes: number },
  ) {
    const { roots, keysAt } = subtrees;
    const groups: number[] = [];
    this.groupsAt = new Int32Array(roots.length + 1);
    for (let number = 0; number < roots.length; number++) {
      groups.push(...groupsOf(subtrees, number));
      this.groupsAt[number + 1] = groups.length;
    }
    this.groups = Int32Array.from(groups);
    this.at = new Int32Array(keysAt[roots.length]);
  }

  /**
   * Adds `weight` times the effects of the reached subtrees to `out`, summed over the background.
   *
   * @param output the output that a tree with one value per leaf is for
   * @param out outputs × groups
   */
  add(reached: ReachedSubtrees, weight: number, output: number, out: Float64Array, groupCount: number): void {
    const { groupsAt, groups } = this;
    const { width } = this.subtrees.trees;
    for (let i = 0; i < reached.count; i++) {
      const number = reached.numbers[i];
      const first = groupsAt[number];
      const count = groupsAt[number + 1] - first;
      let from = this.effectsOf(number, reached.keys[i]);
      const { effects } = this;
      for (let k = output; k < output + width; k++) {
        const to = k * groupCount;
        for (let place = first; place < first + count; place++) {
          out[to + groups[place]] += weight * effects[from++];
        }
      }
    }
  }

  /** Where the effects of a subtree begin, for this key. */
  private effectsOf(number: number, key: number): number {
    const slot = this.subtrees.keysAt[number] + key;
    const known = this.at[slot];
    if (known > 0) {
      return known - 1;
    }
    const from = this.length;
    const size = (this.groupsAt[number + 1] - this.groupsAt[number]) * this.subtrees.trees.width;
    this.effects = withCapacity(this.effects, from + size);
    this.write(number, key, from, size);
    if (size * BYTES <= this.budget.bytes) {
      this.budget.bytes -= size * BYTES;
      this.length += size;
      this.at[slot] = from + 1;
    }
    return from;
  }

  private write(number: number, key: number, from: number, size: number): void {
    const { effects, placeOf, groupsAt } = this;
    const { trees, paths } = this.subtrees;
    const { failedByOther, rows, slotsAt } = paths;
    const count = size / trees.width;
    effects.fill(0, from, from + size);
    placeOf.clear();
    for (let place = 0; place < count; place++) {
      placeOf.set(this.groups[groupsAt[number] + place], place);
    }
    const shares = new Float64Array(32);
    eachLeafOf(this.subtrees, number, key, (leaf, failed, values) => {
      const outside = bitCount(failed);
      const slots = slotsAt[leaf + 1] - slotsAt[leaf];
      let lowered = 0;
      shares.fill(0, 0, slots);
      for (let i = leaf * rows; i < (leaf + 1) * rows; i++) {
        if ((failedByOther[i] & failed) !== 0) {
          continue;
        }
        const own = bitCount(failedByOther[i]);
        lowered += SHAPLEY_WEIGHTS[outside][own];
        for (let rest = failedByOther[i]; rest !== 0; rest &= rest - 1) {
          shares[lowestBit(rest)] += SHAPLEY_WEIGHTS[own][outside];
        }
      }
      for (let slot = 0; slot < slots; slot++) {
        const share = (failed >>> slot) & 1 ? -lowered : shares[slot];
        const to = from + placeOf.get(paths.groups[slotsAt[leaf] + slot])!;
        for (let k = 0; k < trees.width; k++) {
          effects[to + k * count] += trees.values[values + k] * share;
        }
      }
    });
  }
}

/** The groups on the paths to the leaves of a subtree. */
function groupsOf(subtrees: Subtrees, number: number): Set<number> {
  const { slotsAt, groups } = subtrees.paths;
  const found = new Set<number>();
  eachLeafOf(subtrees, number, 0, (leaf) => {
    for (let at = slotsAt[leaf]; at < slotsAt[leaf + 1]; at++) {
      found.add(groups[at]);
    }
  });
  return found;
}
