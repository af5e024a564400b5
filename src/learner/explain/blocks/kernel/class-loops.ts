import {
  add,
  and,
  type Code,
  get,
  I32,
  i32,
  isBelow,
  move,
  set,
  when,
  whileLoop,
} from '../../../wasm/instructions';
import type { Locals } from '../../../wasm/locals';

/** Generates loops over adjacent numbers, one per class: unrolled by eight, then by two, then a single one. */
export class ClassLoops {
  private readonly eights: number;
  private readonly pairs: number;
  private readonly end: number;

  /** @param width a local: the bytes of all numbers */
  constructor(
    all: Locals,
    private readonly width: number,
  ) {
    [this.eights, this.pairs, this.end] = all.more(3, I32);
  }

  begin(): Code {
    return [
      ...set(this.eights, and(get(this.width), i32(-64))),
      ...set(this.pairs, and(get(this.width), i32(48))),
    ];
  }

  /**
   * @param pointers locals that advance with the loop; the first visits every number
   * @param visit code for two classes at `offset` from the pointers, and for one
   */
  each(pointers: number[], visit: { pair: (offset: number) => Code; one: Code }): Code {
    const moveAll = (bytes: number) => pointers.flatMap((pointer) => move(pointer, i32(bytes)));
    const [first] = pointers;
    return [
      ...set(this.end, add(get(first), get(this.eights))),
      ...whileLoop(isBelow(get(first), get(this.end)), [
        ...[0, 16, 32, 48].flatMap((offset) => visit.pair(offset)),
        ...moveAll(64),
      ]),
      ...set(this.end, add(get(first), get(this.pairs))),
      ...whileLoop(isBelow(get(first), get(this.end)), [...visit.pair(0), ...moveAll(16)]),
      ...when(and(get(this.width), i32(8)), [...visit.one, ...moveAll(8)]),
    ];
  }
}
