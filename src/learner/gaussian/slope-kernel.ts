import { assemble, type WasmFunction } from '../wasm/assemble';
import { DotProducts } from '../wasm/dot-products';
import {
  add,
  addF64,
  addF64x2,
  type Code,
  F64,
  get,
  I32,
  i32,
  isBelow,
  loadF64,
  loadF64x2,
  loadI32,
  move,
  multiply,
  multiplyF64,
  multiplyF64x2,
  NUMBER,
  PAIR,
  set,
  splat,
  storeF64,
  storeF64x2,
  V128,
  whileLoop,
} from '../wasm/instructions';
import { Locals } from '../wasm/locals';
import { ScratchMemory } from '../wasm/scratch';

/** Rows that `dotFour` and `addFour` handle together: the sums of a single row would wait for each other. */
export const ROWS_TOGETHER = 4;

/**
 * The inner loops of `Slopes`, with the partial sums of `dotAt`, so that results agree to the bit. All parameters are
 * addresses or lengths in bytes. Rows are given as a range of addresses of their indices; `stride` is the distance
 * between the errors of two rows.
 */
export interface SlopeKernel {
  /** Per row, the dot product of its features and their weights, for a multiple of four rows. */
  dotFour: Dot;
  dotOne: Dot;
  /** Adds each row's features times its error to `sums`, four rows at a time. */
  addFour: AddRows;
  addOne: AddRows;
}

/**
 * @param even length of the weights in groups of four
 * @param length of all of them
 */
type Dot = (
  rows: number,
  end: number,
  features: number,
  even: number,
  length: number,
  weights: number,
  errors: number,
  stride: number,
) => void;

/**
 * @param even length of the sums in pairs
 * @param length of all of them
 */
type AddRows = Dot;

function dot(together: number): WasmFunction {
  const all = new Locals();
  const [rows, end, features, even, length, weights, errors, stride] = all.parameters(8, I32);
  const at = all.more(together, I32);
  const [weight] = all.more(1, I32);
  const products = new DotProducts(all, at, weight);
  const step: Code[] = [
    ...at.map((row, i) => set(row, add(multiply(loadI32(get(rows), i * 4), get(length)), get(features)))),
    set(weight, get(weights)),
    products.add(add(get(weights), get(even)), add(get(weights), get(length))),
    ...at.flatMap((_, i) => [storeF64(get(errors), products.of(i)), move(errors, get(stride))]),
    move(rows, i32(together * 4)),
  ];
  return all.function(whileLoop(isBelow(get(rows), get(end)), step.flat()));
}

function addRows(together: number): WasmFunction {
  const all = new Locals();
  const [rows, end, features, even, length, sums, errors, stride] = all.parameters(8, I32);
  const at = all.more(together, I32);
  const [sum] = all.more(1, I32);
  const error = all.more(together, V128);
  const single = all.more(together, F64);
  const pairs: Code[] = [
    storeF64x2(
      get(sum),
      at.reduce<Code>(
        (before, row, i) => addF64x2(before, multiplyF64x2(get(error[i]), loadF64x2(get(row)))),
        loadF64x2(get(sum)),
      ),
    ),
    ...at.map((row) => move(row, i32(PAIR))),
    move(sum, i32(PAIR)),
  ];
  const rest: Code[] = [
    storeF64(
      get(sum),
      at.reduce<Code>(
        (before, row, i) => addF64(before, multiplyF64(get(single[i]), loadF64(get(row)))),
        loadF64(get(sum)),
      ),
    ),
    ...at.map((row) => move(row, i32(NUMBER))),
    move(sum, i32(NUMBER)),
  ];
  const step: Code[] = [
    ...at.flatMap((row, i) => [
      set(row, add(multiply(loadI32(get(rows), i * 4), get(length)), get(features))),
      set(single[i], loadF64(get(errors))),
      set(error[i], splat(get(single[i]))),
      move(errors, get(stride)),
    ]),
    set(sum, get(sums)),
    whileLoop(isBelow(get(sum), add(get(sums), get(even))), pairs.flat()),
    whileLoop(isBelow(get(sum), add(get(sums), get(length))), rest.flat()),
    move(rows, i32(together * 4)),
  ];
  return all.function(whileLoop(isBelow(get(rows), get(end)), step.flat()));
}

export const slopeScratch = new ScratchMemory<SlopeKernel>(() =>
  assemble({
    dotFour: dot(ROWS_TOGETHER),
    dotOne: dot(1),
    addFour: addRows(ROWS_TOGETHER),
    addOne: addRows(1),
  }),
);
