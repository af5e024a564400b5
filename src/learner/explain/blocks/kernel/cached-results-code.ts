import {
  add,
  addF64,
  and,
  type Code,
  copy,
  f64,
  get,
  I32,
  i32,
  isBelow,
  loadF64,
  loadI32,
  move,
  multiplyF64,
  or,
  select,
  set,
  shiftLeft,
  shiftLeftBy,
  storeF64,
  storeI32,
  subtract,
  when,
  whenElse,
  whileLoop,
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
    ...set(at, add(get(result), i32(RESULT.effects))),
    ...whileLoop(isBelow(get(target), get(last)), [
      ...set(to, add(get(effects), loadI32(get(target)))),
      ...storeF64(get(to), addF64(loadF64(get(to)), multiplyF64(get(weight), loadF64(get(at))))),
      ...move(target, i32(4)),
      ...move(at, i32(8)),
    ]),
    ...whenElse(
      field(HEADER.keys),
      addChanges(all, block, at, add(get(result), loadI32(get(result), RESULT.size))),
      addSteps(all, block),
    ),
  ];
}

/** Writes the result of a block. */
function writeResult(all: Locals, block: BlockLocals, result: number): Code {
  const [effects, to, last] = all.more(3, I32);
  return [
    ...passesOfBlock(all, block),
    ...set(effects, add(get(result), i32(RESULT.effects))),
    ...set(to, get(effects)),
    ...set(last, add(get(to), shiftLeft(block.field(HEADER.places), 3))),
    ...whileLoop(isBelow(get(to), get(last)), [...storeF64(get(to), f64(0)), ...move(to, i32(8))]),
    ...addEffects(all, block, effects, addToPlaces(all)),
    ...when(block.field(HEADER.keys), writeChanges(all, block, to)),
    ...storeI32(get(result), subtract(get(to), get(result)), RESULT.size),
  ];
}

/** Finds the address of the slot for the row's key in the table of cached results. */
function findKey(all: Locals, { header, bins, field }: BlockLocals, key: number): Code {
  const [at, last, bit] = all.more(3, I32);
  return [
    ...set(key, i32(0)),
    ...set(bit, i32(2)),
    ...set(at, field(HEADER.branches)),
    ...set(last, field(HEADER.branchesEnd)),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...set(key, or(get(key), shiftLeftBy(isToLeft(all, at, bins), get(bit)))),
      ...move(bit, i32(1)),
      ...move(at, i32(BRANCH.size)),
    ]),
    ...set(key, add(get(key), loadI32(get(header), HEADER.keys))),
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
    ...set(size, and(add(loadI32(get(scratch), RESULT.size), i32(7)), i32(-8))),
    ...set(to, loadI32(i32(SCRATCH.nextResult))),
    ...when(isBelow(get(size), subtract(loadI32(i32(SCRATCH.resultsEnd)), get(to))), [
      ...copy(get(to), get(scratch), get(size)),
      ...storeI32(i32(SCRATCH.nextResult), add(get(to), get(size))),
      ...storeI32(get(key), get(to)),
    ]),
  ];
  return [
    ...set(result, i32(0)),
    ...set(key, i32(0)),
    ...when(select(block.field(HEADER.keys), i32(0), get(isCached)), [
      ...findKey(all, block, key),
      ...set(result, loadI32(get(key))),
    ]),
    ...whenElse(
      get(result),
      [],
      [...set(result, get(scratch)), ...writeResult(all, block, result), ...when(get(key), store)],
    ),
    ...addCachedResult(all, block, result, weight),
  ];
}
