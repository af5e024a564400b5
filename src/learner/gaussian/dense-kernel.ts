import { assemble, type WasmFunction } from '../wasm/assemble';
import {
  add,
  addNumbers,
  addPairs,
  addToFirst,
  and,
  both,
  type Code,
  constant,
  divideNumbers,
  F64,
  get,
  I32,
  isBelow,
  loadBoth,
  loadNumber,
  loadPair,
  move,
  multiplyNumbers,
  multiplyPairs,
  set,
  storeNumber,
  storePair,
  subtract,
  subtractNumbers,
  subtractPairs,
  sumOfPair,
  V128,
  whileLoop,
  whole,
} from '../wasm/instructions';
import { Locals } from '../wasm/locals';
import { RoomMaker } from '../wasm/scratch';

/** Rows that each function takes together: sums of one row alone would wait for each other. */
export const ROWS_AT_ONCE = 4;

/** The inner loops of `dense.ts`, with its sums in its order, so to the same bits. All parameters are addresses or bytes. */
export interface DenseKernel {
  /**
   * Of four rows of a Cholesky factor what is left of the first one's diagonal.
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
   * Takes from a row of a pivoted factor what the rows before it share with it.
   *
   * @param factor its first row
   * @param own the row, behind those before it
   * @param length of a row
   * @param even of it, those in groups of eight
   * @param pivot where a row's share is
   */
  takeShares(factor: number, own: number, length: number, even: number, pivot: number): void;
}

const NUMBER = 8;
const PAIR = 16;

function factoriseFour(): WasmFunction {
  const all = new Locals();
  const [matrix, rows, length] = all.parameters(3, I32);
  const [other, done, k, even, end] = all.more(5, I32);
  const at = all.more(ROWS_AT_ONCE, I32);
  const [ahead, behind] = [all.more(ROWS_AT_ONCE, V128), all.more(ROWS_AT_ONCE, V128)];
  const [first, second] = all.more(2, V128);
  const [diagonal] = all.more(1, F64);
  const pairs: Code[] = [
    set(first, loadPair(get(k))),
    set(second, loadPair(get(k), PAIR)),
    ...at.flatMap((row, i) => [
      set(ahead[i], addPairs(get(ahead[i]), multiplyPairs(loadPair(get(row)), get(first)))),
      set(behind[i], addPairs(get(behind[i]), multiplyPairs(loadPair(get(row), PAIR), get(second)))),
      move(row, whole(2 * PAIR)),
    ]),
    move(k, whole(2 * PAIR)),
  ];
  const rest: Code[] = [
    ...at.flatMap((row, i) => [
      addToFirst(ahead[i], multiplyNumbers(loadNumber(get(row)), loadNumber(get(k)))),
      move(row, whole(NUMBER)),
    ]),
    move(k, whole(NUMBER)),
  ];
  const step: Code[] = [
    ...at.flatMap((row, i) => [
      set(row, i === 0 ? get(rows) : add(get(at[i - 1]), get(length))),
      set(ahead[i], both(constant(0))),
      set(behind[i], both(constant(0))),
    ]),
    set(k, get(other)),
    set(end, add(get(other), get(done))),
    // Whole groups of four numbers.
    set(even, add(get(other), subtract(get(done), and(get(done), whole(2 * PAIR - 1))))),
    whileLoop(isBelow(get(k), get(even)), pairs.flat()),
    whileLoop(isBelow(get(k), get(end)), rest.flat()),
    // Each row is now where its number of this column is, and `k` at the diagonal.
    set(diagonal, loadNumber(get(k))),
    ...at.map((row, i) =>
      storeNumber(
        get(row),
        divideNumbers(
          subtractNumbers(loadNumber(get(row)), addNumbers(sumOfPair(ahead[i]), sumOfPair(behind[i]))),
          get(diagonal),
        ),
      ),
    ),
    move(done, whole(NUMBER)),
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
    storePair(
      get(to),
      addPairs(
        loadPair(get(to)),
        sum(
          addPairs,
          at.map((row, i) => multiplyPairs(get(factors[i]), loadPair(get(row)))),
        ),
      ),
    ),
    ...at.map((row) => move(row, whole(PAIR))),
    move(to, whole(PAIR)),
  ];
  const rest: Code[] = [
    storeNumber(
      get(to),
      addNumbers(
        loadNumber(get(to)),
        sum(
          addNumbers,
          at.map((row, i) => multiplyNumbers(get(numbers[i]), loadNumber(get(row)))),
        ),
      ),
    ),
    ...at.map((row) => move(row, whole(NUMBER))),
    move(to, whole(NUMBER)),
  ];
  const step: Code[] = [
    ...rows.flatMap((row, i) => [
      set(at[i], get(row)),
      set(numbers[i], multiplyNumbers(get(sign), loadNumber(add(get(row), get(done))))),
      set(factors[i], both(get(numbers[i]))),
    ]),
    move(done, whole(NUMBER)),
    set(to, get(out)),
    set(end, add(get(out), get(done))),
    set(even, subtract(get(end), and(get(done), whole(NUMBER)))),
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
    ...pairs.map((pair, i) => set(pair, loadPair(get(to), i * PAIR))),
    eachBefore([
      set(share, loadBoth(add(get(row), get(pivot)))),
      set(at, place),
      ...pairs.map((pair, i) =>
        set(pair, subtractPairs(get(pair), multiplyPairs(get(share), loadPair(get(at), i * PAIR)))),
      ),
    ]),
    ...pairs.map((pair, i) => storePair(get(to), get(pair), i * PAIR)),
    move(to, whole(PAIRS_TOGETHER * PAIR)),
  ];
  const one: Code[] = [
    set(left, loadNumber(get(to))),
    eachBefore([
      set(
        left,
        subtractNumbers(get(left), multiplyNumbers(loadNumber(add(get(row), get(pivot))), loadNumber(place))),
      ),
    ]),
    storeNumber(get(to), get(left)),
    move(to, whole(NUMBER)),
  ];
  return all.function([
    ...set(to, get(own)),
    ...set(end, add(get(own), get(even))),
    ...whileLoop(isBelow(get(to), get(end)), eight.flat()),
    ...set(end, add(get(own), get(length))),
    ...whileLoop(isBelow(get(to), get(end)), one.flat()),
  ]);
}

export const denseRooms = new RoomMaker<DenseKernel>(() =>
  assemble({ factoriseFour: factoriseFour(), addGramFour: addGramFour(), takeShares: takeShares() }),
);
