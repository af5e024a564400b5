import {
  add,
  addNumbers,
  addPairs,
  and,
  type Code,
  get,
  I32,
  isBelow,
  isOther,
  leadingZeros,
  loadFloat,
  loadNumber,
  loadPair,
  loadWhole,
  move,
  multiply,
  multiplyNumbers,
  or,
  set,
  shiftLeft,
  shiftRight,
  storeNumber,
  storePair,
  storeWhole,
  subtract,
  subtractNumbers,
  subtractPairs,
  when,
  whenElse,
  whileLoop,
  whole,
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
    ...set(to, whole(SCRATCH.values + 31 * 8)),
    ...whileLoop(isBelow(get(leaf), get(last)), [
      ...storeNumber(get(to), multiplyNumbers(get(weight), loadFloat(get(leaf), LEAF_RECORD.value))),
      ...set(to, subtract(get(to), whole(8))),
      ...set(leaf, add(get(leaf), whole(LEAF_RECORD.size))),
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
        and(get(row), whole(1)),
        whileLoop(isBelow(get(at), get(last)), [
          ...set(permutation, add(get(at), field(HEADER.permutationBytes))),
          ...set(before, leadingZeros(loadWhole(get(at), 4))),
          ...set(passed, whole(-1)),
          ...move(at, whole(8)),
          ...whileLoop(isBelow(get(at), get(permutation)), [
            ...set(flip, loadWhole(get(at))),
            ...set(
              passed,
              and(
                get(passed),
                loadWhole(shiftLeft(and(get(flip), whole((1 << PLACE_BITS) - 1)), 2), SCRATCH.own),
              ),
            ),
            ...set(now, leadingZeros(and(get(passed), loadWhole(get(at), 4)))),
            ...visit({ flip, before, now }),
            ...set(before, get(now)),
            ...move(at, whole(8)),
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
    ...storeWhole(
      get(to),
      or(
        shiftLeft(and(get(flip), whole(-1 << PLACE_BITS)), 2 * CHANGE.leafBits - PLACE_BITS),
        or(shiftLeft(get(before), CHANGE.leafBits), get(now)),
      ),
    ),
    ...move(to, shiftLeft(isOther(get(before), get(now)), 2)),
  ]);
}

const valueOf = (leaf: Code): Code => loadNumber(shiftLeft(leaf, 3), SCRATCH.values);

/** Adds the changes along permutations to the scores directly. */
export function addSteps(all: Locals, block: BlockLocals): Code {
  const [scoresAt, mixtureBytes, to] = all.more(3, I32);
  const { scores, field } = block;
  return [
    ...set(scoresAt, add(get(scores), field(HEADER.output))),
    ...set(mixtureBytes, field(HEADER.mixtureBytes)),
    ...eachFlip(all, block, ({ flip, before, now }) => [
      ...set(to, scoreOf(flip, scoresAt, mixtureBytes)),
      ...storeNumber(
        get(to),
        addNumbers(loadNumber(get(to)), subtractNumbers(valueOf(get(now)), valueOf(get(before)))),
      ),
    ]),
  ];
}

/** Adds the changes from `at` to `end` to the scores. */
export function addChanges(all: Locals, { scores, field }: BlockLocals, at: number, end: Code): Code {
  const [last, scoresAt, mixtureBytes, change, to] = all.more(5, I32);
  const leafOf = (bits: Code): Code => and(bits, whole((1 << CHANGE.leafBits) - 1));
  return [
    ...set(last, end),
    ...set(scoresAt, add(get(scores), field(HEADER.output))),
    ...set(mixtureBytes, field(HEADER.mixtureBytes)),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...set(change, loadWhole(get(at))),
      ...set(
        to,
        add(get(scoresAt), multiply(shiftRight(get(change), 2 * CHANGE.leafBits), get(mixtureBytes))),
      ),
      ...storeNumber(
        get(to),
        addNumbers(
          loadNumber(get(to)),
          subtractNumbers(
            valueOf(leafOf(get(change))),
            valueOf(leafOf(shiftRight(get(change), CHANGE.leafBits))),
          ),
        ),
      ),
      ...move(at, whole(CHANGE.bytes)),
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
    ...set(to, add(get(values), multiply(get(width), whole(31)))),
    ...whileLoop(isBelow(get(leaf), field(HEADER.leavesEnd)), [
      ...set(from, loadWhole(get(leaf), LEAF_RECORD.value)),
      ...set(end, add(get(to), get(width))),
      ...whileLoop(isBelow(get(to), get(end)), [
        ...storeNumber(get(to), multiplyNumbers(get(weight), loadFloat(get(from)))),
        ...move(to, whole(8)),
        ...move(from, whole(4)),
      ]),
      ...set(to, subtract(get(to), shiftLeft(get(width), 1))),
      ...move(leaf, whole(LEAF_RECORD.size)),
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
        and(get(row), whole(1)),
        whileLoop(isBelow(get(at), get(last)), [
          ...set(permutation, add(get(at), field(HEADER.permutationBytes))),
          ...set(old, valuesOf(loadWhole(get(at), 4))),
          ...set(to, loadWhole(get(at))),
          ...set(to, scoreOf(to, scores, width)),
          ...set(from, get(old)),
          ...classes.each([to, from], {
            pair: (offset) =>
              storePair(get(to), addPairs(loadPair(get(to), offset), loadPair(get(from), offset)), offset),
            one: storeNumber(get(to), addNumbers(loadNumber(get(to)), loadNumber(get(from)))),
          }),
          ...set(passed, whole(-1)),
          ...move(at, whole(8)),
          ...whileLoop(isBelow(get(at), get(permutation)), [
            ...set(to, loadWhole(get(at))),
            ...set(
              passed,
              and(
                get(passed),
                loadWhole(shiftLeft(and(get(to), whole((1 << PLACE_BITS) - 1)), 2), SCRATCH.own),
              ),
            ),
            ...set(now, valuesOf(and(get(passed), loadWhole(get(at), 4)))),
            ...when(xor(get(now), get(old)), [
              ...set(to, scoreOf(to, scores, width)),
              ...set(from, get(now)),
              ...set(gone, get(old)),
              ...set(old, get(now)),
              ...classes.each([to, from, gone], {
                pair: (offset) =>
                  storePair(
                    get(to),
                    addPairs(
                      loadPair(get(to), offset),
                      subtractPairs(loadPair(get(from), offset), loadPair(get(gone), offset)),
                    ),
                    offset,
                  ),
                one: storeNumber(
                  get(to),
                  addNumbers(
                    loadNumber(get(to)),
                    subtractNumbers(loadNumber(get(from)), loadNumber(get(gone))),
                  ),
                ),
              }),
            ]),
            ...move(at, whole(8)),
          ]),
        ]),
        set(at, get(last)),
      ),
      ...set(row, shiftRight(get(row), 1)),
    ]),
  ];
}
