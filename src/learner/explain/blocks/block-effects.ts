import { MAX_SLOTS } from '../../kernels/blocks-layout';
import { bitCount } from '../../math/bits';
import { SHAPLEY_WEIGHTS } from '../shapley/shapley-weights';
import type { BlockQuery } from './block-steps';
import type { LeafBlocks } from './leaf-blocks';

/**
 * Scratch for one leaf: the slots that the foreground row passes, and the background rows that fail each, as bits.
 */
const insidePlaces = new Int32Array(MAX_SLOTS);
const failing = new Int32Array(MAX_SLOTS);
/** The Shapley value of each of these slots, for a leaf of value 1. */
const gains = new Float64Array(MAX_SLOTS);
/** The places of the slots that the foreground row fails. */
const outsidePlaces = new Int32Array(MAX_SLOTS);
/** Per number of slots failed, the background rows that fail that many, as bits. */
const rowsFailing = new Int32Array(MAX_SLOTS + 1);

/**
 * Adds the Shapley values of a block's leaves to `effects`, summed over the background rows in `rows`. Among the
 * background rows that pass all q slots that the foreground row fails, a leaf's effects depend only on how many slots
 * p the row fails itself. So rows are counted by p, all of them at once, as bits.
 *
 * @param effects outputs × groups
 */
export function addBlockEffects(
  blocks: LeafBlocks,
  block: number,
  asked: BlockQuery,
  effects: Float64Array,
  groupCount: number,
): void {
  const { trees, placesAt, groups } = blocks;
  if (trees.width > 1) {
    const to = { effects, indices: groups, from: placesAt[block], outputStep: groupCount };
    addTo(blocks, block, asked, to);
    return;
  }
  // Independent of the weight, like the results that the WebAssembly version caches: the bits must agree.
  const places = placesAt[block + 1] - placesAt[block];
  ofPlaces.fill(0, 0, places);
  addTo(blocks, block, { ...asked, weight: 1 }, { effects: ofPlaces, indices: EACH, from: 0, outputStep: 0 });
  for (let place = 0; place < places; place++) {
    effects[asked.output * groupCount + groups[placesAt[block] + place]] += asked.weight * ofPlaces[place];
  }
}

/** The identity: each place's effect at its own index. */
const EACH = Int32Array.from({ length: 256 }, (_, place) => place);
const ofPlaces = new Float64Array(EACH.length);

/**
 * Where effects are added. `indices` holds, per place from `from` on, the index of its effect on the first output.
 */
interface Target {
  effects: Float64Array;
  indices: Int32Array;
  from: number;
  outputStep: number;
}

function addTo(
  { trees, leavesAt, valuesAt, slotsAt, slotPlaces, passes }: LeafBlocks,
  block: number,
  { rows, own, weight, output }: BlockQuery,
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
    rowsFailing[0] = mask;
    for (let i = 0; i < inside; i++) {
      const some = failing[i] & mask;
      failing[i] = some;
      if (some === 0) {
        continue;
      }
      rowsFailing[++most] = 0;
      for (let p = most; p > 0; p--) {
        rowsFailing[p] = (rowsFailing[p] & ~some) | (rowsFailing[p - 1] & some);
      }
      rowsFailing[0] &= ~some;
    }
    for (let i = 0; i < inside; i++) {
      gains[i] = 0;
      for (let p = 1; failing[i] !== 0 && p <= most; p++) {
        gains[i] += SHAPLEY_WEIGHTS[p][outside] * bitCount(failing[i] & rowsFailing[p]);
      }
    }
    let lowered = 0;
    for (let p = 0; outside > 0 && p <= most; p++) {
      lowered += SHAPLEY_WEIGHTS[outside][p] * bitCount(rowsFailing[p]);
    }
    for (let k = 0; k < trees.width; k++) {
      const value = weight * trees.values[valuesAt[leaf] + k];
      const to = (output + k) * outputStep;
      for (let i = 0; i < inside; i++) {
        if (failing[i] !== 0) {
          effects[to + indices[from + insidePlaces[i]]] += value * gains[i];
        }
      }
      for (let i = 0; i < outside; i++) {
        effects[to + indices[from + outsidePlaces[i]]] -= value * lowered;
      }
    }
  }
}
