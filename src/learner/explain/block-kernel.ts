import { assemble, type WasmFunction } from '../wasm/assemble';
import {
  add,
  addNumbers,
  and,
  choose,
  type Code,
  constant,
  countBits,
  F64,
  get,
  I32,
  isBelow,
  leadingZeros,
  loadByte,
  loadFloat,
  loadNumber,
  loadWhole,
  multiply,
  multiplyNumbers,
  or,
  set,
  shiftLeft,
  shiftRight,
  shiftRightBy,
  storeNumber,
  storeWhole,
  subtract,
  subtractNumbers,
  toNumber,
  when,
  whenElse,
  whileLoop,
  whole,
  xor,
} from '../wasm/instructions';
import { BRANCH, HEADER, LEAF_RECORD, SCRATCH, SHARES_ROW, SLOT } from './block-layout';
import { PLACE_BITS } from './block-turns';
import { MOST_SLOTS } from './shares';

/*
 * What `findPasses`, `BlockSteps` and `addBlockEffects` do, for many blocks of trees with one value a leaf: the same numbers
 * in the same order, so the results are the same to the bit. All parameters but `rows` and `weight` are addresses in bytes.
 */
export interface BlockKernel {
  /**
   * @param headers of the first block, and behind the last one
   * @param bins of the row, per column
   * @param rows of the background, as bits
   */
  addBlocks(
    headers: number,
    end: number,
    bins: number,
    rows: number,
    scores: number,
    effects: number,
    weight: number,
  ): void;
}

function addBlocks(): WasmFunction {
  let next = 0;
  const parameter = () => next++;
  const [header, end, bins, rows, scores, effects, weight] = Array.from({ length: 7 }, parameter);
  const wholes = Array.from({ length: 24 }, parameter);
  const [
    at,
    last,
    bin,
    mask,
    passed,
    own,
    leaf,
    bit,
    slots,
    slotsEnd,
    inside,
    outside,
    most,
    count,
    some,
    p,
  ] = wholes;
  const [row, turn, order, to, share, effectsAt, scoresAt, mixtureBytes] = wholes.slice(16);
  const [value, before, sum] = Array.from({ length: 3 }, parameter);
  const field = (offset: number): Code => loadWhole(get(header), offset);

  const findPasses: Code = [
    ...set(at, whole(SCRATCH.own)),
    ...set(last, add(whole(SCRATCH.own), shiftLeft(field(HEADER.places), 2))),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...storeWhole(get(at), whole(-1)),
      ...set(at, add(get(at), whole(4))),
    ]),
    ...set(at, field(HEADER.branches)),
    ...set(last, field(HEADER.branchesEnd)),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...set(bin, loadByte(add(get(bins), loadWhole(get(at), BRANCH.column)))),
      ...whenElse(
        loadByte(get(at), BRANCH.isSet),
        set(
          passed,
          and(
            shiftRightBy(
              loadWhole(add(loadWhole(get(at), BRANCH.set), shiftLeft(shiftRight(get(bin), 5), 2))),
              get(bin),
            ),
            whole(1),
          ),
        ),
        set(
          passed,
          isBelow(
            and(subtract(get(bin), loadByte(get(at), BRANCH.from)), whole(255)),
            loadByte(get(at), BRANCH.limit),
          ),
        ),
      ),
      ...set(own, add(whole(SCRATCH.own), shiftLeft(loadByte(get(at), BRANCH.place), 2))),
      ...storeWhole(
        get(own),
        and(
          loadWhole(get(own)),
          xor(
            choose(loadWhole(get(at), BRANCH.toRight), loadWhole(get(at), BRANCH.toLeft), get(passed)),
            whole(-1),
          ),
        ),
      ),
      ...set(at, add(get(at), whole(BRANCH.size))),
    ]),
  ];

  const takeValues: Code = [
    ...set(leaf, field(HEADER.leaves)),
    ...set(last, field(HEADER.leavesEnd)),
    ...set(to, whole(SCRATCH.values + 31 * 8)),
    ...whileLoop(isBelow(get(leaf), get(last)), [
      ...storeNumber(get(to), multiplyNumbers(get(weight), loadFloat(get(leaf), LEAF_RECORD.value))),
      ...set(to, subtract(get(to), whole(8))),
      ...set(leaf, add(get(leaf), whole(LEAF_RECORD.size))),
    ]),
  ];

  const valueOf = (bits: Code): Code => loadNumber(shiftLeft(leadingZeros(bits), 3), SCRATCH.values);
  const scoreOf = (local: number): Code =>
    add(get(scoresAt), multiply(shiftRight(get(local), PLACE_BITS), get(mixtureBytes)));
  const addSteps: Code = [
    ...set(scoresAt, add(get(scores), field(HEADER.output))),
    ...set(mixtureBytes, field(HEADER.mixtureBytes)),
    ...set(at, field(HEADER.turns)),
    ...set(row, get(rows)),
    ...whileLoop(get(row), [
      ...set(last, add(get(at), field(HEADER.rowBytes))),
      ...whenElse(
        and(get(row), whole(1)),
        whileLoop(isBelow(get(at), get(last)), [
          ...set(order, add(get(at), field(HEADER.orderBytes))),
          ...set(before, valueOf(loadWhole(get(at), 4))),
          ...set(turn, loadWhole(get(at))),
          ...set(to, scoreOf(turn)),
          ...storeNumber(get(to), addNumbers(loadNumber(get(to)), get(before))),
          ...set(passed, whole(-1)),
          ...set(at, add(get(at), whole(8))),
          ...whileLoop(isBelow(get(at), get(order)), [
            ...set(turn, loadWhole(get(at))),
            ...set(
              passed,
              and(
                get(passed),
                loadWhole(shiftLeft(and(get(turn), whole((1 << PLACE_BITS) - 1)), 2), SCRATCH.own),
              ),
            ),
            ...set(value, valueOf(and(get(passed), loadWhole(get(at), 4)))),
            ...set(to, scoreOf(turn)),
            ...storeNumber(
              get(to),
              addNumbers(loadNumber(get(to)), subtractNumbers(get(value), get(before))),
            ),
            ...set(before, get(value)),
            ...set(at, add(get(at), whole(8))),
          ]),
        ]),
        set(at, get(last)),
      ),
      ...set(row, shiftRight(get(row), 1)),
    ]),
  ];

  /* Lists of `inside`: the rows that fail a slot, as bits, and eight times its group; of `outside`: the latter. */
  const findSlots: Code = [
    ...set(inside, whole(SCRATCH.inside)),
    ...set(outside, whole(SCRATCH.outside)),
    ...set(mask, get(rows)),
    ...set(slotsEnd, loadWhole(get(leaf), LEAF_RECORD.slotsEnd)),
    ...whileLoop(isBelow(get(slots), get(slotsEnd)), [
      ...set(
        passed,
        and(
          shiftRightBy(loadWhole(shiftLeft(loadByte(get(slots), SLOT.place), 2), SCRATCH.own), get(bit)),
          whole(1),
        ),
      ),
      ...set(some, loadWhole(get(slots), SLOT.passes)),
      ...set(to, shiftRight(loadWhole(get(slots)), 8 * SLOT.group)),
      // Written to both lists, of which one moves on: a branch could not be predicted.
      ...storeWhole(get(inside), xor(get(some), whole(-1))),
      ...storeWhole(get(inside), get(to), 4),
      ...set(inside, add(get(inside), shiftLeft(get(passed), 3))),
      ...storeWhole(get(outside), get(to)),
      ...set(outside, add(get(outside), shiftLeft(subtract(whole(1), get(passed)), 2))),
      ...set(mask, and(get(mask), or(get(some), subtract(whole(0), get(passed))))),
      ...set(slots, add(get(slots), whole(SLOT.size))),
    ]),
  ];
  const countRows: Code = [
    ...set(most, whole(SCRATCH.failingSo)),
    ...storeWhole(get(most), get(mask)),
    ...set(at, whole(SCRATCH.inside)),
    ...whileLoop(isBelow(get(at), get(inside)), [
      ...set(some, and(loadWhole(get(at)), get(mask))),
      ...storeWhole(get(at), get(some)),
      ...when(get(some), [
        ...set(most, add(get(most), whole(4))),
        ...storeWhole(get(most), whole(0)),
        ...set(p, get(most)),
        ...whileLoop(isBelow(whole(SCRATCH.failingSo), get(p)), [
          ...storeWhole(
            get(p),
            or(
              and(loadWhole(get(p)), xor(get(some), whole(-1))),
              and(loadWhole(subtract(get(p), whole(4))), get(some)),
            ),
          ),
          ...set(p, subtract(get(p), whole(4))),
        ]),
        ...storeWhole(get(p), and(loadWhole(get(p)), xor(get(some), whole(-1)))),
      ]),
      ...set(at, add(get(at), whole(8))),
    ]),
  ];
  const addShares: Code = [
    ...set(value, multiplyNumbers(get(weight), loadFloat(get(leaf), LEAF_RECORD.value))),
    // Eight times how many slots the row fails.
    ...set(count, shiftLeft(subtract(get(outside), whole(SCRATCH.outside)), 1)),
    ...set(at, whole(SCRATCH.inside)),
    ...whileLoop(isBelow(get(at), get(inside)), [
      ...set(some, loadWhole(get(at))),
      ...when(get(some), [
        ...set(sum, constant(0)),
        ...set(share, add(get(count), whole(SHARES_ROW))),
        ...set(p, whole(SCRATCH.failingSo + 4)),
        ...whileLoop(xor(isBelow(get(most), get(p)), whole(1)), [
          ...set(
            sum,
            addNumbers(
              get(sum),
              multiplyNumbers(
                loadNumber(get(share), SCRATCH.shares),
                toNumber(countBits(and(get(some), loadWhole(get(p))))),
              ),
            ),
          ),
          ...set(share, add(get(share), whole(SHARES_ROW))),
          ...set(p, add(get(p), whole(4))),
        ]),
        ...set(to, add(get(effectsAt), loadWhole(get(at), 4))),
        ...storeNumber(get(to), addNumbers(loadNumber(get(to)), multiplyNumbers(get(value), get(sum)))),
      ]),
      ...set(at, add(get(at), whole(8))),
    ]),
    ...when(get(count), [
      ...set(sum, constant(0)),
      ...set(share, multiply(get(count), whole(MOST_SLOTS + 1))),
      ...set(p, whole(SCRATCH.failingSo)),
      ...whileLoop(xor(isBelow(get(most), get(p)), whole(1)), [
        ...set(
          sum,
          addNumbers(
            get(sum),
            multiplyNumbers(loadNumber(get(share), SCRATCH.shares), toNumber(countBits(loadWhole(get(p))))),
          ),
        ),
        ...set(share, add(get(share), whole(8))),
        ...set(p, add(get(p), whole(4))),
      ]),
      ...set(value, multiplyNumbers(get(value), get(sum))),
      ...set(at, whole(SCRATCH.outside)),
      ...whileLoop(isBelow(get(at), get(outside)), [
        ...set(to, add(get(effectsAt), loadWhole(get(at)))),
        ...storeNumber(get(to), subtractNumbers(loadNumber(get(to)), get(value))),
        ...set(at, add(get(at), whole(4))),
      ]),
    ]),
  ];
  const addEffects: Code = [
    ...set(effectsAt, add(get(effects), field(HEADER.effects))),
    ...set(leaf, field(HEADER.leaves)),
    ...set(slots, field(HEADER.leavesEnd)),
    ...set(bit, whole(0)),
    ...whileLoop(isBelow(get(leaf), field(HEADER.leavesEnd)), [
      ...findSlots,
      ...when(get(mask), [...countRows, ...addShares]),
      ...set(bit, add(get(bit), whole(1))),
      ...set(leaf, add(get(leaf), whole(LEAF_RECORD.size))),
    ]),
  ];
  return {
    params: [I32, I32, I32, I32, I32, I32, F64],
    locals: [...wholes.map(() => I32), F64, F64, F64],
    body: whileLoop(isBelow(get(header), get(end)), [
      ...findPasses,
      ...takeValues,
      ...addSteps,
      ...addEffects,
      ...set(header, add(get(header), whole(HEADER.size))),
    ]),
  };
}

export const blockModule = (): Uint8Array => assemble({ addBlocks: addBlocks() });
