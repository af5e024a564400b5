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
import { BRANCH, HEADER, RESULT, SCRATCH } from './block-layout';
import { addEffects, addToPlaces } from './leaf-effects-code';
import { type BlockLocals, isToLeft, passesOfBlock } from './passes-code';
import { addChanges, addSteps, takeValues, writeChanges } from './permutation-code';

/*
 * For trees with one value per leaf, the result of a block depends only on the side that the foreground row takes at
 * each branch: its key. So the result is first written down (effects per place, then changes along permutations),
 * cached for all rows with that key while there is space, and then added. Blocks without keys, whose results would
 * not be reused, add their changes along permutations directly.
 */

/** Adds a result: the effects of the block's places, times `weight`, and the changes along permutations. */
function addCachedResult(all: Locals, block: BlockLocals, result: number, weight: number): Code {
  const [at, target, last, to] = all.more(4, I32);
  const { effects, field } = block;
  return [
    ...takeValues(all, block, weight),
    ...set(target, field(HEADER.targets)),
    ...set(last, add(get(target), shiftLeft(field(HEADER.places), 2))),
    ...set(at, add(get(result), whole(RESULT.effects))),
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
      addChanges(all, block, at, add(get(result), loadWhole(get(result), RESULT.size))),
      addSteps(all, block),
    ),
  ];
}

/** Writes the result of a block. */
function writeResult(all: Locals, block: BlockLocals, result: number): Code {
  const [effects, to, last] = all.more(3, I32);
  return [
    ...passesOfBlock(all, block),
    ...set(effects, add(get(result), whole(RESULT.effects))),
    ...set(to, get(effects)),
    ...set(last, add(get(to), shiftLeft(block.field(HEADER.places), 3))),
    ...whileLoop(isBelow(get(to), get(last)), [...storeNumber(get(to), constant(0)), ...move(to, whole(8))]),
    ...addEffects(all, block, effects, addToPlaces(all)),
    ...when(block.field(HEADER.keys), writeChanges(all, block, to)),
    ...storeWhole(get(result), subtract(get(to), get(result)), RESULT.size),
  ];
}

/** Finds the address of the slot for the row's key in the table of cached results. */
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
 * Adds a block's contribution for a row.
 *
 * @param scratch for one result
 * @param isCached whether results may be cached for these background rows
 */
export function addResult(
  all: Locals,
  block: BlockLocals,
  { scratch, isCached, weight }: { scratch: number; isCached: number; weight: number },
): Code {
  const [key, result, size, to] = all.more(4, I32);
  const store: Code = [
    ...set(size, and(add(loadWhole(get(scratch), RESULT.size), whole(7)), whole(-8))),
    ...set(to, loadWhole(whole(SCRATCH.nextResult))),
    ...when(isBelow(get(size), subtract(loadWhole(whole(SCRATCH.resultsEnd)), get(to))), [
      ...copy(get(to), get(scratch), get(size)),
      ...storeWhole(whole(SCRATCH.nextResult), add(get(to), get(size))),
      ...storeWhole(get(key), get(to)),
    ]),
  ];
  return [
    ...set(result, whole(0)),
    ...set(key, whole(0)),
    ...when(choose(block.field(HEADER.keys), whole(0), get(isCached)), [
      ...findKey(all, block, key),
      ...set(result, loadWhole(get(key))),
    ]),
    ...whenElse(
      get(result),
      [],
      [...set(result, get(scratch)), ...writeResult(all, block, result), ...when(get(key), store)],
    ),
    ...addCachedResult(all, block, result, weight),
  ];
}
