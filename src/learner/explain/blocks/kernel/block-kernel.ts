import { assemble, type WasmFunction } from '../../../wasm/assemble';
import {
  add,
  type Code,
  F64,
  get,
  I32,
  isBelow,
  loadWhole,
  set,
  whileLoop,
  whole,
} from '../../../wasm/instructions';
import { Locals } from '../../../wasm/locals';
import { addEffects, sharesOfClasses } from './block-effects-kernel';
import { addByEntry } from './block-entries-kernel';
import { HEADER } from './block-layout';
import { addStepsOfClasses, takeValuesOfClasses } from './block-steps-kernel';
import { Classes } from './classes-kernel';
import { passesOfBlock } from './passes-kernel';

/*
 * What `findPasses`, `BlockSteps` and `addBlockEffects` do, for many blocks: the same numbers in the same order, so the
 * results are the same to the bit. All parameters but `rows` and `weight` are addresses, or lengths, in bytes.
 */
export interface BlockKernel {
  /**
   * Of trees with one value a leaf.
   *
   * @param headers of the first block, and behind the last one
   * @param bins of the row, per column
   * @param rows of the background, as bits
   * @param scratch room for the longest entry
   * @param isKept 1 where `rows` are all of the background, else 0
   */
  addBlocks(
    headers: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    effects: number,
    scratch: number,
    isKept: number,
    weight: number,
  ): void;
  /**
   * Of trees with a value for each class. Missing where the engine has no pairs of numbers.
   *
   * @param effects groups × classes
   * @param values room for the values of a block's leaves, and behind them 0 for each class
   * @param classes bytes of a number for each
   */
  addBlocksOfClasses?(
    headers: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    effects: number,
    values: number,
    classes: number,
    weight: number,
  ): void;
}

const field =
  (header: number) =>
  (offset: number): Code =>
    loadWhole(get(header), offset);

function addBlocks(): WasmFunction {
  const all = new Locals();
  const [header, end, bins, rows, scores, effects, scratch, isKept] = all.parameters(8, I32);
  const [weight] = all.parameters(1, F64);
  const block = { header, bins, rows, scores, effects, field: field(header) };
  return all.function(
    whileLoop(isBelow(get(header), get(end)), [
      ...addByEntry(all, block, { scratch, isKept, weight }),
      ...set(header, add(get(header), whole(HEADER.size))),
    ]),
  );
}

function addBlocksOfClasses(): WasmFunction {
  const all = new Locals();
  const [header, end, bins, rows, scores, effects, values, width] = all.parameters(8, I32);
  const [weight] = all.parameters(1, F64);
  const block = { header, bins, rows, scores, effects, field: field(header) };
  const classes = new Classes(all, width);
  return all.function([
    ...classes.begin(),
    ...whileLoop(isBelow(get(header), get(end)), [
      ...passesOfBlock(all, block),
      ...takeValuesOfClasses(all, block, weight, { values, width }),
      ...addStepsOfClasses(all, block, { values, width, classes }),
      ...addEffects(all, block, effects, sharesOfClasses(all, { values, width, classes })),
      ...set(header, add(get(header), whole(HEADER.size))),
    ]),
  ]);
}

/** @param withClasses whether it has `addBlocksOfClasses` too, which takes pairs of numbers */
export const blockModule = (withClasses: boolean): Uint8Array =>
  assemble({
    addBlocks: addBlocks(),
    ...(withClasses ? { addBlocksOfClasses: addBlocksOfClasses() } : {}),
  });
