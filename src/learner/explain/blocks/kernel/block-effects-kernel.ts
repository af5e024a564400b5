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
import { MOST_SLOTS } from '../../shapley/shares';
import { HEADER, LEAF_RECORD, SCRATCH, SHARES_ROW, SLOT } from './block-layout';
import type { ClassValues } from './block-steps-kernel';
import type { BlockLocals } from './passes-kernel';

/** Locals of a leaf, and what was found of it. */
interface LeafLocals {
  leaf: number;
  /** Its number in the block. */
  bit: number;
  /** Behind the lists of slots that the row passes and fails, and the last of `SCRATCH.failingSo`. */
  inside: number;
  outside: number;
  most: number;
  effects: number;
}

/**
 * What `addBlockEffects` does, with what `addShares` adds for a leaf.
 *
 * @param effects where they are
 */
export function addEffects(
  all: Locals,
  { rows, field }: BlockLocals,
  effects: number,
  addShares: (leaf: LeafLocals) => Code,
): Code {
  const [leaf, bit, inside, outside, most] = all.more(5, I32);
  const [slots, slotsEnd, mask, passed, some, to, at, p] = all.more(8, I32);
  /* Lists of `inside`: the rows that fail a slot, as bits, and eight times its group; of `outside`: the latter. */
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
      // Written to both lists, of which one moves on: a branch could not be predicted.
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
    ...set(most, whole(SCRATCH.failingSo)),
    ...storeWhole(get(most), get(mask)),
    ...set(at, whole(SCRATCH.inside)),
    ...whileLoop(isBelow(get(at), get(inside)), [
      ...set(some, and(loadWhole(get(at)), get(mask))),
      ...storeWhole(get(at), get(some)),
      ...when(get(some), [
        ...set(most, add(get(most), whole(4))),
        ...storeWhole(get(most), whole(0)),
        ...set(p, get(most)),
        ...whileLoop(isBelow(whole(SCRATCH.failingSo), get(p)), [
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
      ...when(get(mask), [...countRows, ...addShares({ leaf, bit, inside, outside, most, effects })]),
      ...set(bit, add(get(bit), whole(1))),
      ...set(leaf, add(get(leaf), whole(LEAF_RECORD.size))),
    ]),
  ];
}

/** Sums shares over how many slots rows fail, from `p` on (of `failingSo`), to `sum`. */
function sumShares(
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
          multiplyNumbers(loadNumber(get(share), SCRATCH.shares), toNumber(countBits(rows))),
        ),
      ),
      ...set(share, add(get(share), whole(step))),
      ...set(p, add(get(p), whole(4))),
    ]),
  ];
}

/** Visits each slot that counts with its share in `sum`: first those that the row passes, then those that it fails. */
function eachSlot(
  all: Locals,
  { inside, outside, most }: LeafLocals,
  sum: number,
  visit: { at: number; before: Code; inside: Code; outside: Code },
): Code {
  const [count, some, share, p] = all.more(4, I32);
  const { at } = visit;
  return [
    // Eight times how many slots the row fails.
    ...set(count, shiftLeft(subtract(get(outside), whole(SCRATCH.outside)), 1)),
    ...set(at, whole(SCRATCH.inside)),
    ...whileLoop(isBelow(get(at), get(inside)), [
      ...set(some, loadWhole(get(at))),
      ...when(get(some), [
        ...set(share, add(get(count), whole(SHARES_ROW))),
        ...set(p, whole(SCRATCH.failingSo + 4)),
        ...sumShares({ share, p, most, sum }, SHARES_ROW, and(get(some), loadWhole(get(p)))),
        ...visit.inside,
      ]),
      ...set(at, add(get(at), whole(8))),
    ]),
    ...when(get(count), [
      ...set(share, multiply(get(count), whole(MOST_SLOTS + 1))),
      ...set(p, whole(SCRATCH.failingSo)),
      ...sumShares({ share, p, most, sum }, 8, loadWhole(get(p))),
      ...visit.before,
      ...set(at, whole(SCRATCH.outside)),
      ...whileLoop(isBelow(get(at), get(outside)), [...visit.outside, ...set(at, add(get(at), whole(4)))]),
    ]),
  ];
}

/** Of a leaf with one value. */
export const sharesOfOne =
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

/** Of a leaf with a value for each class. */
export const sharesOfClasses =
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
      // Leaves stand from the last one back.
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
