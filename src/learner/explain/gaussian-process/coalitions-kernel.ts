import type { WasmFunction } from '../../wasm/assemble';
import {
  add,
  addF64x2,
  type Code,
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
  multiplyF64,
  multiplyF64x2,
  NUMBER,
  PAIR,
  set,
  splat,
  storeF64,
  storeF64x2,
  V128,
  whileLoop,
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
    ...storeF64(get(half), get(start)),
    ...set(size, i32(NUMBER)),
    ...whileLoop(isBelow(get(list), get(listEnd)), [
      ...set(mine, loadF64(add(get(own), loadI32(get(list))))),
      ...set(theirs, loadF64(add(get(others), loadI32(get(list))))),
      ...set(at, get(half)),
      ...set(last, add(get(half), get(size))),
      ...whileLoop(isBelow(get(at), get(last)), [
        ...set(start, loadF64(get(at))),
        ...storeF64(add(get(at), get(size)), multiplyF64(get(start), get(mine))),
        ...storeF64(get(at), multiplyF64(get(start), get(theirs))),
        ...move(at, i32(NUMBER)),
      ]),
      ...set(size, add(get(size), get(size))),
      ...move(list, i32(4)),
    ]),
  ];
  return all.function([
    ...set(weightsEnd, add(get(weights), get(points))),
    ...whileLoop(isBelow(get(weights), get(weightsEnd)), [
      ...set(list, get(alike)),
      ...set(start, f64(1)),
      ...whileLoop(isBelow(get(list), get(first)), [
        ...set(start, multiplyF64(get(start), loadF64(add(get(others), loadI32(get(list)))))),
        ...move(list, i32(4)),
      ]),
      ...fill(low, second),
      ...set(lowEnd, add(get(low), get(size))),
      ...set(start, f64(1)),
      ...fill(high, end),
      ...set(highEnd, add(get(high), get(size))),
      ...set(to, get(sums)),
      ...set(weightAt, get(weights)),
      ...whileLoop(isBelow(get(to), get(sumsEnd)), [
        ...set(at, get(high)),
        ...whileLoop(isBelow(get(at), get(highEnd)), [
          ...set(factor, splat(multiplyF64(loadF64(get(weightAt)), loadF64(get(at))))),
          ...set(last, get(low)),
          ...whileLoop(isBelow(get(last), get(lowEnd)), [
            ...storeF64x2(
              get(to),
              addF64x2(loadF64x2(get(to)), multiplyF64x2(get(factor), loadF64x2(get(last)))),
            ),
            ...move(to, i32(PAIR)),
            ...move(last, i32(PAIR)),
          ]),
          ...move(at, i32(NUMBER)),
        ]),
        ...move(weightAt, get(points)),
      ]),
      ...move(own, get(groups)),
      ...move(others, get(step)),
      ...move(weights, i32(NUMBER)),
    ]),
  ]);
}
