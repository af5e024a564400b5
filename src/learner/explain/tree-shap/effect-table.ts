import { bitCount, lowestBit } from '../../math/bits';
import { withRoom } from '../../math/with-room';
import { SHARES } from '../shapley/shares';
import type { ReachedSubtrees } from './reached-subtrees';
import { eachLeafOf, type Subtrees } from './subtrees';

/** Bytes of an effect. */
const BYTES = 8;

/**
 * The effects of subtrees, by the key of a row: so they are worked out once for all rows that take the same way (as of
 * leaves in Woodelf, A. Nadel and R. Wettenstein, 2025), when a row first does.
 */
export class EffectTable {
  /** Per subtree where its groups begin in `groups`; one more for the end of the last. */
  private readonly groupsAt: Int32Array;
  private readonly groups: Int32Array;
  /** Per key where its effects begin, plus 1; 0: not known yet. */
  private readonly at: Int32Array;
  /** outputs of a leaf × groups of the subtree, for each key that is known. */
  private effects = new Float64Array(1024);
  private length = 0;
  /** Per group its place in the subtree that is worked out. */
  private readonly placeOf = new Map<number, number>();

  /** @param room bytes that effects may take in addition, all tables of the model together */
  constructor(
    readonly subtrees: Subtrees,
    private readonly room: { bytes: number },
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
   * Adds `weight` times the effects that reached subtrees have on a row to `out`, summed over the background.
   *
   * @param output of a tree with one value a leaf the output that it is for
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

  /** Where the effects of a subtree begin for rows of this key. */
  private effectsOf(number: number, key: number): number {
    const slot = this.subtrees.keysAt[number] + key;
    const known = this.at[slot];
    if (known > 0) {
      return known - 1;
    }
    const from = this.length;
    const size = (this.groupsAt[number + 1] - this.groupsAt[number]) * this.subtrees.trees.width;
    this.effects = withRoom(this.effects, from + size);
    this.write(number, key, from, size);
    if (size * BYTES <= this.room.bytes) {
      this.room.bytes -= size * BYTES;
      this.length += size;
      this.at[slot] = from + 1;
    }
    return from;
  }

  private write(number: number, key: number, from: number, size: number): void {
    const { effects, placeOf, groupsAt } = this;
    const { trees, ways } = this.subtrees;
    const { inside, rows, slotsAt } = ways;
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
        if ((inside[i] & failed) !== 0) {
          continue;
        }
        const own = bitCount(inside[i]);
        lowered += SHARES[outside][own];
        for (let rest = inside[i]; rest !== 0; rest &= rest - 1) {
          shares[lowestBit(rest)] += SHARES[own][outside];
        }
      }
      for (let slot = 0; slot < slots; slot++) {
        const share = (failed >>> slot) & 1 ? -lowered : shares[slot];
        const to = from + placeOf.get(ways.groups[slotsAt[leaf] + slot])!;
        for (let k = 0; k < trees.width; k++) {
          effects[to + k * count] += trees.values[values + k] * share;
        }
      }
    });
  }
}

/** The groups on the ways to the leaves of a subtree. */
function groupsOf(subtrees: Subtrees, number: number): Set<number> {
  const { slotsAt, groups } = subtrees.ways;
  const found = new Set<number>();
  eachLeafOf(subtrees, number, 0, (leaf) => {
    for (let at = slotsAt[leaf]; at < slotsAt[leaf + 1]; at++) {
      found.add(groups[at]);
    }
  });
  return found;
}
