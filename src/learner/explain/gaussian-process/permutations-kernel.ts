import type { WasmFunction } from '../../wasm/assemble';
import {
  add,
  addF64,
  addF64x2,
  addToLane0,
  and,
  type Code,
  copy,
  divideF64,
  divideF64x2,
  F64,
  f64,
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
  notEqual,
  NUMBER,
  PAIR,
  set,
  shiftRight,
  splat,
  storeF64,
  storeF64x2,
  subtractF64,
  sumLanes,
  V128,
  when,
  whenElse,
  whileLoop,
  xor,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';

/*
 * The inner loops of `product-permutations.ts` with SIMD: the same operations in the same order, so that results
 * agree to the bit. Parameters are addresses and lengths in bytes, except for `mask`: background rows, as bits.
 */
export interface PermutationsKernel {
  /** Divides the same dividends by each row of divisors in turn, up to `quotientsEnd`. */
  divide(dividends: number, divisors: number, length: number, quotients: number, quotientsEnd: number): void;
  /**
   * `changesAlong` for all permutations; `changes` start at 0.
   *
   * @param rowRatios bytes of a background row's ratios
   * @param places `ProductBuffers.places`, up to `placesEnd`
   * @param weightsByFours weights of all outputs for four points at a time, then point by point
   * @param permutation bytes of a permutation's places
   * @param row bytes of the places of all permutations of a background row
   * @param kernel scratch for the kernel at all points and a score per output
   */
  follow(
    starts: number,
    ratios: number,
    rowRatios: number,
    places: number,
    placesEnd: number,
    permutation: number,
    row: number,
    mask: number,
    points: number,
    weights: number,
    weightsByFours: number,
    base: number,
    outputs: number,
    kernel: number,
    changes: number,
  ): void;
}

const FOUR = 32;
/** Most outputs whose scores are computed together: more sums would not fit in registers. */
const MAX_OUTPUTS_AT_ONCE = 6;

export function divide(): WasmFunction {
  const all = new Locals();
  const [dividends, divisors, length, quotients, quotientsEnd] = all.parameters(5, I32);
  const [at, end] = all.more(2, I32);
  return all.function(
    whileLoop(isBelow(get(quotients), get(quotientsEnd)), [
      ...set(at, get(dividends)),
      ...set(end, add(get(dividends), and(get(length), i32(-PAIR)))),
      ...whileLoop(isBelow(get(at), get(end)), [
        ...storeF64x2(get(quotients), divideF64x2(loadF64x2(get(at)), loadF64x2(get(divisors)))),
        ...[at, divisors, quotients].flatMap((local) => move(local, i32(PAIR))),
      ]),
      ...when(and(get(length), i32(NUMBER)), [
        ...storeF64(get(quotients), divideF64(loadF64(get(at)), loadF64(get(divisors)))),
        ...move(divisors, i32(NUMBER)),
        ...move(quotients, i32(NUMBER)),
      ]),
    ]),
  );
}

export function follow(): WasmFunction {
  const all = new Locals();
  const [starts, ratios, rowRatios, places, placesEnd] = all.parameters(5, I32);
  const [permutation, row, mask, points, weights, weightsByFours] = all.parameters(6, I32);
  const [base, outputs, kernel, changes] = all.parameters(4, I32);
  const [rowEnd, permutationEnd, at, end, by, fours, scores, scoresEnd] = all.more(8, I32);
  const [score, baseAt, to] = all.more(3, I32);
  const [sum] = all.more(1, F64);
  const [ab, cd, pair] = all.more(3, V128);

  /** Sums a value per point into `sum`, in four partial sums as `multiply` and `weigh` do. Advances `by`. */
  const sumUp = (pairAt: (offset: number) => Code, one: Code): Code => [
    ...set(ab, splat(f64(0))),
    ...set(cd, get(ab)),
    ...set(at, get(kernel)),
    ...set(end, add(get(kernel), get(fours))),
    ...whileLoop(isBelow(get(at), get(end)), [
      ...pairAt(0),
      ...set(ab, addF64x2(get(ab), get(pair))),
      ...pairAt(PAIR),
      ...set(cd, addF64x2(get(cd), get(pair))),
      ...move(at, i32(FOUR)),
      ...move(by, i32(FOUR)),
    ]),
    ...set(end, add(get(kernel), get(points))),
    ...whileLoop(isBelow(get(at), get(end)), [
      ...one,
      ...addToLane0(ab, get(sum)),
      ...move(at, i32(NUMBER)),
      ...move(by, i32(NUMBER)),
    ]),
    ...set(sum, addF64(sumLanes(ab), sumLanes(cd))),
  ];
  const weighed = sumUp(
    (offset) => set(pair, multiplyF64x2(loadF64x2(get(by), offset), loadF64x2(get(at), offset))),
    set(sum, multiplyF64(loadF64(get(by)), loadF64(get(at)))),
  );
  const multiplied = sumUp(
    (offset) => [
      ...set(pair, multiplyF64x2(loadF64x2(get(at), offset), loadF64x2(get(by), offset))),
      ...storeF64x2(get(at), get(pair), offset),
    ],
    [...set(sum, multiplyF64(loadF64(get(at)), loadF64(get(by)))), ...storeF64(get(at), get(sum))],
  );
  /** Computes each score, and writes what `made` makes of it and of the previous one. */
  const weighAll = (made: Code): Code => [
    ...set(by, get(weights)),
    ...set(baseAt, get(base)),
    ...set(score, get(scores)),
    ...whileLoop(isBelow(get(score), get(scoresEnd)), [
      ...weighed,
      ...storeF64(get(to), made),
      ...storeF64(get(score), get(sum)),
      ...[score, baseAt, to].flatMap((local) => move(local, i32(NUMBER))),
    ]),
  ];
  const change = subtractF64(get(sum), loadF64(get(score)));
  const [weightAt] = all.more(1, I32);
  const firsts = all.more(MAX_OUTPUTS_AT_ONCE, V128);
  const seconds = all.more(MAX_OUTPUTS_AT_ONCE, V128);
  /** `multiplied`, with the sums of `weighAll` for several outputs in the same pass. */
  const multipliedAndWeighed = (count: number): Code => {
    const each = (code: (k: number) => Code): Code => Array.from({ length: count }, (_, k) => code(k)).flat();
    const addHalf = (sums: number[], offset: number): Code => [
      ...set(pair, multiplyF64x2(loadF64x2(get(at), offset), loadF64x2(get(by), offset))),
      ...storeF64x2(get(at), get(pair), offset),
      ...each((k) =>
        set(
          sums[k],
          addF64x2(get(sums[k]), multiplyF64x2(loadF64x2(get(weightAt), k * FOUR + offset), get(pair))),
        ),
      ),
    ];
    return [
      ...each((k) => [...set(firsts[k], splat(f64(0))), ...set(seconds[k], splat(f64(0)))]),
      ...set(at, get(kernel)),
      ...set(weightAt, get(weightsByFours)),
      ...set(end, add(get(kernel), get(fours))),
      ...whileLoop(isBelow(get(at), get(end)), [
        ...addHalf(firsts, 0),
        ...addHalf(seconds, PAIR),
        ...move(at, i32(FOUR)),
        ...move(by, i32(FOUR)),
        ...move(weightAt, i32(count * FOUR)),
      ]),
      ...set(end, add(get(kernel), get(points))),
      ...whileLoop(isBelow(get(at), get(end)), [
        ...set(sum, multiplyF64(loadF64(get(at)), loadF64(get(by)))),
        ...storeF64(get(at), get(sum)),
        ...each((k) => addToLane0(firsts[k], multiplyF64(loadF64(get(weightAt), k * NUMBER), get(sum)))),
        ...move(at, i32(NUMBER)),
        ...move(by, i32(NUMBER)),
        ...move(weightAt, i32(count * NUMBER)),
      ]),
      ...each((k) => [
        ...set(sum, addF64(sumLanes(firsts[k]), sumLanes(seconds[k]))),
        ...storeF64(get(to), subtractF64(get(sum), loadF64(get(scores), k * NUMBER)), k * NUMBER),
        ...storeF64(get(scores), get(sum), k * NUMBER),
      ]),
      ...move(to, i32(count * NUMBER)),
    ];
  };
  const takeStep = Array.from({ length: MAX_OUTPUTS_AT_ONCE - 1 }, (_, i) => i + 2).reduce<Code>(
    (otherwise, count) =>
      whenElse(notEqual(get(outputs), i32(count * NUMBER)), otherwise, multipliedAndWeighed(count)),
    [...multiplied, ...weighAll(change)],
  );
  // With a single output, the weights are multiplied into the kernel.
  const isWeighted = isBelow(get(outputs), i32(NUMBER + 1));
  const followPermutation: Code = [
    ...copy(get(kernel), get(starts), get(points)),
    ...set(to, get(changes)),
    ...weighAll(addF64(loadF64(get(baseAt)), get(sum))),
    ...when(isWeighted, [...set(by, get(weights)), ...multiplied]),
    ...set(permutationEnd, add(get(places), get(permutation))),
    ...move(places, i32(4)),
    ...whileLoop(isBelow(get(places), get(permutationEnd)), [
      ...set(by, loadI32(get(places))),
      ...whenElse(
        xor(get(by), i32(-1)),
        [
          ...move(by, get(ratios)),
          ...whenElse(
            isWeighted,
            [
              ...multiplied,
              ...storeF64(get(to), subtractF64(get(sum), loadF64(get(scores)))),
              ...storeF64(get(scores), get(sum)),
              ...move(to, i32(NUMBER)),
            ],
            takeStep,
          ),
        ],
        move(to, get(outputs)),
      ),
      ...move(places, i32(4)),
    ]),
    ...set(changes, get(to)),
  ];
  return all.function([
    ...set(scores, add(get(kernel), get(points))),
    ...set(scoresEnd, add(get(scores), get(outputs))),
    ...set(fours, and(get(points), i32(-FOUR))),
    ...whileLoop(isBelow(get(places), get(placesEnd)), [
      ...set(rowEnd, add(get(places), get(row))),
      ...whenElse(and(get(mask), i32(1)), whileLoop(isBelow(get(places), get(rowEnd)), followPermutation), [
        // Skips as many scores as there are places, at four bytes each.
        ...move(changes, multiply(shiftRight(get(row), 2), get(outputs))),
        ...set(places, get(rowEnd)),
      ]),
      ...set(mask, shiftRight(get(mask), 1)),
      ...move(starts, get(points)),
      ...move(ratios, get(rowRatios)),
    ]),
  ]);
}
