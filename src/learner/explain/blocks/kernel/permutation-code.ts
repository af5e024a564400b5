import {
  add,
  addF64,
  addF64x2,
  and,
  type Code,
  get,
  I32,
  i32,
  isBelow,
  leadingZeros,
  loadF32,
  loadF64,
  loadF64x2,
  loadI32,
  move,
  multiply,
  multiplyF64,
  notEqual,
  or,
  set,
  shiftLeft,
  shiftRight,
  storeF64,
  storeF64x2,
  storeI32,
  subtract,
  subtractF64,
  subtractF64x2,
  when,
  whenElse,
  whileLoop,
  xor,
} from '../../../wasm/instructions';
import type { Locals } from '../../../wasm/locals';
import { CHANGE, HEADER, LEAF_RECORD, PLACE_BITS, SCRATCH } from './block-layout';
import type { ClassLoops } from './class-loops';
import type { BlockLocals } from './passes-code';

/** The address of the score that a flip changes. */
const scoreOf = (flip: number, scoresAt: number, mixtureBytes: number): Code =>
  add(get(scoresAt), multiply(shiftRight(get(flip), PLACE_BITS), get(mixtureBytes)));

/** Fills the table of leaf values as `BlockSteps.takeValues` does, in reverse. */
export function takeValues(all: Locals, { field }: BlockLocals, weight: number): Code {
  const [leaf, last, to] = all.more(3, I32);
  return [
    ...set(leaf, field(HEADER.leaves)),
    ...set(last, field(HEADER.leavesEnd)),
    ...set(to, i32(SCRATCH.values + 31 * 8)),
    ...whileLoop(isBelow(get(leaf), get(last)), [
      ...storeF64(get(to), multiplyF64(get(weight), loadF32(get(leaf), LEAF_RECORD.value))),
      ...set(to, subtract(get(to), i32(8))),
      ...set(leaf, add(get(leaf), i32(LEAF_RECORD.size))),
    ]),
  ];
}

/**
 * Walks the permutations of a block as `BlockSteps` does for trees with one value per leaf. Leaves are identified by
 * the leading zeros of their bits.
 *
 * @param visit runs at each flip after the first of a permutation, whether or not the leaf changes: a branch would be
 * mispredicted
 */
function eachFlip(
  all: Locals,
  { rows, field }: BlockLocals,
  visit: (locals: { flip: number; before: number; now: number }) => Code,
): Code {
  const [at, row, last, permutation, flip, passed, before, now] = all.more(8, I32);
  return [
    ...set(at, field(HEADER.flips)),
    ...set(row, get(rows)),
    ...whileLoop(get(row), [
      ...set(last, add(get(at), field(HEADER.rowBytes))),
      ...whenElse(
        and(get(row), i32(1)),
        whileLoop(isBelow(get(at), get(last)), [
          ...set(permutation, add(get(at), field(HEADER.permutationBytes))),
          ...set(before, leadingZeros(loadI32(get(at), 4))),
          ...set(passed, i32(-1)),
          ...move(at, i32(8)),
          ...whileLoop(isBelow(get(at), get(permutation)), [
            ...set(flip, loadI32(get(at))),
            ...set(
              passed,
              and(
                get(passed),
                loadI32(shiftLeft(and(get(flip), i32((1 << PLACE_BITS) - 1)), 2), SCRATCH.own),
              ),
            ),
            ...set(now, leadingZeros(and(get(passed), loadI32(get(at), 4)))),
            ...visit({ flip, before, now }),
            ...set(before, get(now)),
            ...move(at, i32(8)),
          ]),
        ]),
        set(at, get(last)),
      ),
      ...set(row, shiftRight(get(row), 1)),
    ]),
  ];
}

/** Writes the changes along permutations, and moves `to` past the last. */
export function writeChanges(all: Locals, block: BlockLocals, to: number): Code {
  return eachFlip(all, block, ({ flip, before, now }) => [
    ...storeI32(
      get(to),
      or(
        shiftLeft(and(get(flip), i32(-1 << PLACE_BITS)), 2 * CHANGE.leafBits - PLACE_BITS),
        or(shiftLeft(get(before), CHANGE.leafBits), get(now)),
      ),
    ),
    ...move(to, shiftLeft(notEqual(get(before), get(now)), 2)),
  ]);
}

const valueOf = (leaf: Code): Code => loadF64(shiftLeft(leaf, 3), SCRATCH.values);

/** Adds the changes along permutations to the scores directly. */
export function addSteps(all: Locals, block: BlockLocals): Code {
  const [scoresAt, mixtureBytes, to] = all.more(3, I32);
  const { scores, field } = block;
  return [
    ...set(scoresAt, add(get(scores), field(HEADER.output))),
    ...set(mixtureBytes, field(HEADER.mixtureBytes)),
    ...eachFlip(all, block, ({ flip, before, now }) => [
      ...set(to, scoreOf(flip, scoresAt, mixtureBytes)),
      ...storeF64(get(to), addF64(loadF64(get(to)), subtractF64(valueOf(get(now)), valueOf(get(before))))),
    ]),
  ];
}

/** Adds the changes from `at` to `end` to the scores. */
export function addChanges(all: Locals, { scores, field }: BlockLocals, at: number, end: Code): Code {
  const [last, scoresAt, mixtureBytes, change, to] = all.more(5, I32);
  const leafOf = (bits: Code): Code => and(bits, i32((1 << CHANGE.leafBits) - 1));
  return [
    ...set(last, end),
    ...set(scoresAt, add(get(scores), field(HEADER.output))),
    ...set(mixtureBytes, field(HEADER.mixtureBytes)),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...set(change, loadI32(get(at))),
      ...set(
        to,
        add(get(scoresAt), multiply(shiftRight(get(change), 2 * CHANGE.leafBits), get(mixtureBytes))),
      ),
      ...storeF64(
        get(to),
        addF64(
          loadF64(get(to)),
          subtractF64(
            valueOf(leafOf(get(change))),
            valueOf(leafOf(shiftRight(get(change), CHANGE.leafBits))),
          ),
        ),
      ),
      ...move(at, i32(CHANGE.bytes)),
    ]),
  ];
}

/** The address of the values of a block's leaves, the bytes per leaf, and the loop over classes. */
export interface ClassValues {
  values: number;
  width: number;
  classes: ClassLoops;
}

export function takeValuesOfClasses(
  all: Locals,
  { field }: BlockLocals,
  weight: number,
  { values, width }: Omit<ClassValues, 'classes'>,
): Code {
  const [leaf, from, to, end] = all.more(4, I32);
  return [
    ...set(leaf, field(HEADER.leaves)),
    ...set(to, add(get(values), multiply(get(width), i32(31)))),
    ...whileLoop(isBelow(get(leaf), field(HEADER.leavesEnd)), [
      ...set(from, loadI32(get(leaf), LEAF_RECORD.value)),
      ...set(end, add(get(to), get(width))),
      ...whileLoop(isBelow(get(to), get(end)), [
        ...storeF64(get(to), multiplyF64(get(weight), loadF32(get(from)))),
        ...move(to, i32(8)),
        ...move(from, i32(4)),
      ]),
      ...set(to, subtract(get(to), shiftLeft(get(width), 1))),
      ...move(leaf, i32(LEAF_RECORD.size)),
    ]),
  ];
}

/** The same for trees with a value per class. */
export function addStepsOfClasses(
  all: Locals,
  { rows, scores, field }: BlockLocals,
  { values, width, classes }: ClassValues,
): Code {
  const [at, row, last, permutation, to, passed, old, now, from, gone] = all.more(10, I32);
  const valuesOf = (bits: Code): Code => add(get(values), multiply(leadingZeros(bits), get(width)));
  return [
    ...set(at, field(HEADER.flips)),
    ...set(row, get(rows)),
    ...whileLoop(get(row), [
      ...set(last, add(get(at), field(HEADER.rowBytes))),
      ...whenElse(
        and(get(row), i32(1)),
        whileLoop(isBelow(get(at), get(last)), [
          ...set(permutation, add(get(at), field(HEADER.permutationBytes))),
          ...set(old, valuesOf(loadI32(get(at), 4))),
          ...set(to, loadI32(get(at))),
          ...set(to, scoreOf(to, scores, width)),
          ...set(from, get(old)),
          ...classes.each([to, from], {
            pair: (offset) =>
              storeF64x2(get(to), addF64x2(loadF64x2(get(to), offset), loadF64x2(get(from), offset)), offset),
            one: storeF64(get(to), addF64(loadF64(get(to)), loadF64(get(from)))),
          }),
          ...set(passed, i32(-1)),
          ...move(at, i32(8)),
          ...whileLoop(isBelow(get(at), get(permutation)), [
            ...set(to, loadI32(get(at))),
            ...set(
              passed,
              and(get(passed), loadI32(shiftLeft(and(get(to), i32((1 << PLACE_BITS) - 1)), 2), SCRATCH.own)),
            ),
            ...set(now, valuesOf(and(get(passed), loadI32(get(at), 4)))),
            ...when(xor(get(now), get(old)), [
              ...set(to, scoreOf(to, scores, width)),
              ...set(from, get(now)),
              ...set(gone, get(old)),
              ...set(old, get(now)),
              ...classes.each([to, from, gone], {
                pair: (offset) =>
                  storeF64x2(
                    get(to),
                    addF64x2(
                      loadF64x2(get(to), offset),
                      subtractF64x2(loadF64x2(get(from), offset), loadF64x2(get(gone), offset)),
                    ),
                    offset,
                  ),
                one: storeF64(
                  get(to),
                  addF64(loadF64(get(to)), subtractF64(loadF64(get(from)), loadF64(get(gone)))),
                ),
              }),
            ]),
            ...move(at, i32(8)),
          ]),
        ]),
        set(at, get(last)),
      ),
      ...set(row, shiftRight(get(row), 1)),
    ]),
  ];
}
