import { assemble, type WasmFunction } from '../wasm/assemble';
import { DotProducts, GROUP } from '../wasm/dot-products';
import {
  add,
  addF64,
  addF64x2,
  and,
  type Code,
  divideF64,
  F64,
  get,
  I32,
  i32,
  isBelow,
  loadF64,
  loadF64x2,
  loadSplat,
  move,
  multiplyF64,
  multiplyF64x2,
  NUMBER,
  PAIR,
  set,
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

/** Rows that each function handles together: the sums of a single row would wait for each other. */
export const ROWS_AT_ONCE = 4;

/**
 * The inner loops of `dense.ts`, with its sums in the same order, so results agree to the bit. Parameters are addresses or
 * lengths in bytes, except `sign`.
 */
export interface DenseKernel {
  /**
   * Computes four rows of a Cholesky factor, up to the diagonal of the first of them.
   *
   * @param matrix its first row
   * @param rows the first of the four
   * @param length of a row
   */
  factoriseFour(matrix: number, rows: number, length: number): void;
  /** Adds `sign` times the products of the columns of four rows to the lower triangle of `out`. */
  addGramFour(
    row0: number,
    row1: number,
    row2: number,
    row3: number,
    length: number,
    sign: number,
    out: number,
  ): void;
  /**
   * Subtracts from a row of a pivoted factor what earlier rows explain of it.
   *
   * @param factor its first row
   * @param own the row, behind those before it
   * @param length of a row
   * @param even of it, those in groups of eight
   * @param pivot where a row's share is
   */
  takeShares(factor: number, own: number, length: number, even: number, pivot: number): void;
}

function factoriseFour(): WasmFunction {
  const all = new Locals();
  const [matrix, rows, length] = all.parameters(3, I32);
  const [other, done, k, even, end] = all.more(5, I32);
  const at = all.more(ROWS_AT_ONCE, I32);
  const products = new DotProducts(all, at, k);
  const [diagonal] = all.more(1, F64);
  const step: Code[] = [
    ...at.map((row, i) => set(row, i === 0 ? get(rows) : add(get(at[i - 1]), get(length)))),
    set(k, get(other)),
    set(end, add(get(other), get(done))),
    set(even, add(get(other), subtract(get(done), and(get(done), i32(GROUP - 1))))),
    products.add(get(even), get(end)),
    // Each row is now where its number of this column is, and `k` at the diagonal.
    set(diagonal, loadF64(get(k))),
    ...at.map((row, i) =>
      storeF64(get(row), divideF64(subtractF64(loadF64(get(row)), products.of(i)), get(diagonal))),
    ),
    move(done, i32(NUMBER)),
    move(other, get(length)),
  ];
  return all.function([
    ...set(other, get(matrix)),
    ...whileLoop(isBelow(get(other), get(rows)), step.flat()),
  ]);
}

function addGramFour(): WasmFunction {
  const all = new Locals();
  const rows = all.parameters(ROWS_AT_ONCE, I32);
  const [length] = all.parameters(1, I32);
  const [sign] = all.parameters(1, F64);
  const [out] = all.parameters(1, I32);
  const [done, to, end, even] = all.more(4, I32);
  const at = all.more(ROWS_AT_ONCE, I32);
  const factors = all.more(ROWS_AT_ONCE, V128);
  const numbers = all.more(ROWS_AT_ONCE, F64);
  const sum = (plus: (a: Code, b: Code) => Code, products: Code[]): Code =>
    plus(plus(products[0], products[1]), plus(products[2], products[3]));
  const pairs: Code[] = [
    storeF64x2(
      get(to),
      addF64x2(
        loadF64x2(get(to)),
        sum(
          addF64x2,
          at.map((row, i) => multiplyF64x2(get(factors[i]), loadF64x2(get(row)))),
        ),
      ),
    ),
    ...at.map((row) => move(row, i32(PAIR))),
    move(to, i32(PAIR)),
  ];
  const rest: Code[] = [
    storeF64(
      get(to),
      addF64(
        loadF64(get(to)),
        sum(
          addF64,
          at.map((row, i) => multiplyF64(get(numbers[i]), loadF64(get(row)))),
        ),
      ),
    ),
    ...at.map((row) => move(row, i32(NUMBER))),
    move(to, i32(NUMBER)),
  ];
  const step: Code[] = [
    ...rows.flatMap((row, i) => [
      set(at[i], get(row)),
      set(numbers[i], multiplyF64(get(sign), loadF64(add(get(row), get(done))))),
      set(factors[i], splat(get(numbers[i]))),
    ]),
    move(done, i32(NUMBER)),
    set(to, get(out)),
    set(end, add(get(out), get(done))),
    set(even, subtract(get(end), and(get(done), i32(NUMBER)))),
    whileLoop(isBelow(get(to), get(even)), pairs.flat()),
    whileLoop(isBelow(get(to), get(end)), rest.flat()),
    move(out, get(length)),
  ];
  return all.function(whileLoop(isBelow(get(done), get(length)), step.flat()));
}

/** Pairs whose differences need not wait for each other. */
const PAIRS_TOGETHER = 4;

function takeShares(): WasmFunction {
  const all = new Locals();
  const [factor, own, length, even, pivot] = all.parameters(5, I32);
  const [to, row, end, at] = all.more(4, I32);
  const pairs = all.more(PAIRS_TOGETHER, V128);
  const [share] = all.more(1, V128);
  const [left] = all.more(1, F64);
  /** Where the row before has the number that `to` has in its own. */
  const place = add(get(row), subtract(get(to), get(own)));
  const eachBefore = (body: readonly Code[]): Code => [
    ...set(row, get(factor)),
    ...whileLoop(isBelow(get(row), get(own)), [...body.flat(), ...move(row, get(length))]),
  ];
  const eight: Code[] = [
    ...pairs.map((pair, i) => set(pair, loadF64x2(get(to), i * PAIR))),
    eachBefore([
      set(share, loadSplat(add(get(row), get(pivot)))),
      set(at, place),
      ...pairs.map((pair, i) =>
        set(pair, subtractF64x2(get(pair), multiplyF64x2(get(share), loadF64x2(get(at), i * PAIR)))),
      ),
    ]),
    ...pairs.map((pair, i) => storeF64x2(get(to), get(pair), i * PAIR)),
    move(to, i32(PAIRS_TOGETHER * PAIR)),
  ];
  const one: Code[] = [
    set(left, loadF64(get(to))),
    eachBefore([
      set(left, subtractF64(get(left), multiplyF64(loadF64(add(get(row), get(pivot))), loadF64(place)))),
    ]),
    storeF64(get(to), get(left)),
    move(to, i32(NUMBER)),
  ];
  return all.function([
    ...set(to, get(own)),
    ...set(end, add(get(own), get(even))),
    ...whileLoop(isBelow(get(to), get(end)), eight.flat()),
    ...set(end, add(get(own), get(length))),
    ...whileLoop(isBelow(get(to), get(end)), one.flat()),
  ]);
}

export const denseScratch = new ScratchMemory<DenseKernel>(() =>
  assemble({ factoriseFour: factoriseFour(), addGramFour: addGramFour(), takeShares: takeShares() }),
);
