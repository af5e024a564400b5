import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  absF64x2,
  add,
  addF64,
  addF64x2,
  type Code,
  copy,
  doWhile,
  extendUnsigned,
  F64,
  f64,
  get,
  I32,
  i32,
  isBelow,
  isBelowI64,
  lane0,
  lane1,
  loadF64,
  loadF64x2,
  loadI32,
  loadU8,
  maxF64,
  multiply,
  multiplyF64x2,
  multiplyI64,
  or,
  pmaxF64x2,
  set,
  shiftLeft,
  shiftLeftI64,
  shiftRight,
  splat,
  storeF64,
  storeF64x2,
  storeI32,
  subtract,
  subtractF64x2,
  tee,
  V128,
  when,
  xor,
} from '../../wasm/instructions';
import { ScratchMemory } from '../../wasm/scratch';

/*
 * The loops in which a large fit spends its time, as WebAssembly: without bounds checks, and with gradient and
 * hessian added as one SIMD pair, they take a third of the time of JavaScript. They add the same numbers in the same
 * order, so results agree to the bit. All parameters are addresses in bytes.
 */

type AddColumn = (rows: number, end: number, gradHess: number, bins: number, sums: number) => void;
type AddTwoColumns = (
  rows: number,
  end: number,
  gradHess: number,
  bins0: number,
  bins1: number,
  sums0: number,
  sums1: number,
) => void;

/** Rows are given as a range of addresses of their indices. */
export interface TreeKernel {
  /** Adds each row's gradient and hessian to its bin of four columns. `gradHess` covers the whole table. */
  addFour(
    rows: number,
    end: number,
    gradHess: number,
    bins0: number,
    bins1: number,
    bins2: number,
    bins3: number,
    sums0: number,
    sums1: number,
    sums2: number,
    sums3: number,
  ): void;
  /** The same for two columns, and for one. */
  addTwo: AddTwoColumns;
  addOne: AddColumn;
  /** The same for two columns, and for one, if a row has two gradients besides its hessian. */
  addTwoOfThree: AddTwoColumns;
  addOneOfThree: AddColumn;
  /** The same if a row has five gradients besides its hessian. */
  addSix: AddColumn;
  /** Adds a value to one score of each row. `width`: bytes of a row's scores. */
  addToScores(rows: number, end: number, scores: number, width: number, value: number): void;
  /** The largest absolute value of all rows' pairs; NaN if one is not finite. */
  largest(rows: number, end: number, gradHess: number): number;
  /** Rounds the pair of each row by adding and subtracting a number. */
  round(rows: number, end: number, gradHess: number, grid: number): void;
  /** Adds each row's pair to one pair of sums. */
  addAll(rows: number, end: number, gradHess: number, sums: number): void;
  /** Subtracts pairs from those at `sums … end`. */
  takeAway(sums: number, end: number, others: number): void;
  /** See `partition`; returns the address where the rows that go right begin. */
  partition(rows: number, end: number, bins: number, goesLeft: number, spare: number): number;
  /** See `Random.divide`: chooses `wanted` of `count` integers from `values` on. `state` is as it lends it. */
  divide(state: number, values: number, count: number, wanted: number, chosen: number, rest: number): void;
}

const WHOLE_BYTES = 4;
const PAIR_BITS = 4;

/** Visits the integers from the address in local `at` to that in local `end`. */
function forEach(at: number, end: number, body: readonly Code[]): Code {
  const isMore = isBelow(get(at), get(end));
  const next = isBelow(tee(at, add(get(at), i32(WHOLE_BYTES))), get(end));
  return when(isMore, doWhile(body.flat(), next));
}
const NUMBER_BYTES = 8;
const PAIR_BYTES = 16;

/** @param stride gradients and hessian of a row: two, or three */
function addTo(columns: number, stride: 2 | 3 = 2): WasmFunction {
  const [rows, end, gradHess, bins] = [0, 1, 2, 3];
  const sums = bins + columns;
  const [row, at, pair, third] = [sums + columns, sums + columns + 1, sums + columns + 2, sums + columns + 3];
  const inBytes = (places: Code): Code =>
    stride === 2 ? shiftLeft(places, PAIR_BITS) : multiply(places, i32(stride * NUMBER_BYTES));
  const isThird = stride === 3;
  const addToColumn = (k: number): Code => [
    ...set(at, add(inBytes(loadU8(add(get(row), get(bins + k)))), get(sums + k))),
    ...storeF64x2(get(at), addF64x2(loadF64x2(get(at)), get(pair))),
    ...(isThird ? storeF64(get(at), addF64(loadF64(get(at), PAIR_BYTES), get(third)), PAIR_BYTES) : []),
  ];
  return {
    params: Array.from({ length: row }, () => I32),
    locals: [I32, I32, V128, ...(isThird ? [F64] : [])],
    body: forEach(rows, end, [
      set(row, loadI32(get(rows))),
      set(at, add(inBytes(get(row)), get(gradHess))),
      set(pair, loadF64x2(get(at))),
      isThird ? set(third, loadF64(get(at), PAIR_BYTES)) : [],
      ...Array.from({ length: columns }, (_, k) => addToColumn(k)),
    ]),
  };
}

/**
 * Adds each row's gradients and hessian to its bin of one column, one after another.
 *
 * @param stride gradients and hessian
 */
function addSeveral(stride: number): WasmFunction {
  const [rows, end, gradHess, bins, sums, row, from, to] = [0, 1, 2, 3, 4, 5, 6, 7];
  const addNumber = (at: number): Code =>
    storeF64(get(to), addF64(loadF64(get(to), at), loadF64(get(from), at)), at);
  const bytes = i32(stride * NUMBER_BYTES);
  return {
    params: [I32, I32, I32, I32, I32],
    locals: [I32, I32, I32],
    body: forEach(rows, end, [
      set(row, loadI32(get(rows))),
      set(from, add(multiply(get(row), bytes), get(gradHess))),
      set(to, add(multiply(loadU8(add(get(row), get(bins))), bytes), get(sums))),
      ...Array.from({ length: stride }, (_, d) => addNumber(d * NUMBER_BYTES)),
    ]),
  };
}

function addToScores(): WasmFunction {
  const [rows, end, scores, width, value, at] = [0, 1, 2, 3, 4, 5];
  return {
    params: [I32, I32, I32, I32, F64],
    locals: [I32],
    body: forEach(rows, end, [
      set(at, add(multiply(loadI32(get(rows)), get(width)), get(scores))),
      storeF64(get(at), addF64(loadF64(get(at)), get(value))),
    ]),
  };
}

function largest(): WasmFunction {
  const [rows, end, gradHess, pair, most, odd] = [0, 1, 2, 3, 4, 5];
  return {
    params: [I32, I32, I32],
    locals: [V128, V128, V128],
    result: F64,
    body: [
      ...forEach(rows, end, [
        set(pair, absF64x2(loadF64x2(add(shiftLeft(loadI32(get(rows)), PAIR_BITS), get(gradHess))))),
        set(most, pmaxF64x2(get(most), get(pair))),
        // 0, or NaN for numbers that are not finite: comparisons alone would skip NaN.
        set(odd, addF64x2(get(odd), multiplyF64x2(get(pair), splat(f64(0))))),
      ]),
      ...set(most, addF64x2(get(most), get(odd))),
      ...maxF64(lane0(get(most)), lane1(get(most))),
    ],
  };
}

function round(): WasmFunction {
  const [rows, end, gradHess, grid, at, pair] = [0, 1, 2, 3, 4, 5];
  return {
    params: [I32, I32, I32, F64],
    locals: [I32, V128],
    body: [
      ...set(pair, splat(get(grid))),
      ...forEach(rows, end, [
        set(at, add(shiftLeft(loadI32(get(rows)), PAIR_BITS), get(gradHess))),
        storeF64x2(get(at), subtractF64x2(addF64x2(loadF64x2(get(at)), get(pair)), get(pair))),
      ]),
    ],
  };
}

function addAll(): WasmFunction {
  const [rows, end, gradHess, sums, at, gradient, hessian] = [0, 1, 2, 3, 4, 5, 6];
  return {
    params: [I32, I32, I32, I32],
    locals: [I32, F64, F64],
    body: [
      ...forEach(rows, end, [
        set(at, add(shiftLeft(loadI32(get(rows)), PAIR_BITS), get(gradHess))),
        set(gradient, addF64(get(gradient), loadF64(get(at)))),
        set(hessian, addF64(get(hessian), loadF64(get(at), 8))),
      ]),
      ...storeF64(get(sums), addF64(loadF64(get(sums)), get(gradient))),
      ...storeF64(get(sums), addF64(loadF64(get(sums), 8), get(hessian)), 8),
    ],
  };
}

function takeAway(): WasmFunction {
  const [sums, end, others] = [0, 1, 2];
  const step: Code = [
    ...storeF64x2(get(sums), subtractF64x2(loadF64x2(get(sums)), loadF64x2(get(others)))),
    ...set(others, add(get(others), i32(PAIR_BYTES))),
  ];
  const next = isBelow(tee(sums, add(get(sums), i32(PAIR_BYTES))), get(end));
  return {
    params: [I32, I32, I32],
    locals: [],
    body: when(isBelow(get(sums), get(end)), doWhile(step, next)),
  };
}

function partition(): WasmFunction {
  const [rows, end, bins, goesLeft, spare, left, right, row, step] = [0, 1, 2, 3, 4, 5, 6, 7, 8];
  return {
    params: [I32, I32, I32, I32, I32],
    locals: [I32, I32, I32, I32],
    result: I32,
    body: [
      ...set(left, get(rows)),
      ...set(right, get(spare)),
      // Each row is written to both sides, and one of them advances: branch-free, since a branch would be
      // mispredicted.
      ...forEach(rows, end, [
        set(row, loadI32(get(rows))),
        storeI32(get(left), get(row)),
        storeI32(get(right), get(row)),
        set(step, shiftLeft(loadU8(add(loadU8(add(get(row), get(bins))), get(goesLeft))), 2)),
        set(left, add(get(left), get(step))),
        set(right, add(get(right), subtract(i32(WHOLE_BYTES), get(step)))),
      ]),
      ...copy(get(left), get(spare), subtract(get(right), get(spare))),
      ...get(left),
    ],
  };
}

/** Draws by sfc32 (`math/random.ts`), with its state in locals. */
function divide(): WasmFunction {
  const [state, values, count, wanted, chosen, rest, a, b, c, counter, sum, value, isChosen] = [
    0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
  ];
  const words = [a, b, c, counter];
  // The drawn number as a fraction of 2^32, times `count`, in integers: each comparison waits for the one before it.
  const share = multiplyI64(extendUnsigned(get(sum)), extendUnsigned(get(count)));
  const step: Code[] = [
    set(sum, add(add(get(a), get(b)), get(counter))),
    set(counter, add(get(counter), i32(1))),
    set(a, xor(get(b), shiftRight(get(b), 9))),
    set(b, add(get(c), shiftLeft(get(c), 3))),
    set(c, add(or(shiftLeft(get(c), 21), shiftRight(get(c), 11)), get(sum))),
    set(value, loadI32(get(values))),
    storeI32(get(chosen), get(value)),
    storeI32(get(rest), get(value)),
    set(isChosen, isBelowI64(share, shiftLeftI64(extendUnsigned(get(wanted)), 32))),
    set(chosen, add(get(chosen), shiftLeft(get(isChosen), 2))),
    set(rest, add(get(rest), subtract(i32(WHOLE_BYTES), shiftLeft(get(isChosen), 2)))),
    set(wanted, subtract(get(wanted), get(isChosen))),
    set(values, add(get(values), i32(WHOLE_BYTES))),
  ];
  const isMore = isBelow(i32(0), get(wanted));
  return {
    params: Array.from({ length: a }, () => I32),
    locals: Array.from({ length: 7 }, () => I32),
    body: [
      ...words.flatMap((word, i) => set(word, loadI32(get(state), i * WHOLE_BYTES))),
      ...when(isMore, doWhile([...step.flat(), ...set(count, subtract(get(count), i32(1)))], isMore)),
      ...words.flatMap((word, i) => storeI32(get(state), get(word), i * WHOLE_BYTES)),
      // What follows the last chosen one.
      ...copy(get(rest), get(values), shiftLeft(get(count), 2)),
    ],
  };
}

export const treeScratch = new ScratchMemory<TreeKernel>(() =>
  assemble({
    addFour: addTo(4),
    addTwo: addTo(2),
    addOne: addTo(1),
    addTwoOfThree: addTo(2, 3),
    addOneOfThree: addTo(1, 3),
    addSix: addSeveral(6),
    addToScores: addToScores(),
    largest: largest(),
    round: round(),
    addAll: addAll(),
    takeAway: takeAway(),
    partition: partition(),
    divide: divide(),
  }),
);
