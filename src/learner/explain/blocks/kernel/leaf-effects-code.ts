import {
  add,
  addF64,
  addF64x2,
  and,
  type Code,
  countBits,
  F64,
  f64,
  get,
  I32,
  i32,
  isBelow,
  loadF32,
  loadF64,
  loadF64x2,
  loadI32,
  loadU8,
  multiply,
  multiplyF64,
  multiplyF64x2,
  or,
  set,
  shiftLeft,
  shiftRight,
  shiftRightBy,
  splat,
  storeF64,
  storeF64x2,
  storeI32,
  subtract,
  subtractF64,
  subtractF64x2,
  toF64,
  V128,
  when,
  whileLoop,
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
    ...set(inside, i32(SCRATCH.inside)),
    ...set(outside, i32(SCRATCH.outside)),
    ...set(mask, get(rows)),
    ...set(slotsEnd, loadI32(get(leaf), LEAF_RECORD.slotsEnd)),
    ...whileLoop(isBelow(get(slots), get(slotsEnd)), [
      ...set(
        passed,
        and(
          shiftRightBy(loadI32(shiftLeft(loadU8(get(slots), SLOT.place), 2), SCRATCH.own), get(bit)),
          i32(1),
        ),
      ),
      ...set(some, loadI32(get(slots), SLOT.passes)),
      ...set(to, shiftRight(loadI32(get(slots)), 8 * SLOT.effects)),
      // Every slot is written to both lists, but only one of them advances: branch-free, since a branch would be
      // mispredicted.
      ...storeI32(get(inside), xor(get(some), i32(-1))),
      ...storeI32(get(inside), get(to), 4),
      ...set(inside, add(get(inside), shiftLeft(get(passed), 3))),
      ...storeI32(get(outside), get(to)),
      ...set(outside, add(get(outside), shiftLeft(subtract(i32(1), get(passed)), 2))),
      ...set(mask, and(get(mask), or(get(some), subtract(i32(0), get(passed))))),
      ...set(slots, add(get(slots), i32(SLOT.size))),
    ]),
  ];
  const countRows: Code = [
    ...set(most, i32(SCRATCH.rowsFailing)),
    ...storeI32(get(most), get(mask)),
    ...set(at, i32(SCRATCH.inside)),
    ...whileLoop(isBelow(get(at), get(inside)), [
      ...set(some, and(loadI32(get(at)), get(mask))),
      ...storeI32(get(at), get(some)),
      ...when(get(some), [
        ...set(most, add(get(most), i32(4))),
        ...storeI32(get(most), i32(0)),
        ...set(p, get(most)),
        ...whileLoop(isBelow(i32(SCRATCH.rowsFailing), get(p)), [
          ...storeI32(
            get(p),
            or(
              and(loadI32(get(p)), xor(get(some), i32(-1))),
              and(loadI32(subtract(get(p), i32(4))), get(some)),
            ),
          ),
          ...set(p, subtract(get(p), i32(4))),
        ]),
        ...storeI32(get(p), and(loadI32(get(p)), xor(get(some), i32(-1)))),
      ]),
      ...set(at, add(get(at), i32(8))),
    ]),
  ];
  return [
    ...set(leaf, field(HEADER.leaves)),
    ...set(slots, field(HEADER.leavesEnd)),
    ...set(bit, i32(0)),
    ...whileLoop(isBelow(get(leaf), field(HEADER.leavesEnd)), [
      ...findSlots,
      ...when(get(mask), [...countRows, ...addLeaf({ leaf, bit, inside, outside, most, effects })]),
      ...set(bit, add(get(bit), i32(1))),
      ...set(leaf, add(get(leaf), i32(LEAF_RECORD.size))),
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
    ...set(sum, f64(0)),
    ...whileLoop(xor(isBelow(get(most), get(p)), i32(1)), [
      ...set(
        sum,
        addF64(get(sum), multiplyF64(loadF64(get(share), SCRATCH.shapleyWeights), toF64(countBits(rows)))),
      ),
      ...set(share, add(get(share), i32(step))),
      ...set(p, add(get(p), i32(4))),
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
    ...set(count, shiftLeft(subtract(get(outside), i32(SCRATCH.outside)), 1)),
    ...set(at, i32(SCRATCH.inside)),
    ...whileLoop(isBelow(get(at), get(inside)), [
      ...set(some, loadI32(get(at))),
      ...when(get(some), [
        ...set(share, add(get(count), i32(WEIGHTS_ROW))),
        ...set(p, i32(SCRATCH.rowsFailing + 4)),
        ...sumWeights({ share, p, most, sum }, WEIGHTS_ROW, and(get(some), loadI32(get(p)))),
        ...visit.inside,
      ]),
      ...set(at, add(get(at), i32(8))),
    ]),
    ...when(get(count), [
      ...set(share, multiply(get(count), i32(MAX_SLOTS + 1))),
      ...set(p, i32(SCRATCH.rowsFailing)),
      ...sumWeights({ share, p, most, sum }, 8, loadI32(get(p))),
      ...visit.before,
      ...set(at, i32(SCRATCH.outside)),
      ...whileLoop(isBelow(get(at), get(outside)), [...visit.outside, ...set(at, add(get(at), i32(4)))]),
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
      ...set(value, loadF32(get(leaf.leaf), LEAF_RECORD.value)),
      ...eachSlot(all, leaf, sum, {
        at,
        inside: [
          ...set(to, add(get(effects), loadI32(get(at), 4))),
          ...storeF64(get(to), addF64(loadF64(get(to)), multiplyF64(get(value), get(sum)))),
        ],
        before: set(value, multiplyF64(get(value), get(sum))),
        outside: [
          ...set(to, add(get(effects), loadI32(get(at)))),
          ...storeF64(get(to), subtractF64(loadF64(get(to)), get(value))),
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
      ...set(from, add(get(values), multiply(subtract(i32(31), get(leaf.bit)), get(width)))),
      ...classes.each([to, from], {
        pair: (offset) =>
          storeF64x2(
            get(to),
            pairs(loadF64x2(get(to), offset), multiplyF64x2(loadF64x2(get(from), offset), get(share))),
            offset,
          ),
        one: storeF64(get(to), numbers(loadF64(get(to)), multiplyF64(loadF64(get(from)), get(sum)))),
      }),
    ];
    const take = set(share, splat(get(sum)));
    return eachSlot(all, leaf, sum, {
      at,
      inside: [...take, ...addAll(loadI32(get(at), 4), addF64x2, addF64)],
      before: take,
      outside: addAll(loadI32(get(at)), subtractF64x2, subtractF64),
    });
  };
