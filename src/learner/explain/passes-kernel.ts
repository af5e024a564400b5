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
} from '../wasm/instructions';
import type { Locals } from '../wasm/locals';
import { BRANCH, HEADER, SCRATCH } from './block-layout';

/** What the code of a block is about: locals, and how to read a field of its header. */
export interface BlockLocals {
  header: number;
  bins: number;
  rows: number;
  scores: number;
  effects: number;
  field: (offset: number) => Code;
}

/** What `findPasses` of `leaf-blocks.ts` does. */
export function passesOfBlock(all: Locals, { bins, field }: BlockLocals): Code {
  const [at, last, bin, passed, own] = all.more(5, I32);
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
}
