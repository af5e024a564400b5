import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  addF64x2,
  and,
  andV128,
  bytes16,
  type Code,
  copy,
  get,
  I32,
  i32,
  isBelow,
  isEqualI8x16,
  loadF64x2,
  loadI32,
  loadSplat,
  loadU8,
  loadV128,
  maxU8x16,
  minU8x16,
  move,
  multiply,
  NUMBER,
  PAIR,
  set,
  shiftLeft,
  shuffle,
  storeF64x2,
  storeI32,
  storeV128,
  subtract,
  subtractI8x16,
  swizzle,
  V128,
  whileLoop,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import { ScratchMemory } from '../../wasm/scratch';

/** Columns of a block: a byte of a vector each. */
export const BLOCK = 16;
/** Columns whose numbers are summed together. */
export const SUMMED = 8;
/** Most rows per call: counts are bytes. */
export const MOST_COUNTED = 255;

/*
 * The loops of `NodeRows` with SIMD: sixteen columns of a row are one vector of bins. Parameters are addresses and
 * lengths in bytes, except for `first` and `bins`.
 */
export interface NodeRowsKernel {
  /**
   * The lowest and the highest bin of sixteen columns.
   *
   * @param list rows, up to `end`
   * @param block the sixteen columns of the first row of the table; `stride` leads to the next row
   * @param out receives sixteen lowest bins less one, so that missing values (bin 0) come last; then sixteen highest
   *   bins; then sixteen lowest ones
   */
  rangeOf(list: number, end: number, block: number, stride: number, out: number): void;
  /**
   * Counts the rows of each class that go left, by up to sixteen splits at once.
   *
   * @param end at most `MOST_COUNTED` rows behind `list`
   * @param splits sixteen columns within the block, sixteen first bins that go left, sixteen last ones less the first
   * @param codes a byte per row of the table
   * @param out up to `outEnd`: per class, sixteen counts
   */
  countClasses(
    list: number,
    end: number,
    block: number,
    stride: number,
    splits: number,
    codes: number,
    out: number,
    outEnd: number,
  ): void;
  /**
   * Adds up the values of the rows that go left, by up to eight splits at once, and counts these rows.
   *
   * @param end at most `MOST_COUNTED` rows behind `list`
   * @param splits as of `countClasses`
   * @param values a number per row of the table
   * @param out eight sums, which are added to; then sixteen counts, which are overwritten
   */
  sumValues(
    list: number,
    end: number,
    block: number,
    stride: number,
    splits: number,
    values: number,
    out: number,
  ): void;
  /**
   * Moves the rows of a node that go left before the others; both keep their order.
   *
   * @param spare for as many rows
   * @param column the bin of the first row of the table
   * @param bins how many go left, from `first` on
   * @returns the address behind the last row that went left
   */
  divide(
    list: number,
    end: number,
    spare: number,
    column: number,
    stride: number,
    first: number,
    bins: number,
  ): number;
}

const ROW = 4;

/** Where a row is, by its number at `list`. */
const placeOf = (list: number, stride: number): Code => multiply(loadI32(get(list)), get(stride));

function rangeOf(): WasmFunction {
  const all = new Locals();
  const [list, end, block, stride, out] = all.parameters(5, I32);
  const [bins, low, lowest, high, ones] = all.more(5, V128);
  const bytes = (value: number): Code => bytes16(new Array<number>(BLOCK).fill(value));
  return all.function([
    ...set(ones, bytes(1)),
    ...set(low, bytes(255)),
    ...set(lowest, bytes(255)),
    ...whileLoop(isBelow(get(list), get(end)), [
      ...set(bins, loadV128(add(get(block), placeOf(list, stride)))),
      ...set(low, minU8x16(get(low), subtractI8x16(get(bins), get(ones)))),
      ...set(high, maxU8x16(get(high), get(bins))),
      ...set(lowest, minU8x16(get(lowest), get(bins))),
      ...move(list, i32(ROW)),
    ]),
    ...storeV128(get(out), get(low)),
    ...storeV128(get(out), get(high), BLOCK),
    ...storeV128(get(out), get(lowest), 2 * BLOCK),
  ]);
}

/** A row goes left if its bin, less the split's first bin, is at most the last bin less the first. */
class Sides {
  private readonly places: number;
  private readonly firsts: number;
  private readonly lasts: number;
  private readonly bins: number;

  constructor(all: Locals) {
    [this.places, this.firsts, this.lasts, this.bins] = all.more(4, V128);
  }

  open(splits: number): Code {
    return [
      ...set(this.places, loadV128(get(splits))),
      ...set(this.firsts, loadV128(get(splits), BLOCK)),
      ...set(this.lasts, loadV128(get(splits), 2 * BLOCK)),
    ];
  }

  /** Per byte, all bits set where the row at `address` goes left. */
  of(address: Code): Code {
    const { places, firsts, lasts, bins } = this;
    return [
      ...set(bins, subtractI8x16(swizzle(loadV128(address), get(places)), get(firsts))),
      ...isEqualI8x16(minU8x16(get(bins), get(lasts)), get(bins)),
    ];
  }
}

function countClasses(): WasmFunction {
  const all = new Locals();
  const [list, end, block, stride, splits, codes, out, outEnd] = all.parameters(8, I32);
  const [at] = all.more(1, I32);
  const sides = new Sides(all);
  const [zeros] = all.more(1, V128);
  return all.function([
    ...set(at, get(out)),
    ...whileLoop(isBelow(get(at), get(outEnd)), [...storeV128(get(at), get(zeros)), ...move(at, i32(BLOCK))]),
    ...sides.open(splits),
    ...whileLoop(isBelow(get(list), get(end)), [
      ...set(at, add(get(out), shiftLeft(loadU8(add(get(codes), loadI32(get(list)))), 4))),
      // A side is -1 or 0.
      ...storeV128(
        get(at),
        subtractI8x16(loadV128(get(at)), sides.of(add(get(block), placeOf(list, stride)))),
      ),
      ...move(list, i32(ROW)),
    ]),
  ]);
}

function sumValues(): WasmFunction {
  const all = new Locals();
  const [list, end, block, stride, splits, values, out] = all.parameters(7, I32);
  const sides = new Sides(all);
  const sums = all.more(SUMMED / 2, V128);
  const [side, counts, value] = all.more(3, V128);
  /** The side of two splits as masks of two numbers. */
  const masks = (pair: number) =>
    shuffle(
      side,
      Array.from({ length: BLOCK }, (_, byte) => 2 * pair + (byte < NUMBER ? 0 : 1)),
    );
  return all.function([
    ...sides.open(splits),
    ...sums.flatMap((sum, pair) => set(sum, loadF64x2(get(out), pair * PAIR))),
    ...whileLoop(isBelow(get(list), get(end)), [
      ...set(side, sides.of(add(get(block), placeOf(list, stride)))),
      ...set(counts, subtractI8x16(get(counts), get(side))),
      ...set(value, loadSplat(add(get(values), shiftLeft(loadI32(get(list)), 3)))),
      ...sums.flatMap((sum, pair) => set(sum, addF64x2(get(sum), andV128(get(value), masks(pair))))),
      ...move(list, i32(ROW)),
    ]),
    ...sums.flatMap((sum, pair) => storeF64x2(get(out), get(sum), pair * PAIR)),
    ...storeV128(get(out), get(counts), SUMMED * NUMBER),
  ]);
}

function divide(): WasmFunction {
  const all = new Locals();
  const [list, end, spare, column, stride, first, bins] = all.parameters(7, I32);
  const [left, right, row, step] = all.more(4, I32);
  const bin = loadU8(add(get(column), multiply(get(row), get(stride))));
  return {
    ...all.function([
      ...set(left, get(list)),
      ...set(right, get(spare)),
      ...whileLoop(isBelow(get(list), get(end)), [
        ...set(row, loadI32(get(list))),
        // Every row is written to both sides and counted on one: a branch would be mispredicted.
        ...storeI32(get(left), get(row)),
        ...storeI32(get(right), get(row)),
        ...set(step, shiftLeft(isBelow(and(subtract(bin, get(first)), i32(255)), get(bins)), 2)),
        ...move(left, get(step)),
        ...move(right, subtract(i32(ROW), get(step))),
        ...move(list, i32(ROW)),
      ]),
      ...copy(get(left), get(spare), subtract(get(right), get(spare))),
      ...get(left),
    ]),
    result: I32,
  };
}

export const nodeRowsScratch = new ScratchMemory<NodeRowsKernel>(() =>
  assemble({
    rangeOf: rangeOf(),
    countClasses: countClasses(),
    sumValues: sumValues(),
    divide: divide(),
  }),
);
