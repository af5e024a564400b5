import {
  add,
  addNumbers,
  and,
  choose,
  type Code,
  constant,
  copy,
  get,
  I32,
  isBelow,
  loadNumber,
  loadWhole,
  move,
  multiplyNumbers,
  or,
  set,
  shiftLeft,
  shiftLeftBy,
  storeNumber,
  storeWhole,
  subtract,
  when,
  whenElse,
  whileLoop,
  whole,
} from '../../../wasm/instructions';
import type { Locals } from '../../../wasm/locals';
import { addEffects, sharesOfOne } from './block-effects-kernel';
import { BRANCH, ENTRY, HEADER, SCRATCH } from './block-layout';
import { addChanges, addSteps, takeValues, writeChanges } from './block-steps-kernel';
import { type BlockLocals, isToLeft, passesOfBlock } from './passes-kernel';

/*
 * What a block of trees with one value a leaf says of a row depends on nothing but which way the row goes at each branch:
 * its key. So it is written as an *entry*, which is kept for all rows of that key where there is room, and added from there.
 * Of a block without keys, of which none would be kept, changes along orders are added at once.
 */

/** Adds the entry of a block: the effects of its places, times `weight`, and the changes along orders. */
function addEntry(all: Locals, block: BlockLocals, entry: number, weight: number): Code {
  const [at, target, last, to] = all.more(4, I32);
  const { effects, field } = block;
  return [
    ...takeValues(all, block, weight),
    ...set(target, field(HEADER.targets)),
    ...set(last, add(get(target), shiftLeft(field(HEADER.places), 2))),
    ...set(at, add(get(entry), whole(ENTRY.effects))),
    ...whileLoop(isBelow(get(target), get(last)), [
      ...set(to, add(get(effects), loadWhole(get(target)))),
      ...storeNumber(
        get(to),
        addNumbers(loadNumber(get(to)), multiplyNumbers(get(weight), loadNumber(get(at)))),
      ),
      ...move(target, whole(4)),
      ...move(at, whole(8)),
    ]),
    ...whenElse(
      field(HEADER.keys),
      addChanges(all, block, at, add(get(entry), loadWhole(get(entry), ENTRY.size))),
      addSteps(all, block),
    ),
  ];
}

/** Writes the entry of a block. */
function writeEntry(all: Locals, block: BlockLocals, entry: number): Code {
  const [effects, to, last] = all.more(3, I32);
  return [
    ...passesOfBlock(all, block),
    ...set(effects, add(get(entry), whole(ENTRY.effects))),
    ...set(to, get(effects)),
    ...set(last, add(get(to), shiftLeft(block.field(HEADER.places), 3))),
    ...whileLoop(isBelow(get(to), get(last)), [...storeNumber(get(to), constant(0)), ...move(to, whole(8))]),
    ...addEffects(all, block, effects, sharesOfOne(all)),
    ...when(block.field(HEADER.keys), writeChanges(all, block, to)),
    ...storeWhole(get(entry), subtract(get(to), get(entry)), ENTRY.size),
  ];
}

/** Where the address of the entry is that the row has. */
function findKey(all: Locals, { header, bins, field }: BlockLocals, key: number): Code {
  const [at, last, bit] = all.more(3, I32);
  return [
    ...set(key, whole(0)),
    ...set(bit, whole(2)),
    ...set(at, field(HEADER.branches)),
    ...set(last, field(HEADER.branchesEnd)),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...set(key, or(get(key), shiftLeftBy(isToLeft(all, at, bins), get(bit)))),
      ...move(bit, whole(1)),
      ...move(at, whole(BRANCH.size)),
    ]),
    ...set(key, add(get(key), loadWhole(get(header), HEADER.keys))),
  ];
}

/**
 * Adds what a block says of a row.
 *
 * @param scratch room for an entry
 * @param isKept whether entries are for these rows of the background
 */
export function addByEntry(
  all: Locals,
  block: BlockLocals,
  { scratch, isKept, weight }: { scratch: number; isKept: number; weight: number },
): Code {
  const [key, entry, size, to] = all.more(4, I32);
  const keep: Code = [
    ...set(size, and(add(loadWhole(get(scratch), ENTRY.size), whole(7)), whole(-8))),
    ...set(to, loadWhole(whole(SCRATCH.nextEntry))),
    ...when(isBelow(get(size), subtract(loadWhole(whole(SCRATCH.entriesEnd)), get(to))), [
      ...copy(get(to), get(scratch), get(size)),
      ...storeWhole(whole(SCRATCH.nextEntry), add(get(to), get(size))),
      ...storeWhole(get(key), get(to)),
    ]),
  ];
  return [
    ...set(entry, whole(0)),
    ...set(key, whole(0)),
    ...when(choose(block.field(HEADER.keys), whole(0), get(isKept)), [
      ...findKey(all, block, key),
      ...set(entry, loadWhole(get(key))),
    ]),
    ...whenElse(
      get(entry),
      [],
      [...set(entry, get(scratch)), ...writeEntry(all, block, entry), ...when(get(key), keep)],
    ),
    ...addEntry(all, block, entry, weight),
  ];
}
