import type { WasmFunction } from '../../wasm/assemble';
import {
  add,
  addF64,
  addF64x2,
  and,
  type Code,
  F64,
  f64,
  get,
  I32,
  i32,
  isBelow,
  loadF64,
  loadF64x2,
  loadSplat,
  move,
  multiply,
  multiplyF64,
  multiplyF64x2,
  NUMBER,
  PAIR,
  set,
  splat,
  storeF64,
  storeF64x2,
  subtract,
  subtractF64,
  sumLanes,
  trailingZeros,
  V128,
  whileLoop,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';

/*
 * The inner loops of `addProductEffects` with SIMD: the same operations in the same order, so that results agree to
 * the bit. Parameters are addresses and lengths in bytes, except for `mask`: background rows, as bits.
 */
export interface EffectsKernel {
  /**
   * `addProductEffects` over all points.
   *
   * @param points bytes of an output's weights
   * @param groups bytes of a row's factors
   * @param rows bytes of the factors of all background rows
   * @param nodes the first four of the quadrature, up to `nodesEnd`
   * @param effects outputs × groups of the kernel
   */
  addPointEffects(
    own: number,
    others: number,
    points: number,
    groups: number,
    rows: number,
    mask: number,
    nodes: number,
    nodesEnd: number,
    weights: number,
    effects: number,
    bases: number,
    basesEnd: number,
    scratch: number,
    share: number,
  ): void;
}

const FOUR = 32;

export function addPointEffects(): WasmFunction {
  const all = new Locals();
  const [own, others, points, groups, rows, mask] = all.parameters(6, I32);
  const [nodes, nodesEnd, weights, effects, bases, basesEnd, scratch] = all.parameters(7, I32);
  const [share] = all.parameters(1, F64);
  const [rest, from, ownAt, at, end, rise, gains, before] = all.more(8, I32);
  const [node, to, weightAt, baseAt, weightsEnd] = all.more(5, I32);
  const [start, startSum, weight] = all.more(3, F64);
  const [p01, p23, n01, n23, other, more, pair, second] = all.more(8, V128);

  const moveBack = (local: number, bytes: number): Code => set(local, subtract(get(local), i32(bytes)));

  const begin: Code = [
    ...set(start, get(share)),
    ...set(at, get(from)),
    ...set(end, add(get(from), get(groups))),
    ...set(ownAt, get(own)),
    ...set(rise, get(scratch)),
    ...whileLoop(isBelow(get(at), get(end)), [
      ...set(start, multiplyF64(get(start), loadF64(get(at)))),
      ...storeF64(get(rise), subtractF64(loadF64(get(ownAt)), loadF64(get(at)))),
      ...move(at, i32(NUMBER)),
      ...move(ownAt, i32(NUMBER)),
      ...move(rise, i32(NUMBER)),
    ]),
    ...set(startSum, addF64(get(startSum), get(start))),
  ];
  const clear: Code = [
    ...set(startSum, f64(0)),
    ...set(gains, add(get(scratch), get(groups))),
    ...set(end, add(get(gains), get(groups))),
    ...whileLoop(isBelow(get(gains), get(end)), [
      ...storeF64(get(gains), f64(0)),
      ...move(gains, i32(NUMBER)),
    ]),
  ];
  const times = (product: number, values: number): Code =>
    set(product, multiplyF64x2(get(product), addF64x2(get(other), multiplyF64x2(get(values), get(more)))));
  const takeGroup: Code = [...set(other, loadSplat(get(at))), ...set(more, loadSplat(get(rise)))];
  const addNodes: Code = [
    ...set(n01, loadF64x2(get(node))),
    ...set(n23, loadF64x2(get(node), PAIR)),
    ...set(p01, multiplyF64x2(splat(get(share)), loadF64x2(get(node), 2 * PAIR))),
    ...set(p23, multiplyF64x2(splat(get(share)), loadF64x2(get(node), 3 * PAIR))),
    ...set(at, get(from)),
    ...set(rise, get(scratch)),
    ...set(before, add(get(scratch), add(get(groups), get(groups)))),
    ...whileLoop(isBelow(get(at), get(end)), [
      ...takeGroup,
      ...storeF64x2(get(before), get(p01)),
      ...storeF64x2(get(before), get(p23), PAIR),
      ...times(p01, n01),
      ...times(p23, n23),
      ...move(at, i32(NUMBER)),
      ...move(rise, i32(NUMBER)),
      ...move(before, i32(FOUR)),
    ]),
    ...set(p01, splat(f64(1))),
    ...set(p23, get(p01)),
    ...set(gains, add(get(rise), get(groups))),
    ...whileLoop(isBelow(get(from), get(at)), [
      ...[at, rise, gains].flatMap((local) => moveBack(local, NUMBER)),
      ...moveBack(before, FOUR),
      ...takeGroup,
      ...set(pair, multiplyF64x2(loadF64x2(get(before)), get(p01))),
      ...set(second, multiplyF64x2(loadF64x2(get(before), PAIR), get(p23))),
      ...storeF64(
        get(gains),
        addF64(
          loadF64(get(gains)),
          multiplyF64(loadF64(get(rise)), addF64(sumLanes(pair), sumLanes(second))),
        ),
      ),
      ...times(p01, n01),
      ...times(p23, n23),
    ]),
    ...move(node, i32(4 * PAIR)),
  ];
  const addEffects: Code = [
    ...set(weightAt, get(weights)),
    ...set(baseAt, get(bases)),
    ...set(to, get(effects)),
    ...whileLoop(isBelow(get(baseAt), get(basesEnd)), [
      ...set(weight, loadF64(get(weightAt))),
      ...storeF64(get(baseAt), addF64(loadF64(get(baseAt)), multiplyF64(get(weight), get(startSum)))),
      ...set(gains, add(get(scratch), get(groups))),
      ...set(end, add(get(gains), get(groups))),
      ...whileLoop(isBelow(get(gains), get(end)), [
        ...storeF64(get(to), addF64(loadF64(get(to)), multiplyF64(get(weight), loadF64(get(gains))))),
        ...move(to, i32(NUMBER)),
        ...move(gains, i32(NUMBER)),
      ]),
      ...move(baseAt, i32(NUMBER)),
      ...move(weightAt, get(points)),
    ]),
  ];
  return all.function([
    ...set(weightsEnd, add(get(weights), get(points))),
    ...whileLoop(isBelow(get(weights), get(weightsEnd)), [
      ...clear,
      ...set(rest, get(mask)),
      ...whileLoop(get(rest), [
        ...set(from, add(get(others), multiply(trailingZeros(get(rest)), get(groups)))),
        ...begin,
        ...set(node, get(nodes)),
        ...whileLoop(isBelow(get(node), get(nodesEnd)), addNodes),
        ...set(rest, and(get(rest), subtract(get(rest), i32(1)))),
      ]),
      ...addEffects,
      ...move(own, get(groups)),
      ...move(others, get(rows)),
      ...move(weights, i32(NUMBER)),
    ]),
  ]);
}
