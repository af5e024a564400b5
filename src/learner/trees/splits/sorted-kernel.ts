import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  addNumbers,
  addPairs,
  and,
  andPairs,
  both,
  type Code,
  constant,
  divideNumbers,
  F64,
  firstOf,
  get,
  I32,
  isAbove,
  isAtLeast,
  isBelow,
  isPairAbove,
  isPairAtLeast,
  largerOf,
  loadByte,
  loadHalf,
  loadNumber,
  loadTwoWholes,
  loadWhole,
  move,
  multiplyNumbers,
  multiplyPairs,
  pairOf,
  secondOf,
  set,
  shiftLeft,
  shiftRight,
  signsOfPair,
  storeNumber,
  storeWhole,
  subtract,
  subtractNumbers,
  subtractPairs,
  upperHalvesDiffer,
  V128,
  when,
  whileLoop,
  whole,
  xor,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import { RoomMaker } from '../../wasm/scratch';

/*
 * The loops of `SortedRows` as WebAssembly: without bounds to check, and with the gains of two borders worked out side by
 * side. They compare the same numbers in the same order, so the result is the same to the bit. A key is a row and its bin
 * in one number; all parameters without a type are addresses or lengths in bytes.
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
 * @param gain of the best split so far; the list that has a better one is told in `found`
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

/** What a search leaves, in whole numbers from its address on: `gain` and `hessian` are of 64 bits. */
export const FOUND = { gain: 0, hessian: 2, missing: 4, list: 6, bin: 7, withMissing: 8, words: 10 } as const;

const KEY = 4;
const ROW_BITS = 16;
const KNOWN = 1 << ROW_BITS;

function copyMarked(): WasmFunction {
  const all = new Locals();
  const [keys, end, marks, to] = all.parameters(4, I32);
  const [key] = all.more(1, I32);
  return all.function(
    whileLoop(isBelow(get(keys), get(end)), [
      ...set(key, loadWhole(get(keys))),
      ...storeWhole(get(to), get(key)),
      ...move(to, shiftLeft(loadByte(add(get(marks), loadHalf(get(keys)))), 2)),
      ...move(keys, whole(KEY)),
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
      ...set(step, shiftLeft(loadByte(add(get(marks), loadHalf(get(at)))), 2)),
      // `left` or `right`, without an unpredictable branch.
      ...storeWhole(
        xor(get(right), and(xor(get(left), get(right)), subtract(whole(0), shiftRight(get(step), 2)))),
        loadWhole(get(at)),
      ),
      ...move(left, get(step)),
      ...move(right, subtract(whole(KEY), get(step))),
      ...move(at, whole(KEY)),
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
  const gradientAt = loadNumber(get(row));
  const hessianAt = isPlain ? constant(1) : loadNumber(get(row), 8);
  const addRow: Code = [
    ...set(gradient, addNumbers(get(gradient), gradientAt)),
    ...set(hessian, addNumbers(get(hessian), hessianAt)),
  ];

  /** A border has been found that is better than all before it. */
  const take = (bin: Code, scaledBy: Code, product: Code, ownHessian: Code): Code => [
    ...set(top, divideNumbers(scaledBy, product)),
    ...set(tops, both(get(top))),
    ...set(found, shiftRight(bin, ROW_BITS)),
    ...set(foundHessian, ownHessian),
    ...set(foundPass, get(pass)),
  ];
  const product = multiplyPairs(get(B), get(A));
  const takeLane = (lane: 0 | 1): Code => {
    const of = lane === 0 ? firstOf : secondOf;
    return when(
      and(get(signs), whole(lane + 1)),
      when(
        isAbove(of(get(S)), multiplyNumbers(get(top), of(get(mask)))),
        take(loadWhole(get(at), lane * KEY), of(get(S)), of(get(mask)), of(get(H))),
      ),
    );
  };
  const pairStep: Code[] = [
    set(row, place(loadHalf(get(at)))),
    set(gradient, addNumbers(get(gradient), gradientAt)),
    set(one, get(gradient)),
    isPlain ? [] : set(hessian, addNumbers(get(hessian), hessianAt)),
    isPlain ? [] : set(rest, get(hessian)),
    set(row, place(loadHalf(get(at), KEY))),
    set(gradient, addNumbers(get(gradient), gradientAt)),
    isPlain ? [] : set(hessian, addNumbers(get(hessian), hessianAt)),
    set(G, pairOf(get(one), get(gradient))),
    isPlain ? set(H, addPairs(get(H), get(twos))) : set(H, pairOf(get(rest), get(hessian))),
    set(R, subtractPairs(get(totalHessians), get(H))),
    set(O, subtractPairs(get(totals), get(G))),
    set(B, addPairs(get(H), get(lambdas))),
    set(A, addPairs(get(R), get(lambdas))),
    set(
      S,
      addPairs(
        multiplyPairs(multiplyPairs(get(G), get(G)), get(A)),
        multiplyPairs(multiplyPairs(get(O), get(O)), get(B)),
      ),
    ),
    set(
      signs,
      signsOfPair(
        andPairs(
          andPairs(isPairAtLeast(get(H), get(leasts)), isPairAtLeast(get(R), get(leasts))),
          andPairs(
            upperHalvesDiffer(loadTwoWholes(get(at)), loadTwoWholes(get(at), KEY)),
            isPairAbove(get(S), multiplyPairs(get(tops), product)),
          ),
        ),
      ),
    ),
    when(get(signs), [...set(mask, product), ...takeLane(0), ...takeLane(1)]),
    move(at, whole(2 * KEY)),
  ];
  const singleStep: Code[] = [
    set(row, place(loadHalf(get(at)))),
    addRow,
    set(key, loadWhole(get(at))),
    // Behind the last key there is a border.
    when(isBelow(add(get(at), whole(KEY)), get(stop)), set(key, xor(get(key), loadWhole(get(at), KEY)))),
    set(rest, subtractNumbers(get(totalHessian), get(hessian))),
    when(
      and(
        and(isAtLeast(get(hessian), get(least)), isAtLeast(get(rest), get(least))),
        isBelow(whole(KNOWN - 1), get(key)),
      ),
      [
        ...set(other, subtractNumbers(get(total), get(gradient))),
        ...set(below, addNumbers(get(hessian), get(lambda))),
        ...set(above, addNumbers(get(rest), get(lambda))),
        ...set(
          scaled,
          addNumbers(
            multiplyNumbers(multiplyNumbers(get(gradient), get(gradient)), get(above)),
            multiplyNumbers(multiplyNumbers(get(other), get(other)), get(below)),
          ),
        ),
        ...set(above, multiplyNumbers(get(below), get(above))),
        ...when(
          isAbove(get(scaled), multiplyNumbers(get(top), get(above))),
          take(loadWhole(get(at)), get(scaled), get(above), get(hessian)),
        ),
      ],
    ),
    move(at, whole(KEY)),
  ];
  const scan: Code[] = [
    set(at, get(known)),
    isPlain ? set(H, addPairs(both(get(hessian)), pairOf(constant(-1), constant(0)))) : [],
    whileLoop(isBelow(add(get(at), whole(KEY)), get(pairsEnd)), pairStep.flat()),
    isPlain ? set(hessian, secondOf(get(H))) : [],
    whileLoop(isBelow(get(at), get(stop)), singleStep.flat()),
  ];
  const each: Code[] = [
    set(first, add(get(lists), get(start))),
    set(stop, add(get(lists), get(end))),
    set(known, get(first)),
    set(missing, constant(0)),
    set(missingHessian, constant(0)),
    set(gradient, constant(0)),
    set(hessian, constant(0)),
    whileLoop(and(isBelow(get(known), get(stop)), isBelow(loadWhole(get(known)), whole(KNOWN))), [
      ...set(row, place(loadHalf(get(known)))),
      ...addRow,
      ...move(known, whole(KEY)),
    ]),
    set(missing, get(gradient)),
    set(missingHessian, get(hessian)),
    set(found, whole(0)),
    // Two keys at a time where a third one follows.
    set(pairsEnd, subtract(get(stop), whole(KEY))),
    set(gradient, constant(0)),
    set(hessian, constant(0)),
    set(pass, whole(0)),
    scan.flat(),
    when(isAbove(get(missingHessian), constant(0)), [
      ...set(gradient, get(missing)),
      ...set(hessian, get(missingHessian)),
      ...set(pass, whole(1)),
      ...scan.flat(),
    ]),
    when(get(found), [
      ...set(gain, subtractNumbers(get(top), get(parent))),
      ...storeNumber(get(out), get(gain), FOUND.gain * 4),
      ...storeNumber(get(out), get(foundHessian), FOUND.hessian * 4),
      ...storeNumber(get(out), get(missingHessian), FOUND.missing * 4),
      ...storeWhole(get(out), get(list), FOUND.list * 4),
      ...storeWhole(get(out), get(found), FOUND.bin * 4),
      ...storeWhole(get(out), get(foundPass), FOUND.withMissing * 4),
      ...set(top, addNumbers(largerOf(get(gain), get(minGain)), get(parent))),
      ...set(tops, both(get(top))),
    ]),
    move(lists, get(stride)),
    move(list, whole(1)),
  ];
  return all.function([
    ...storeWhole(get(out), whole(-1), FOUND.list * 4),
    ...set(
      parent,
      divideNumbers(multiplyNumbers(get(total), get(total)), addNumbers(get(totalHessian), get(lambda))),
    ),
    ...set(top, addNumbers(largerOf(get(gain), get(minGain)), get(parent))),
    ...set(tops, both(get(top))),
    ...set(totals, both(get(total))),
    ...set(totalHessians, both(get(totalHessian))),
    ...set(lambdas, both(get(lambda))),
    ...set(leasts, both(get(least))),
    ...set(twos, both(constant(2))),
    ...whileLoop(isBelow(get(lists), get(endOfLists)), each.flat()),
  ]);
}

export const sortedRooms = new RoomMaker<SortedKernel>(() =>
  assemble({
    copyMarked: copyMarked(),
    divideLists: divideLists(),
    searchPlain: search(true),
    searchSorted: search(false),
  }),
);
