import { assemble, type WasmFunction } from '../wasm/assemble';
import {
  add,
  addNumbers,
  addPairs,
  addToFirst,
  both,
  type Code,
  constant,
  F64,
  get,
  I32,
  isBelow,
  loadNumber,
  loadPair,
  loadWhole,
  move,
  multiply,
  multiplyNumbers,
  multiplyPairs,
  set,
  storeNumber,
  storePair,
  sumOfPair,
  V128,
  whileLoop,
  whole,
} from '../wasm/instructions';
import { Locals } from '../wasm/locals';
import { RoomMaker } from '../wasm/scratch';

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

const NUMBER = 8;
const PAIR = 16;

function dot(together: number): WasmFunction {
  const all = new Locals();
  const [rows, end, features, even, length, weights, errors, stride] = all.parameters(8, I32);
  const at = all.more(together, I32);
  const [weight] = all.more(1, I32);
  const [ahead, behind] = [all.more(together, V128), all.more(together, V128)];
  const [first, second] = all.more(2, V128);
  const pairs: Code[] = [
    set(first, loadPair(get(weight))),
    set(second, loadPair(get(weight), PAIR)),
    ...at.flatMap((row, i) => [
      set(ahead[i], addPairs(get(ahead[i]), multiplyPairs(loadPair(get(row)), get(first)))),
      set(behind[i], addPairs(get(behind[i]), multiplyPairs(loadPair(get(row), PAIR), get(second)))),
      move(row, whole(2 * PAIR)),
    ]),
    move(weight, whole(2 * PAIR)),
  ];
  const rest: Code[] = [
    ...at.flatMap((row, i) => [
      addToFirst(ahead[i], multiplyNumbers(loadNumber(get(row)), loadNumber(get(weight)))),
      move(row, whole(NUMBER)),
    ]),
    move(weight, whole(NUMBER)),
  ];
  const step: Code[] = [
    ...at.flatMap((row, i) => [
      set(row, add(multiply(loadWhole(get(rows), i * 4), get(length)), get(features))),
      set(ahead[i], both(constant(0))),
      set(behind[i], both(constant(0))),
    ]),
    set(weight, get(weights)),
    whileLoop(isBelow(get(weight), add(get(weights), get(even))), pairs.flat()),
    whileLoop(isBelow(get(weight), add(get(weights), get(length))), rest.flat()),
    ...at.flatMap((_, i) => [
      storeNumber(get(errors), addNumbers(sumOfPair(ahead[i]), sumOfPair(behind[i]))),
      move(errors, get(stride)),
    ]),
    move(rows, whole(together * 4)),
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
    storePair(
      get(sum),
      at.reduce<Code>(
        (before, row, i) => addPairs(before, multiplyPairs(get(error[i]), loadPair(get(row)))),
        loadPair(get(sum)),
      ),
    ),
    ...at.map((row) => move(row, whole(PAIR))),
    move(sum, whole(PAIR)),
  ];
  const rest: Code[] = [
    storeNumber(
      get(sum),
      at.reduce<Code>(
        (before, row, i) => addNumbers(before, multiplyNumbers(get(single[i]), loadNumber(get(row)))),
        loadNumber(get(sum)),
      ),
    ),
    ...at.map((row) => move(row, whole(NUMBER))),
    move(sum, whole(NUMBER)),
  ];
  const step: Code[] = [
    ...at.flatMap((row, i) => [
      set(row, add(multiply(loadWhole(get(rows), i * 4), get(length)), get(features))),
      set(single[i], loadNumber(get(errors))),
      set(error[i], both(get(single[i]))),
      move(errors, get(stride)),
    ]),
    set(sum, get(sums)),
    whileLoop(isBelow(get(sum), add(get(sums), get(even))), pairs.flat()),
    whileLoop(isBelow(get(sum), add(get(sums), get(length))), rest.flat()),
    move(rows, whole(together * 4)),
  ];
  return all.function(whileLoop(isBelow(get(rows), get(end)), step.flat()));
}

export const slopeRooms = new RoomMaker<SlopeKernel>(() =>
  assemble({
    dotFour: dot(ROWS_TOGETHER),
    dotOne: dot(1),
    addFour: addRows(ROWS_TOGETHER),
    addOne: addRows(1),
  }),
);
