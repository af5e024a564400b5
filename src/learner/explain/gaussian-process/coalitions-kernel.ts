import type { WasmFunction } from '../../wasm/assemble';
import {
  add,
  addPairs,
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
  multiplyNumbers,
  multiplyPairs,
  set,
  storeNumber,
  storePair,
  V128,
  whileLoop,
  whole,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';

/** The inner loops of `scoresByHalves`, under the conventions of `effects-kernel.ts`. */
export interface CoalitionsKernel {
  /**
   * Adds each coalition's scores (outputs × coalitions) to `sums`, over all points. The first half has at least one
   * player.
   *
   * @param own factors of the foreground row, points × groups
   * @param others factors of a background row, `step` bytes apart from point to point
   * @param alike three lists of byte offsets of groups: those that do not differ, and two halves of the rest
   * @param low scratch for the products of a half, as is `high`
   */
  addCoalitions(
    own: number,
    others: number,
    groups: number,
    step: number,
    alike: number,
    first: number,
    second: number,
    end: number,
    low: number,
    high: number,
    weights: number,
    points: number,
    sums: number,
    sumsEnd: number,
  ): void;
}

const NUMBER = 8;
const PAIR = 16;

export function addCoalitions(): WasmFunction {
  const all = new Locals();
  const [own, others, groups, step, alike, first, second, end] = all.parameters(8, I32);
  const [low, high, weights, points, sums, sumsEnd] = all.parameters(6, I32);
  const [weightsEnd, list, at, last, size, to, weightAt, lowEnd, highEnd] = all.more(9, I32);
  const [start, mine, theirs] = all.more(3, F64);
  const [factor] = all.more(1, V128);

  /**
   * The products for all subsets of a list of groups: the foreground row's factor if the group is in, else the
   * background row's.
   */
  const fill = (half: number, listEnd: number): Code => [
    ...storeNumber(get(half), get(start)),
    ...set(size, whole(NUMBER)),
    ...whileLoop(isBelow(get(list), get(listEnd)), [
      ...set(mine, loadNumber(add(get(own), loadWhole(get(list))))),
      ...set(theirs, loadNumber(add(get(others), loadWhole(get(list))))),
      ...set(at, get(half)),
      ...set(last, add(get(half), get(size))),
      ...whileLoop(isBelow(get(at), get(last)), [
        ...set(start, loadNumber(get(at))),
        ...storeNumber(add(get(at), get(size)), multiplyNumbers(get(start), get(mine))),
        ...storeNumber(get(at), multiplyNumbers(get(start), get(theirs))),
        ...move(at, whole(NUMBER)),
      ]),
      ...set(size, add(get(size), get(size))),
      ...move(list, whole(4)),
    ]),
  ];
  return all.function([
    ...set(weightsEnd, add(get(weights), get(points))),
    ...whileLoop(isBelow(get(weights), get(weightsEnd)), [
      ...set(list, get(alike)),
      ...set(start, constant(1)),
      ...whileLoop(isBelow(get(list), get(first)), [
        ...set(start, multiplyNumbers(get(start), loadNumber(add(get(others), loadWhole(get(list)))))),
        ...move(list, whole(4)),
      ]),
      ...fill(low, second),
      ...set(lowEnd, add(get(low), get(size))),
      ...set(start, constant(1)),
      ...fill(high, end),
      ...set(highEnd, add(get(high), get(size))),
      ...set(to, get(sums)),
      ...set(weightAt, get(weights)),
      ...whileLoop(isBelow(get(to), get(sumsEnd)), [
        ...set(at, get(high)),
        ...whileLoop(isBelow(get(at), get(highEnd)), [
          ...set(factor, both(multiplyNumbers(loadNumber(get(weightAt)), loadNumber(get(at))))),
          ...set(last, get(low)),
          ...whileLoop(isBelow(get(last), get(lowEnd)), [
            ...storePair(
              get(to),
              addPairs(loadPair(get(to)), multiplyPairs(get(factor), loadPair(get(last)))),
            ),
            ...move(to, whole(PAIR)),
            ...move(last, whole(PAIR)),
          ]),
          ...move(at, whole(NUMBER)),
        ]),
        ...move(weightAt, get(points)),
      ]),
      ...move(own, get(groups)),
      ...move(others, get(step)),
      ...move(weights, whole(NUMBER)),
    ]),
  ]);
}
