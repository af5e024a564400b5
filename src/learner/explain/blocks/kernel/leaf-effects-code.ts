import {
  add,
  addNumbers,
  addPairs,
  and,
  both,
  type Code,
  constant,
  countBits,
  F64,
  get,
  I32,
  isBelow,
  loadByte,
  loadFloat,
  loadNumber,
  loadPair,
  loadWhole,
  multiply,
  multiplyNumbers,
  multiplyPairs,
  or,
  set,
  shiftLeft,
  shiftRight,
  shiftRightBy,
  storeNumber,
  storePair,
  storeWhole,
  subtract,
  subtractNumbers,
  subtractPairs,
  toNumber,
  V128,
  when,
  whileLoop,
  whole,
  xor,
} from '../../../wasm/instructions';
import type { Locals } from '../../../wasm/locals';
import { MAX_SLOTS } from '../../shapley/shapley-weights';
import { HEADER, LEAF_RECORD, SCRATCH, SLOT, WEIGHTS_ROW } from './block-layout';
import type { BlockLocals } from './passes-code';
import type { ClassValues } from './permutation-code';

/** Locals that describe a leaf. */
interface LeafLocals {
  leaf: number;
  /** Its index in the block. */
  bit: number;
  /** Ends of the lists of slots passed and failed, and the last used element of `SCRATCH.rowsFailing`. */
  inside: number;
  outside: number;
  most: number;
  effects: number;
}

/**
 * The loop of `addBlockEffects`, with code from `addLeaf` to add a leaf's effects.
 *
 * @param effects address of the effects
 */
export function addEffects(
  all: Locals,
  { rows, field }: BlockLocals,
  effects: number,
  addLeaf: (leaf: LeafLocals) => Code,
): Code {
  const [leaf, bit, inside, outside, most] = all.more(5, I32);
  const [slots, slotsEnd, mask, passed, some, to, at, p] = all.more(8, I32);
  /*
   * Fills two lists: for slots passed, the background rows that fail them (as bits) and the offset of the effect; for
   * slots failed, the offset alone.
   */
  const findSlots: Code = [
    ...set(inside, whole(SCRATCH.inside)),
    ...set(outside, whole(SCRATCH.outside)),
    ...set(mask, get(rows)),
    ...set(slotsEnd, loadWhole(get(leaf), LEAF_RECORD.slotsEnd)),
    ...whileLoop(isBelow(get(slots), get(slotsEnd)), [
      ...set(
        passed,
        and(
          shiftRightBy(loadWhole(shiftLeft(loadByte(get(slots), SLOT.place), 2), SCRATCH.own), get(bit)),
          whole(1),
        ),
      ),
      ...set(some, loadWhole(get(slots), SLOT.passes)),
      ...set(to, shiftRight(loadWhole(get(slots)), 8 * SLOT.effects)),
      // Every slot is written to both lists, but only one of them advances: branch-free, since a branch would be
      // mispredicted.
      ...storeWhole(get(inside), xor(get(some), whole(-1))),
      ...storeWhole(get(inside), get(to), 4),
      ...set(inside, add(get(inside), shiftLeft(get(passed), 3))),
      ...storeWhole(get(outside), get(to)),
      ...set(outside, add(get(outside), shiftLeft(subtract(whole(1), get(passed)), 2))),
      ...set(mask, and(get(mask), or(get(some), subtract(whole(0), get(passed))))),
      ...set(slots, add(get(slots), whole(SLOT.size))),
    ]),
  ];
  const countRows: Code = [
    ...set(most, whole(SCRATCH.rowsFailing)),
    ...storeWhole(get(most), get(mask)),
    ...set(at, whole(SCRATCH.inside)),
    ...whileLoop(isBelow(get(at), get(inside)), [
      ...set(some, and(loadWhole(get(at)), get(mask))),
      ...storeWhole(get(at), get(some)),
      ...when(get(some), [
        ...set(most, add(get(most), whole(4))),
        ...storeWhole(get(most), whole(0)),
        ...set(p, get(most)),
        ...whileLoop(isBelow(whole(SCRATCH.rowsFailing), get(p)), [
          ...storeWhole(
            get(p),
            or(
              and(loadWhole(get(p)), xor(get(some), whole(-1))),
              and(loadWhole(subtract(get(p), whole(4))), get(some)),
            ),
          ),
          ...set(p, subtract(get(p), whole(4))),
        ]),
        ...storeWhole(get(p), and(loadWhole(get(p)), xor(get(some), whole(-1)))),
      ]),
      ...set(at, add(get(at), whole(8))),
    ]),
  ];
  return [
    ...set(leaf, field(HEADER.leaves)),
    ...set(slots, field(HEADER.leavesEnd)),
    ...set(bit, whole(0)),
    ...whileLoop(isBelow(get(leaf), field(HEADER.leavesEnd)), [
      ...findSlots,
      ...when(get(mask), [...countRows, ...addLeaf({ leaf, bit, inside, outside, most, effects })]),
      ...set(bit, add(get(bit), whole(1))),
      ...set(leaf, add(get(leaf), whole(LEAF_RECORD.size))),
    ]),
  ];
}

/** Sums Shapley weights over the number of slots that rows fail, from `p` on (in `rowsFailing`), into `sum`. */
function sumWeights(
  { share, p, most, sum }: { share: number; p: number; most: number; sum: number },
  step: number,
  rows: Code,
): Code {
  return [
    ...set(sum, constant(0)),
    ...whileLoop(xor(isBelow(get(most), get(p)), whole(1)), [
      ...set(
        sum,
        addNumbers(
          get(sum),
          multiplyNumbers(loadNumber(get(share), SCRATCH.shapleyWeights), toNumber(countBits(rows))),
        ),
      ),
      ...set(share, add(get(share), whole(step))),
      ...set(p, add(get(p), whole(4))),
    ]),
  ];
}

/** Visits each slot with an effect, with its weight in `sum`: first the slots passed, then those failed. */
function eachSlot(
  all: Locals,
  { inside, outside, most }: LeafLocals,
  sum: number,
  visit: { at: number; before: Code; inside: Code; outside: Code },
): Code {
  const [count, some, share, p] = all.more(4, I32);
  const { at } = visit;
  return [
    // Eight times the number of slots failed.
    ...set(count, shiftLeft(subtract(get(outside), whole(SCRATCH.outside)), 1)),
    ...set(at, whole(SCRATCH.inside)),
    ...whileLoop(isBelow(get(at), get(inside)), [
      ...set(some, loadWhole(get(at))),
      ...when(get(some), [
        ...set(share, add(get(count), whole(WEIGHTS_ROW))),
        ...set(p, whole(SCRATCH.rowsFailing + 4)),
        ...sumWeights({ share, p, most, sum }, WEIGHTS_ROW, and(get(some), loadWhole(get(p)))),
        ...visit.inside,
      ]),
      ...set(at, add(get(at), whole(8))),
    ]),
    ...when(get(count), [
      ...set(share, multiply(get(count), whole(MAX_SLOTS + 1))),
      ...set(p, whole(SCRATCH.rowsFailing)),
      ...sumWeights({ share, p, most, sum }, 8, loadWhole(get(p))),
      ...visit.before,
      ...set(at, whole(SCRATCH.outside)),
      ...whileLoop(isBelow(get(at), get(outside)), [...visit.outside, ...set(at, add(get(at), whole(4)))]),
    ]),
  ];
}

/** For a leaf with one value. */
export const addToPlaces =
  (all: Locals) =>
  (leaf: LeafLocals): Code => {
    const [at, to] = all.more(2, I32);
    const [value, sum] = all.more(2, F64);
    const { effects } = leaf;
    return [
      ...set(value, loadFloat(get(leaf.leaf), LEAF_RECORD.value)),
      ...eachSlot(all, leaf, sum, {
        at,
        inside: [
          ...set(to, add(get(effects), loadWhole(get(at), 4))),
          ...storeNumber(get(to), addNumbers(loadNumber(get(to)), multiplyNumbers(get(value), get(sum)))),
        ],
        before: set(value, multiplyNumbers(get(value), get(sum))),
        outside: [
          ...set(to, add(get(effects), loadWhole(get(at)))),
          ...storeNumber(get(to), subtractNumbers(loadNumber(get(to)), get(value))),
        ],
      }),
    ];
  };

/** For a leaf with a value per class. */
export const addToClasses =
  (all: Locals, { values, width, classes }: ClassValues) =>
  (leaf: LeafLocals): Code => {
    const [at, to, from] = all.more(3, I32);
    const [sum] = all.more(1, F64);
    const [share] = all.more(1, V128);
    const addAll = (
      group: Code,
      pairs: (a: Code, b: Code) => Code,
      numbers: (a: Code, b: Code) => Code,
    ): Code => [
      ...set(to, add(get(leaf.effects), group)),
      // Leaves are stored in reverse.
      ...set(from, add(get(values), multiply(subtract(whole(31), get(leaf.bit)), get(width)))),
      ...classes.each([to, from], {
        pair: (offset) =>
          storePair(
            get(to),
            pairs(loadPair(get(to), offset), multiplyPairs(loadPair(get(from), offset), get(share))),
            offset,
          ),
        one: storeNumber(
          get(to),
          numbers(loadNumber(get(to)), multiplyNumbers(loadNumber(get(from)), get(sum))),
        ),
      }),
    ];
    const take = set(share, both(get(sum)));
    return eachSlot(all, leaf, sum, {
      at,
      inside: [...take, ...addAll(loadWhole(get(at), 4), addPairs, addNumbers)],
      before: take,
      outside: addAll(loadWhole(get(at)), subtractPairs, subtractNumbers),
    });
  };
