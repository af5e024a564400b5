import {
  add,
  and,
  type Code,
  get,
  I32,
  i32,
  isBelow,
  loadI32,
  loadU8,
  select,
  set,
  shiftLeft,
  shiftRight,
  shiftRightBy,
  storeI32,
  subtract,
  whenElse,
  whileLoop,
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
    ...set(bin, loadU8(add(get(bins), loadI32(get(at), BRANCH.column)))),
    ...whenElse(
      loadU8(get(at), BRANCH.isSet),
      set(
        isLeft,
        and(
          shiftRightBy(
            loadI32(add(loadI32(get(at), BRANCH.set), shiftLeft(shiftRight(get(bin), 5), 2))),
            get(bin),
          ),
          i32(1),
        ),
      ),
      set(
        isLeft,
        isBelow(
          and(subtract(get(bin), loadU8(get(at), BRANCH.from)), i32(255)),
          loadU8(get(at), BRANCH.limit),
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
    ...set(at, i32(SCRATCH.own)),
    ...set(last, add(i32(SCRATCH.own), shiftLeft(field(HEADER.places), 2))),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...storeI32(get(at), i32(-1)),
      ...set(at, add(get(at), i32(4))),
    ]),
    ...set(at, field(HEADER.branches)),
    ...set(last, field(HEADER.branchesEnd)),
    ...whileLoop(isBelow(get(at), get(last)), [
      ...set(own, add(i32(SCRATCH.own), shiftLeft(loadU8(get(at), BRANCH.place), 2))),
      ...storeI32(
        get(own),
        and(
          loadI32(get(own)),
          xor(
            select(
              loadI32(get(at), BRANCH.toRight),
              loadI32(get(at), BRANCH.toLeft),
              isToLeft(all, at, bins),
            ),
            i32(-1),
          ),
        ),
      ),
      ...set(at, add(get(at), i32(BRANCH.size))),
    ]),
  ];
}
