import { assemble, type WasmFunction } from '../wasm/assemble';
import { Exponential } from '../wasm/exponential';
import {
  absF64x2,
  add,
  addF64x2,
  andV128,
  type Code,
  differsF64x2,
  divideF64x2,
  F64,
  f64,
  get,
  I32,
  i32,
  isAbove,
  isBelow,
  lane0,
  lane1,
  loadF64,
  loadF64x2,
  loadSplat,
  move,
  multiplyF64x2,
  negateF64x2,
  NUMBER,
  PAIR,
  set,
  splat,
  storeF64,
  storeF64x2,
  subtractF64,
  subtractF64x2,
  V128,
  whenElse,
  whileLoop,
} from '../wasm/instructions';
import { Locals } from '../wasm/locals';
import { ScratchMemory } from '../wasm/scratch';

/** Pairs whose products are independent of each other. */
const PAIRS_TOGETHER = 4;
/** Positions that are handled together: a list of them is padded to a multiple. */
export const TOGETHER = 2 * PAIRS_TOGETHER;

/**
 * The loops of `MaternRows` with SIMD: the same operations in the same order, so results agree to the bit. Parameters are
 * addresses and lengths in bytes.
 */
export interface MaternKernel {
  /**
   * Writes the kernel between one position and others.
   *
   * @param dimensions a record of `RECORD` bytes per dimension, up to `dimensionsEnd`
   * @param others those of the first dimension; `length` leads to the next one
   * @param table of `Exponential`
   */
  row(
    dimensions: number,
    dimensionsEnd: number,
    others: number,
    length: number,
    table: number,
    out: number,
  ): void;
  /**
   * Writes the derivative of the sum by the logarithm of each dimension's rate.
   *
   * @param gaps of the first dimension; `length` leads to the next one
   * @param shares of all pairs, a multiple of two, up to `sharesEnd`
   * @param out receives a number per dimension
   */
  slopes(
    dimensions: number,
    dimensionsEnd: number,
    gaps: number,
    length: number,
    shares: number,
    sharesEnd: number,
    out: number,
  ): void;
}

/** What the kernel reads of a dimension: three numbers, the last of them 1 for a category, else 0. */
export const RECORD = { position: 0, rate: 8, isCategory: 16, bytes: 24 } as const;

/** s, the distance times the rate, of a pair at `at`. */
function scaledDistances(dimension: number, at: Code, offset: number, s: number): Code {
  const gap = subtractF64x2(loadSplat(get(dimension), RECORD.position), loadF64x2(at, offset));
  const rate = loadSplat(get(dimension), RECORD.rate);
  return whenElse(
    isAbove(loadF64(get(dimension), RECORD.isCategory), f64(0)),
    set(s, multiplyF64x2(rate, andV128(differsF64x2(gap, splat(f64(0))), splat(f64(1))))),
    set(s, multiplyF64x2(rate, absF64x2(gap))),
  );
}

function row(): WasmFunction {
  const all = new Locals();
  const [dimensions, dimensionsEnd, others, length, table, out] = all.parameters(6, I32);
  const [dimension, at, end] = all.more(3, I32);
  const factors = all.more(PAIRS_TOGETHER, V128);
  const sums = all.more(PAIRS_TOGETHER, V128);
  const [s, ones, threes] = all.more(3, V128);
  const exponential = new Exponential(all, table);
  const addDimension: Code[] = factors.flatMap((factor, i) => [
    scaledDistances(dimension, get(at), i * PAIR, s),
    set(
      factor,
      multiplyF64x2(
        get(factor),
        addF64x2(addF64x2(get(ones), get(s)), divideF64x2(multiplyF64x2(get(s), get(s)), get(threes))),
      ),
    ),
    set(sums[i], addF64x2(get(sums[i]), get(s))),
  ]);
  const step: Code[] = [
    ...factors.map((factor) => set(factor, get(ones))),
    ...sums.map((sum) => set(sum, splat(f64(0)))),
    set(dimension, get(dimensions)),
    set(at, get(others)),
    whileLoop(isBelow(get(dimension), get(dimensionsEnd)), [
      ...addDimension.flat(),
      ...move(at, get(length)),
      ...move(dimension, i32(RECORD.bytes)),
    ]),
    ...factors.flatMap((factor, i) => [
      set(sums[i], negateF64x2(get(sums[i]))),
      exponential.apply(sums[i]),
      storeF64x2(get(out), multiplyF64x2(get(factor), get(sums[i])), i * PAIR),
    ]),
    move(out, i32(PAIRS_TOGETHER * PAIR)),
    move(others, i32(PAIRS_TOGETHER * PAIR)),
  ];
  return all.function([
    ...set(ones, splat(f64(1))),
    ...set(threes, splat(f64(3))),
    ...exponential.open(),
    ...set(end, add(get(others), get(length))),
    ...whileLoop(isBelow(get(others), get(end)), step.flat()),
  ]);
}

function slopes(): WasmFunction {
  const all = new Locals();
  const [dimensions, dimensionsEnd, gaps, length, shares, sharesEnd, out] = all.parameters(7, I32);
  const [share, at] = all.more(2, I32);
  const [slope] = all.more(1, F64);
  const [s, term, rate, squared, ones, threes] = all.more(6, V128);
  const pair: Code[] = [
    set(s, multiplyF64x2(get(rate), loadF64x2(get(at)))),
    set(squared, multiplyF64x2(get(s), get(s))),
    set(
      term,
      divideF64x2(
        multiplyF64x2(
          multiplyF64x2(multiplyF64x2(loadF64x2(get(share)), get(s)), get(s)),
          addF64x2(get(ones), get(s)),
        ),
        addF64x2(addF64x2(get(threes), multiplyF64x2(get(threes), get(s))), get(squared)),
      ),
    ),
    set(slope, subtractF64(subtractF64(get(slope), lane0(get(term))), lane1(get(term)))),
    move(at, i32(PAIR)),
    move(share, i32(PAIR)),
  ];
  return all.function([
    ...set(ones, splat(f64(1))),
    ...set(threes, splat(f64(3))),
    ...whileLoop(isBelow(get(dimensions), get(dimensionsEnd)), [
      ...set(rate, loadSplat(get(dimensions), RECORD.rate)),
      ...set(at, get(gaps)),
      ...set(share, get(shares)),
      ...set(slope, f64(0)),
      ...whileLoop(isBelow(get(share), get(sharesEnd)), pair.flat()),
      ...storeF64(get(out), get(slope)),
      ...move(out, i32(NUMBER)),
      ...move(gaps, get(length)),
      ...move(dimensions, i32(RECORD.bytes)),
    ]),
  ]);
}

export const maternScratch = new ScratchMemory<MaternKernel>(() =>
  assemble({ row: row(), slopes: slopes() }),
);
