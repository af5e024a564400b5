import { assemble, type WasmFunction } from '../../../wasm/assemble';
import {
  add,
  type Code,
  F64,
  get,
  I32,
  i32,
  isBelow,
  loadI32,
  set,
  whileLoop,
} from '../../../wasm/instructions';
import { Locals } from '../../../wasm/locals';
import { HEADER } from './block-layout';
import { addResult } from './cached-results-code';
import { ClassLoops } from './class-loops';
import { addEffects, addToClasses } from './leaf-effects-code';
import { passesOfBlock } from './passes-code';
import { addStepsOfClasses, takeValuesOfClasses } from './permutation-code';

/*
 * `findPasses`, `BlockSteps` and `addBlockEffects` for many blocks, with the same operations in the same order, so
 * that results agree to the bit. All parameters but `rows` and `weight` are addresses or lengths in bytes.
 */
export interface BlockKernel {
  /**
   * For trees with one value per leaf.
   *
   * @param headers of the blocks, up to `end`
   * @param bins of the foreground row, per column
   * @param rows background rows, as bits
   * @param scratch for the longest result
   * @param isCached 1 if `rows` are all background rows, so that results may be cached; else 0
   */
  addBlocks(
    headers: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    effects: number,
    scratch: number,
    isCached: number,
    weight: number,
  ): void;
  /**
   * For trees with a value per class. Missing if the engine has no SIMD.
   *
   * @param effects groups × classes
   * @param values scratch for the values of a block's leaves, and a 0 for each class after them
   * @param classes bytes of one number per class
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
    loadI32(get(header), offset);

function addBlocks(): WasmFunction {
  const all = new Locals();
  const [header, end, bins, rows, scores, effects, scratch, isCached] = all.parameters(8, I32);
  const [weight] = all.parameters(1, F64);
  const block = { header, bins, rows, scores, effects, field: field(header) };
  return all.function(
    whileLoop(isBelow(get(header), get(end)), [
      ...addResult(all, block, { scratch, isCached, weight }),
      ...set(header, add(get(header), i32(HEADER.size))),
    ]),
  );
}

function addBlocksOfClasses(): WasmFunction {
  const all = new Locals();
  const [header, end, bins, rows, scores, effects, values, width] = all.parameters(8, I32);
  const [weight] = all.parameters(1, F64);
  const block = { header, bins, rows, scores, effects, field: field(header) };
  const classes = new ClassLoops(all, width);
  return all.function([
    ...classes.begin(),
    ...whileLoop(isBelow(get(header), get(end)), [
      ...passesOfBlock(all, block),
      ...takeValuesOfClasses(all, block, weight, { values, width }),
      ...addStepsOfClasses(all, block, { values, width, classes }),
      ...addEffects(all, block, effects, addToClasses(all, { values, width, classes })),
      ...set(header, add(get(header), i32(HEADER.size))),
    ]),
  ]);
}

/** @param withClasses whether to include `addBlocksOfClasses`, which needs SIMD */
export const blockModule = (withClasses: boolean): Uint8Array =>
  assemble({
    addBlocks: addBlocks(),
    ...(withClasses ? { addBlocksOfClasses: addBlocksOfClasses() } : {}),
  });
