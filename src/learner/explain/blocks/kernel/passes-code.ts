import {
  add,
  and,
  choose,
  type Code,
  get,
  I32,
  isBelow,
  loadByte,
  loadWhole,
  set,
  shiftLeft,
  shiftRight,
  shiftRightBy,
  storeWhole,
  subtract,
  whenElse,
  whileLoop,
  whole,
  xor,
} from '../../../wasm/instructions';
import type { Locals } from '../../../wasm/locals';
import { BRANCH, HEADER, SCRATCH } from './block-layout';

/** The locals that code for a block works on, and how to read a field of its header. */
export interface BlockLocals {
  header: number;
  bins: number;
  rows: number;
  scores: number;
  effects: number;
  field: (offset: number) => Code;
}

/** Whether a row goes left at the branch at address `at`. */
export function isToLeft(all: Locals, at: number, bins: number): Code {
  const [bin, isLeft] = all.more(2, I32);
  return [
    ...set(bin, loadByte(add(get(bins), loadWhole(get(at), BRANCH.column)))),
    ...whenElse(
      loadByte(get(at), BRANCH.isSet),
      set(
        isLeft,
        and(
          shiftRightBy(
            loadWhole(add(loadWhole(get(at), BRANCH.set), shiftLeft(shiftRight(get(bin), 5), 2))),
            get(bin),
          ),
          whole(1),
        ),
      ),
      set(
        isLeft,
        isBelow(
          and(subtract(get(bin), loadByte(get(at), BRANCH.from)), whole(255)),
          loadByte(get(at), BRANCH.limit),
        ),
      ),
    ),
    ...get(isLeft),
  ];
}

/** `findPasses` of `leaf-blocks.ts`. */
export function passesOfBlock(all: Locals, { bins, field }: BlockLocals): Code {
  const [at, last, own] = all.more(3, I32);
  return [
    ...set(at, whole(SCRATCH.own)),
    ...set(last, add(whole(SCRATCH.own), shiftLeft(field(HEADER.places), 2))),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...storeWhole(get(at), whole(-1)),
      ...set(at, add(get(at), whole(4))),
    ]),
    ...set(at, field(HEADER.branches)),
    ...set(last, field(HEADER.branchesEnd)),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...set(own, add(whole(SCRATCH.own), shiftLeft(loadByte(get(at), BRANCH.place), 2))),
      ...storeWhole(
        get(own),
        and(
          loadWhole(get(own)),
          xor(
            choose(
              loadWhole(get(at), BRANCH.toRight),
              loadWhole(get(at), BRANCH.toLeft),
              isToLeft(all, at, bins),
            ),
            whole(-1),
          ),
        ),
      ),
      ...set(at, add(get(at), whole(BRANCH.size))),
    ]),
  ];
}
