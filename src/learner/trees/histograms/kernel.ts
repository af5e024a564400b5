import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  addNumbers,
  addPairs,
  both,
  type Code,
  constant,
  copy,
  doWhile,
  F64,
  firstOf,
  get,
  I32,
  isBelow,
  isBelowLong,
  largerOf,
  loadByte,
  loadNumber,
  loadPair,
  loadWhole,
  multiply,
  multiplyLong,
  multiplyPairs,
  or,
  secondOf,
  secondWhereAbove,
  set,
  shiftLeft,
  shiftLeftLong,
  shiftRight,
  sizesOfPair,
  storeNumber,
  storePair,
  storeWhole,
  subtract,
  subtractPairs,
  tee,
  toLong,
  V128,
  when,
  whole,
  xor,
} from '../../wasm/instructions';
import { RoomMaker } from '../../wasm/scratch';

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
  const next = isBelow(tee(at, add(get(at), whole(WHOLE_BYTES))), get(end));
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
    stride === 2 ? shiftLeft(places, PAIR_BITS) : multiply(places, whole(stride * NUMBER_BYTES));
  const isThird = stride === 3;
  const addToColumn = (k: number): Code => [
    ...set(at, add(inBytes(loadByte(add(get(row), get(bins + k)))), get(sums + k))),
    ...storePair(get(at), addPairs(loadPair(get(at)), get(pair))),
    ...(isThird
      ? storeNumber(get(at), addNumbers(loadNumber(get(at), PAIR_BYTES), get(third)), PAIR_BYTES)
      : []),
  ];
  return {
    params: Array.from({ length: row }, () => I32),
    locals: [I32, I32, V128, ...(isThird ? [F64] : [])],
    body: forEach(rows, end, [
      set(row, loadWhole(get(rows))),
      set(at, add(inBytes(get(row)), get(gradHess))),
      set(pair, loadPair(get(at))),
      isThird ? set(third, loadNumber(get(at), PAIR_BYTES)) : [],
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
    storeNumber(get(to), addNumbers(loadNumber(get(to), at), loadNumber(get(from), at)), at);
  const bytes = whole(stride * NUMBER_BYTES);
  return {
    params: [I32, I32, I32, I32, I32],
    locals: [I32, I32, I32],
    body: forEach(rows, end, [
      set(row, loadWhole(get(rows))),
      set(from, add(multiply(get(row), bytes), get(gradHess))),
      set(to, add(multiply(loadByte(add(get(row), get(bins))), bytes), get(sums))),
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
      set(at, add(multiply(loadWhole(get(rows)), get(width)), get(scores))),
      storeNumber(get(at), addNumbers(loadNumber(get(at)), get(value))),
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
        set(pair, sizesOfPair(loadPair(add(shiftLeft(loadWhole(get(rows)), PAIR_BITS), get(gradHess))))),
        set(most, secondWhereAbove(get(most), get(pair))),
        // 0, or NaN for numbers that are not finite: comparisons alone would skip NaN.
        set(odd, addPairs(get(odd), multiplyPairs(get(pair), both(constant(0))))),
      ]),
      ...set(most, addPairs(get(most), get(odd))),
      ...largerOf(firstOf(get(most)), secondOf(get(most))),
    ],
  };
}

function round(): WasmFunction {
  const [rows, end, gradHess, grid, at, pair] = [0, 1, 2, 3, 4, 5];
  return {
    params: [I32, I32, I32, F64],
    locals: [I32, V128],
    body: [
      ...set(pair, both(get(grid))),
      ...forEach(rows, end, [
        set(at, add(shiftLeft(loadWhole(get(rows)), PAIR_BITS), get(gradHess))),
        storePair(get(at), subtractPairs(addPairs(loadPair(get(at)), get(pair)), get(pair))),
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
        set(at, add(shiftLeft(loadWhole(get(rows)), PAIR_BITS), get(gradHess))),
        set(gradient, addNumbers(get(gradient), loadNumber(get(at)))),
        set(hessian, addNumbers(get(hessian), loadNumber(get(at), 8))),
      ]),
      ...storeNumber(get(sums), addNumbers(loadNumber(get(sums)), get(gradient))),
      ...storeNumber(get(sums), addNumbers(loadNumber(get(sums), 8), get(hessian)), 8),
    ],
  };
}

function takeAway(): WasmFunction {
  const [sums, end, others] = [0, 1, 2];
  const step: Code = [
    ...storePair(get(sums), subtractPairs(loadPair(get(sums)), loadPair(get(others)))),
    ...set(others, add(get(others), whole(PAIR_BYTES))),
  ];
  const next = isBelow(tee(sums, add(get(sums), whole(PAIR_BYTES))), get(end));
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
        set(row, loadWhole(get(rows))),
        storeWhole(get(left), get(row)),
        storeWhole(get(right), get(row)),
        set(step, shiftLeft(loadByte(add(loadByte(add(get(row), get(bins))), get(goesLeft))), 2)),
        set(left, add(get(left), get(step))),
        set(right, add(get(right), subtract(whole(WHOLE_BYTES), get(step)))),
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
  const share = multiplyLong(toLong(get(sum)), toLong(get(count)));
  const step: Code[] = [
    set(sum, add(add(get(a), get(b)), get(counter))),
    set(counter, add(get(counter), whole(1))),
    set(a, xor(get(b), shiftRight(get(b), 9))),
    set(b, add(get(c), shiftLeft(get(c), 3))),
    set(c, add(or(shiftLeft(get(c), 21), shiftRight(get(c), 11)), get(sum))),
    set(value, loadWhole(get(values))),
    storeWhole(get(chosen), get(value)),
    storeWhole(get(rest), get(value)),
    set(isChosen, isBelowLong(share, shiftLeftLong(toLong(get(wanted)), 32))),
    set(chosen, add(get(chosen), shiftLeft(get(isChosen), 2))),
    set(rest, add(get(rest), subtract(whole(WHOLE_BYTES), shiftLeft(get(isChosen), 2)))),
    set(wanted, subtract(get(wanted), get(isChosen))),
    set(values, add(get(values), whole(WHOLE_BYTES))),
  ];
  const isMore = isBelow(whole(0), get(wanted));
  return {
    params: Array.from({ length: a }, () => I32),
    locals: Array.from({ length: 7 }, () => I32),
    body: [
      ...words.flatMap((word, i) => set(word, loadWhole(get(state), i * WHOLE_BYTES))),
      ...when(isMore, doWhile([...step.flat(), ...set(count, subtract(get(count), whole(1)))], isMore)),
      ...words.flatMap((word, i) => storeWhole(get(state), get(word), i * WHOLE_BYTES)),
      // What follows the last chosen one.
      ...copy(get(rest), get(values), shiftLeft(get(count), 2)),
    ],
  };
}

export const treeRooms = new RoomMaker<TreeKernel>(() =>
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
