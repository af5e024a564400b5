import { assemble, type WasmFunction } from '../wasm/assemble';
import { Exponential } from '../wasm/exponential';
import {
  add,
  addF64,
  addF64x2,
  type Code,
  divideF64x2,
  F64,
  f64,
  get,
  I32,
  i32,
  isBelow,
  lane0,
  lane1,
  loadF64,
  loadF64x2,
  loadI32,
  loadSplat,
  maxF64,
  move,
  multiplyF64x2,
  NUMBER,
  PAIR,
  set,
  shiftLeft,
  splat,
  storeF64,
  storeF64x2,
  subtract,
  subtractF64,
  subtractF64x2,
  V128,
  whileLoop,
} from '../wasm/instructions';
import { Locals } from '../wasm/locals';
import { ScratchMemory } from '../wasm/scratch';

/**
 * The loop of `SparseSlopes` over rows, two classes at a time: the same operations in the same order, so to the same bits.
 * Parameters are addresses and lengths in bytes; lists per class are padded to pairs of `width` bytes in all.
 */
export interface SparseSlopeKernel {
  /**
   * @param ends per row, where its entries end, in entries; up to `endsEnd`. The number before them is 0
   * @param terms per entry, the distance of its term's classes from the first term's
   * @param by the value of each entry
   * @param codes the class of each row
   * @param everywhere per class, what the common values score; -∞ for the padding
   * @param weights terms × classes
   * @param out terms × classes, which is added to
   * @param errors per class, which is added to
   * @param scores for a row
   * @param table of `Exponential`
   */
  addRows(
    ends: number,
    endsEnd: number,
    terms: number,
    by: number,
    codes: number,
    width: number,
    everywhere: number,
    weights: number,
    out: number,
    errors: number,
    scores: number,
    table: number,
  ): void;
}

const WHOLE = 4;

function addRows(): WasmFunction {
  const all = new Locals();
  const [ends, endsEnd, terms, by, codes, width] = all.parameters(6, I32);
  const [everywhere, weights, out, errors, scores, table] = all.parameters(6, I32);
  const [byEnd, term, entry, pair, at] = all.more(5, I32);
  const [top, total] = all.more(2, F64);
  const [sum, tops, totals] = all.more(3, V128);
  const exponential = new Exponential(all, table);

  const eachPair = (body: readonly Code[]): Code => [
    ...set(pair, i32(0)),
    ...whileLoop(isBelow(get(pair), get(width)), [...body.flat(), ...move(pair, i32(PAIR))]),
  ];
  const eachEntry = (body: Code): Code => [
    ...set(term, get(terms)),
    ...set(entry, get(by)),
    ...whileLoop(isBelow(get(entry), get(byEnd)), [
      ...body,
      ...move(term, i32(WHOLE)),
      ...move(entry, i32(NUMBER)),
    ]),
  ];
  const ofPair = (address: number): Code => add(get(address), get(pair));
  const ofEntry = (address: number): Code => add(ofPair(address), loadI32(get(term)));
  const score: Code[] = [
    set(sum, loadF64x2(ofPair(everywhere))),
    eachEntry(
      set(sum, addF64x2(get(sum), multiplyF64x2(loadSplat(get(entry)), loadF64x2(ofEntry(weights))))),
    ),
    storeF64x2(ofPair(scores), get(sum)),
    set(top, maxF64(maxF64(get(top), lane0(get(sum))), lane1(get(sum)))),
  ];
  const exponentiate: Code[] = [
    set(sum, subtractF64x2(loadF64x2(ofPair(scores)), get(tops))),
    exponential.apply(sum),
    storeF64x2(ofPair(scores), get(sum)),
    set(total, addF64(addF64(get(total), lane0(get(sum))), lane1(get(sum)))),
  ];
  const ownScore = add(get(scores), shiftLeft(loadI32(get(codes)), 3));
  const spread: Code[] = [
    set(sum, loadF64x2(ofPair(scores))),
    storeF64x2(ofPair(errors), addF64x2(loadF64x2(ofPair(errors)), get(sum))),
    eachEntry([
      ...set(at, ofEntry(out)),
      ...storeF64x2(get(at), addF64x2(loadF64x2(get(at)), multiplyF64x2(loadSplat(get(entry)), get(sum)))),
    ]),
  ];
  const row: Code[] = [
    // A row's entries begin where those of the row before end.
    set(
      byEnd,
      add(get(by), shiftLeft(subtract(loadI32(get(ends)), loadI32(subtract(get(ends), i32(WHOLE)))), 3)),
    ),
    set(top, f64(-Infinity)),
    eachPair(score),
    set(tops, splat(get(top))),
    set(total, f64(0)),
    eachPair(exponentiate),
    set(totals, splat(get(total))),
    eachPair([storeF64x2(ofPair(scores), divideF64x2(loadF64x2(ofPair(scores)), get(totals)))]),
    storeF64(ownScore, subtractF64(loadF64(ownScore), f64(1))),
    eachPair(spread),
    set(terms, get(term)),
    set(by, get(entry)),
    move(codes, i32(WHOLE)),
    move(ends, i32(WHOLE)),
  ];
  return all.function([...exponential.open(), ...whileLoop(isBelow(get(ends), get(endsEnd)), row.flat())]);
}

export const sparseSlopeScratch = new ScratchMemory<SparseSlopeKernel>(() =>
  assemble({ addRows: addRows() }),
);
