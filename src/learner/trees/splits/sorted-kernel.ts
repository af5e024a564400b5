import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  addF64,
  addF64x2,
  and,
  andV128,
  type Code,
  divideF64,
  F64,
  f64,
  get,
  I32,
  i32,
  isAbove,
  isAboveF64x2,
  isAtLeast,
  isAtLeastF64x2,
  isBelow,
  lane0,
  lane1,
  loadF64,
  loadI32,
  loadI32x2,
  loadU8,
  loadU16,
  makeF64x2,
  maxF64,
  move,
  multiplyF64,
  multiplyF64x2,
  set,
  shiftLeft,
  shiftRight,
  signBitsF64x2,
  splat,
  storeF64,
  storeI32,
  subtract,
  subtractF64,
  subtractF64x2,
  upperHalvesDiffer,
  V128,
  when,
  whileLoop,
  xor,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import { ScratchMemory } from '../../wasm/scratch';
import { KNOWN, ROW_BITS } from './sorted-lists';

/*
 * The loops of `SortedRows` as WebAssembly: without bounds to check, and with the gains of two borders worked out side by
 * side. They compare the same numbers in the same order, so the result is the same to the bit. A key is a bin and a row in
 * one number (`ROW_BITS`); parameters without a type are addresses or lengths in bytes.
 */

/** What `search` found, at its address: see `FOUND`. */
export interface SortedKernel {
  /** As `copyMarked`. `end`: behind the last key. */
  copyMarked(keys: number, end: number, marks: number, to: number): void;
  /** As `divideList`, of several lists; `stride` is the distance of one list to the next one. */
  divideLists(
    from: number,
    to: number,
    stride: number,
    endOfLists: number,
    marks: number,
    start: number,
    middle: number,
    end: number,
  ): void;
  /** As `searchPlain` of several lists, one after the other. `gradients`: per row of the table. */
  searchPlain: Search;
  /** As `searchSorted`. `gradients`: per row of the table its gradient and its hessian. */
  searchSorted: Search;
}

/**
 * @param start of the node in each list, as `end`
 * @param total gradient of the node
 * @param totalHessian its hessian, or its rows
 * @param gain of the best split so far; `found` names the list with a better one
 */
type Search = (
  lists: number,
  stride: number,
  endOfLists: number,
  start: number,
  end: number,
  gradients: number,
  found: number,
  total: number,
  totalHessian: number,
  lambda: number,
  least: number,
  minGain: number,
  gain: number,
) => void;

/** Layout of a search result, in 32-bit words; `gain`, `hessian` and `missing` take two. */
export const FOUND = { gain: 0, hessian: 2, missing: 4, list: 6, bin: 7, withMissing: 8, words: 10 } as const;

const KEY = 4;

function copyMarked(): WasmFunction {
  const all = new Locals();
  const [keys, end, marks, to] = all.parameters(4, I32);
  const [key] = all.more(1, I32);
  return all.function(
    whileLoop(isBelow(get(keys), get(end)), [
      ...set(key, loadI32(get(keys))),
      ...storeI32(get(to), get(key)),
      ...move(to, shiftLeft(loadU8(add(get(marks), loadU16(get(keys)))), 2)),
      ...move(keys, i32(KEY)),
    ]),
  );
}

function divideLists(): WasmFunction {
  const all = new Locals();
  const [from, to, stride, endOfLists, marks, start, middle, end] = all.parameters(8, I32);
  const [at, stop, left, right, step] = all.more(5, I32);
  const each: Code[] = [
    set(at, add(get(from), get(start))),
    set(stop, add(get(from), get(end))),
    set(left, add(get(to), get(start))),
    set(right, add(get(to), get(middle))),
    whileLoop(isBelow(get(at), get(stop)), [
      ...set(step, shiftLeft(loadU8(add(get(marks), loadU16(get(at)))), 2)),
      // `left` or `right`, without an unpredictable branch.
      ...storeI32(
        xor(get(right), and(xor(get(left), get(right)), subtract(i32(0), shiftRight(get(step), 2)))),
        loadI32(get(at)),
      ),
      ...move(left, get(step)),
      ...move(right, subtract(i32(KEY), get(step))),
      ...move(at, i32(KEY)),
    ]),
    move(from, get(stride)),
    move(to, get(stride)),
  ];
  return all.function(whileLoop(isBelow(get(from), get(endOfLists)), each.flat()));
}

function search(isPlain: boolean): WasmFunction {
  const all = new Locals();
  const [lists, stride, endOfLists, start, end, gradients, out] = all.parameters(7, I32);
  const [total, totalHessian, lambda, least, minGain, gain] = all.parameters(6, F64);
  const [first, at, stop, pairsEnd, known, row, pass, found, foundPass, signs, key, list] = all.more(12, I32);
  const [gradient, hessian, missing, missingHessian, parent, top, foundHessian] = all.more(7, F64);
  const [one, rest, other, below, above, scaled] = all.more(6, F64);
  const [G, H, R, O, B, A, S, mask] = all.more(8, V128);
  const [totals, totalHessians, lambdas, leasts, tops, twos] = all.more(6, V128);

  const bits = isPlain ? 3 : 4;
  const place = (of: Code): Code => add(get(gradients), shiftLeft(of, bits));
  const gradientAt = loadF64(get(row));
  const hessianAt = isPlain ? f64(1) : loadF64(get(row), 8);
  const addRow: Code = [
    ...set(gradient, addF64(get(gradient), gradientAt)),
    ...set(hessian, addF64(get(hessian), hessianAt)),
  ];

  /** A border has been found that is better than all before it. */
  const take = (bin: Code, scaledBy: Code, product: Code, ownHessian: Code): Code => [
    ...set(top, divideF64(scaledBy, product)),
    ...set(tops, splat(get(top))),
    ...set(found, shiftRight(bin, ROW_BITS)),
    ...set(foundHessian, ownHessian),
    ...set(foundPass, get(pass)),
  ];
  const product = multiplyF64x2(get(B), get(A));
  const takeLane = (lane: 0 | 1): Code => {
    const of = lane === 0 ? lane0 : lane1;
    return when(
      and(get(signs), i32(lane + 1)),
      when(
        isAbove(of(get(S)), multiplyF64(get(top), of(get(mask)))),
        take(loadI32(get(at), lane * KEY), of(get(S)), of(get(mask)), of(get(H))),
      ),
    );
  };
  const pairStep: Code[] = [
    set(row, place(loadU16(get(at)))),
    set(gradient, addF64(get(gradient), gradientAt)),
    set(one, get(gradient)),
    isPlain ? [] : set(hessian, addF64(get(hessian), hessianAt)),
    isPlain ? [] : set(rest, get(hessian)),
    set(row, place(loadU16(get(at), KEY))),
    set(gradient, addF64(get(gradient), gradientAt)),
    isPlain ? [] : set(hessian, addF64(get(hessian), hessianAt)),
    set(G, makeF64x2(get(one), get(gradient))),
    isPlain ? set(H, addF64x2(get(H), get(twos))) : set(H, makeF64x2(get(rest), get(hessian))),
    set(R, subtractF64x2(get(totalHessians), get(H))),
    set(O, subtractF64x2(get(totals), get(G))),
    set(B, addF64x2(get(H), get(lambdas))),
    set(A, addF64x2(get(R), get(lambdas))),
    set(
      S,
      addF64x2(
        multiplyF64x2(multiplyF64x2(get(G), get(G)), get(A)),
        multiplyF64x2(multiplyF64x2(get(O), get(O)), get(B)),
      ),
    ),
    set(
      signs,
      signBitsF64x2(
        andV128(
          andV128(isAtLeastF64x2(get(H), get(leasts)), isAtLeastF64x2(get(R), get(leasts))),
          andV128(
            upperHalvesDiffer(loadI32x2(get(at)), loadI32x2(get(at), KEY)),
            isAboveF64x2(get(S), multiplyF64x2(get(tops), product)),
          ),
        ),
      ),
    ),
    when(get(signs), [...set(mask, product), ...takeLane(0), ...takeLane(1)]),
    move(at, i32(2 * KEY)),
  ];
  const singleStep: Code[] = [
    set(row, place(loadU16(get(at)))),
    addRow,
    set(key, loadI32(get(at))),
    // Behind the last key there is a border.
    when(isBelow(add(get(at), i32(KEY)), get(stop)), set(key, xor(get(key), loadI32(get(at), KEY)))),
    set(rest, subtractF64(get(totalHessian), get(hessian))),
    when(
      and(
        and(isAtLeast(get(hessian), get(least)), isAtLeast(get(rest), get(least))),
        isBelow(i32(KNOWN - 1), get(key)),
      ),
      [
        ...set(other, subtractF64(get(total), get(gradient))),
        ...set(below, addF64(get(hessian), get(lambda))),
        ...set(above, addF64(get(rest), get(lambda))),
        ...set(
          scaled,
          addF64(
            multiplyF64(multiplyF64(get(gradient), get(gradient)), get(above)),
            multiplyF64(multiplyF64(get(other), get(other)), get(below)),
          ),
        ),
        ...set(above, multiplyF64(get(below), get(above))),
        ...when(
          isAbove(get(scaled), multiplyF64(get(top), get(above))),
          take(loadI32(get(at)), get(scaled), get(above), get(hessian)),
        ),
      ],
    ),
    move(at, i32(KEY)),
  ];
  const scan: Code[] = [
    set(at, get(known)),
    isPlain ? set(H, addF64x2(splat(get(hessian)), makeF64x2(f64(-1), f64(0)))) : [],
    whileLoop(isBelow(add(get(at), i32(KEY)), get(pairsEnd)), pairStep.flat()),
    isPlain ? set(hessian, lane1(get(H))) : [],
    whileLoop(isBelow(get(at), get(stop)), singleStep.flat()),
  ];
  const each: Code[] = [
    set(first, add(get(lists), get(start))),
    set(stop, add(get(lists), get(end))),
    set(known, get(first)),
    set(missing, f64(0)),
    set(missingHessian, f64(0)),
    set(gradient, f64(0)),
    set(hessian, f64(0)),
    whileLoop(and(isBelow(get(known), get(stop)), isBelow(loadI32(get(known)), i32(KNOWN))), [
      ...set(row, place(loadU16(get(known)))),
      ...addRow,
      ...move(known, i32(KEY)),
    ]),
    set(missing, get(gradient)),
    set(missingHessian, get(hessian)),
    set(found, i32(0)),
    // Two keys at a time where a third one follows.
    set(pairsEnd, subtract(get(stop), i32(KEY))),
    set(gradient, f64(0)),
    set(hessian, f64(0)),
    set(pass, i32(0)),
    scan.flat(),
    when(isAbove(get(missingHessian), f64(0)), [
      ...set(gradient, get(missing)),
      ...set(hessian, get(missingHessian)),
      ...set(pass, i32(1)),
      ...scan.flat(),
    ]),
    when(get(found), [
      ...set(gain, subtractF64(get(top), get(parent))),
      ...storeF64(get(out), get(gain), FOUND.gain * 4),
      ...storeF64(get(out), get(foundHessian), FOUND.hessian * 4),
      ...storeF64(get(out), get(missingHessian), FOUND.missing * 4),
      ...storeI32(get(out), get(list), FOUND.list * 4),
      ...storeI32(get(out), get(found), FOUND.bin * 4),
      ...storeI32(get(out), get(foundPass), FOUND.withMissing * 4),
      ...set(top, addF64(maxF64(get(gain), get(minGain)), get(parent))),
      ...set(tops, splat(get(top))),
    ]),
    move(lists, get(stride)),
    move(list, i32(1)),
  ];
  return all.function([
    ...storeI32(get(out), i32(-1), FOUND.list * 4),
    ...set(parent, divideF64(multiplyF64(get(total), get(total)), addF64(get(totalHessian), get(lambda)))),
    ...set(top, addF64(maxF64(get(gain), get(minGain)), get(parent))),
    ...set(tops, splat(get(top))),
    ...set(totals, splat(get(total))),
    ...set(totalHessians, splat(get(totalHessian))),
    ...set(lambdas, splat(get(lambda))),
    ...set(leasts, splat(get(least))),
    ...set(twos, splat(f64(2))),
    ...whileLoop(isBelow(get(lists), get(endOfLists)), each.flat()),
  ]);
}

export const sortedScratch = new ScratchMemory<SortedKernel>(() =>
  assemble({
    copyMarked: copyMarked(),
    divideLists: divideLists(),
    searchPlain: search(true),
    searchSorted: search(false),
  }),
);
