import { bitCount } from '../../math/bits';
import { MOST_SLOTS, SHARES } from '../shapley/shares';
import type { AskedBlock } from './block-steps';
import type { LeafBlocks } from './leaf-blocks';

/** Of a leaf, used again and again: the slots that the row passes and some of the background's rows fail, these rows as bits. */
const insidePlaces = new Int32Array(MOST_SLOTS);
const failing = new Int32Array(MOST_SLOTS);
/** Per slot inside what the row gains by it, for a leaf of value 1. */
const shares = new Float64Array(MOST_SLOTS);
/** The places of the slots that the row fails. */
const outsidePlaces = new Int32Array(MOST_SLOTS);
/** Per number of slots failed: the background's rows that fail so many, as bits. */
const failingSo = new Int32Array(MOST_SLOTS + 1);

/**
 * Adds the Shapley values of a block's leaves for a row to `effects`, added up over the background's
 * `rows`. A mixture of the row and one of these reaches a leaf where each slot is passed by the one whose group it has. So
 * of a background's row that passes all slots that the row fails (q of them) no more counts than how many it fails itself
 * (p of them): rows are counted by p, for all of them at once as bits.
 *
 * @param effects outputs × groups
 */
export function addBlockEffects(
  blocks: LeafBlocks,
  block: number,
  asked: AskedBlock,
  effects: Float64Array,
  groupCount: number,
): void {
  const { trees, placesAt, groups } = blocks;
  if (trees.width > 1) {
    const to = { effects, indices: groups, from: placesAt[block], outputStep: groupCount };
    addTo(blocks, block, asked, to);
    return;
  }
  // The same whatever the weight: so they may be kept.
  const places = placesAt[block + 1] - placesAt[block];
  ofPlaces.fill(0, 0, places);
  addTo(blocks, block, { ...asked, weight: 1 }, { effects: ofPlaces, indices: EACH, from: 0, outputStep: 0 });
  for (let place = 0; place < places; place++) {
    effects[asked.output * groupCount + groups[placesAt[block] + place]] += asked.weight * ofPlaces[place];
  }
}

/** Effects of a block's places, each at its own index. */
const EACH = Int32Array.from({ length: 256 }, (_, place) => place);
const ofPlaces = new Float64Array(EACH.length);

/** Where effects are added: per place, from `from` on, the index of the effect on the first output. */
interface Target {
  effects: Float64Array;
  indices: Int32Array;
  from: number;
  outputStep: number;
}

function addTo(
  { trees, leavesAt, valuesAt, slotsAt, slotPlaces, passes }: LeafBlocks,
  block: number,
  { rows, own, weight, output }: AskedBlock,
  { effects, indices, from, outputStep }: Target,
): void {
  const firstLeaf = leavesAt[block];
  for (let leaf = firstLeaf; leaf < leavesAt[block + 1]; leaf++) {
    let inside = 0;
    let outside = 0;
    let mask = rows;
    for (let slot = slotsAt[leaf]; slot < slotsAt[leaf + 1]; slot++) {
      const place = slotPlaces[slot];
      if ((own[place] >>> (leaf - firstLeaf)) & 1) {
        insidePlaces[inside] = place;
        failing[inside++] = ~passes[slot];
      } else {
        outsidePlaces[outside++] = place;
        mask &= passes[slot];
      }
    }
    if (mask === 0) {
      continue;
    }
    let most = 0;
    failingSo[0] = mask;
    for (let i = 0; i < inside; i++) {
      const some = failing[i] & mask;
      failing[i] = some;
      if (some === 0) {
        continue;
      }
      failingSo[++most] = 0;
      for (let p = most; p > 0; p--) {
        failingSo[p] = (failingSo[p] & ~some) | (failingSo[p - 1] & some);
      }
      failingSo[0] &= ~some;
    }
    for (let i = 0; i < inside; i++) {
      shares[i] = 0;
      for (let p = 1; failing[i] !== 0 && p <= most; p++) {
        shares[i] += SHARES[p][outside] * bitCount(failing[i] & failingSo[p]);
      }
    }
    let lowered = 0;
    for (let p = 0; outside > 0 && p <= most; p++) {
      lowered += SHARES[outside][p] * bitCount(failingSo[p]);
    }
    for (let k = 0; k < trees.width; k++) {
      const value = weight * trees.values[valuesAt[leaf] + k];
      const to = (output + k) * outputStep;
      for (let i = 0; i < inside; i++) {
        if (failing[i] !== 0) {
          effects[to + indices[from + insidePlaces[i]]] += value * shares[i];
        }
      }
      for (let i = 0; i < outside; i++) {
        effects[to + indices[from + outsidePlaces[i]]] -= value * lowered;
      }
    }
  }
}
