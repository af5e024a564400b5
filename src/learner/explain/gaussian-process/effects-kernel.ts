import type { WasmFunction } from '../../wasm/assemble';
import {
  add,
  addNumbers,
  addPairs,
  and,
  both,
  type Code,
  constant,
  F64,
  get,
  I32,
  isBelow,
  loadBoth,
  loadNumber,
  loadPair,
  move,
  multiply,
  multiplyNumbers,
  multiplyPairs,
  set,
  storeNumber,
  storePair,
  subtract,
  subtractNumbers,
  sumOfPair,
  trailingZeros,
  V128,
  whileLoop,
  whole,
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

const NUMBER = 8;
const PAIR = 16;
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

  const moveBack = (local: number, bytes: number): Code => set(local, subtract(get(local), whole(bytes)));

  const begin: Code = [
    ...set(start, get(share)),
    ...set(at, get(from)),
    ...set(end, add(get(from), get(groups))),
    ...set(ownAt, get(own)),
    ...set(rise, get(scratch)),
    ...whileLoop(isBelow(get(at), get(end)), [
      ...set(start, multiplyNumbers(get(start), loadNumber(get(at)))),
      ...storeNumber(get(rise), subtractNumbers(loadNumber(get(ownAt)), loadNumber(get(at)))),
      ...move(at, whole(NUMBER)),
      ...move(ownAt, whole(NUMBER)),
      ...move(rise, whole(NUMBER)),
    ]),
    ...set(startSum, addNumbers(get(startSum), get(start))),
  ];
  const clear: Code = [
    ...set(startSum, constant(0)),
    ...set(gains, add(get(scratch), get(groups))),
    ...set(end, add(get(gains), get(groups))),
    ...whileLoop(isBelow(get(gains), get(end)), [
      ...storeNumber(get(gains), constant(0)),
      ...move(gains, whole(NUMBER)),
    ]),
  ];
  const times = (product: number, values: number): Code =>
    set(product, multiplyPairs(get(product), addPairs(get(other), multiplyPairs(get(values), get(more)))));
  const takeGroup: Code = [...set(other, loadBoth(get(at))), ...set(more, loadBoth(get(rise)))];
  const addNodes: Code = [
    ...set(n01, loadPair(get(node))),
    ...set(n23, loadPair(get(node), PAIR)),
    ...set(p01, multiplyPairs(both(get(share)), loadPair(get(node), 2 * PAIR))),
    ...set(p23, multiplyPairs(both(get(share)), loadPair(get(node), 3 * PAIR))),
    ...set(at, get(from)),
    ...set(rise, get(scratch)),
    ...set(before, add(get(scratch), add(get(groups), get(groups)))),
    ...whileLoop(isBelow(get(at), get(end)), [
      ...takeGroup,
      ...storePair(get(before), get(p01)),
      ...storePair(get(before), get(p23), PAIR),
      ...times(p01, n01),
      ...times(p23, n23),
      ...move(at, whole(NUMBER)),
      ...move(rise, whole(NUMBER)),
      ...move(before, whole(FOUR)),
    ]),
    ...set(p01, both(constant(1))),
    ...set(p23, get(p01)),
    ...set(gains, add(get(rise), get(groups))),
    ...whileLoop(isBelow(get(from), get(at)), [
      ...[at, rise, gains].flatMap((local) => moveBack(local, NUMBER)),
      ...moveBack(before, FOUR),
      ...takeGroup,
      ...set(pair, multiplyPairs(loadPair(get(before)), get(p01))),
      ...set(second, multiplyPairs(loadPair(get(before), PAIR), get(p23))),
      ...storeNumber(
        get(gains),
        addNumbers(
          loadNumber(get(gains)),
          multiplyNumbers(loadNumber(get(rise)), addNumbers(sumOfPair(pair), sumOfPair(second))),
        ),
      ),
      ...times(p01, n01),
      ...times(p23, n23),
    ]),
    ...move(node, whole(4 * PAIR)),
  ];
  const addEffects: Code = [
    ...set(weightAt, get(weights)),
    ...set(baseAt, get(bases)),
    ...set(to, get(effects)),
    ...whileLoop(isBelow(get(baseAt), get(basesEnd)), [
      ...set(weight, loadNumber(get(weightAt))),
      ...storeNumber(
        get(baseAt),
        addNumbers(loadNumber(get(baseAt)), multiplyNumbers(get(weight), get(startSum))),
      ),
      ...set(gains, add(get(scratch), get(groups))),
      ...set(end, add(get(gains), get(groups))),
      ...whileLoop(isBelow(get(gains), get(end)), [
        ...storeNumber(
          get(to),
          addNumbers(loadNumber(get(to)), multiplyNumbers(get(weight), loadNumber(get(gains)))),
        ),
        ...move(to, whole(NUMBER)),
        ...move(gains, whole(NUMBER)),
      ]),
      ...move(baseAt, whole(NUMBER)),
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
        ...set(rest, and(get(rest), subtract(get(rest), whole(1)))),
      ]),
      ...addEffects,
      ...move(own, get(groups)),
      ...move(others, get(rows)),
      ...move(weights, whole(NUMBER)),
    ]),
  ]);
}
