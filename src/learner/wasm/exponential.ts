import { EXPONENTIAL, powerOfTwo, rootOfTwo } from '../math/numeric';
import {
  add,
  addF64x2,
  and,
  andNotV128,
  type Code,
  f64,
  get,
  i32,
  isAboveF64x2,
  loadF64,
  makeF64x2,
  multiplyF64x2,
  NUMBER,
  pmaxF64x2,
  set,
  shiftLeft,
  shiftRightSigned,
  splat,
  subtractF64x2,
  truncatedLane,
  V128,
} from './instructions';
import type { Locals } from './locals';

const ROOTS = 32;
/** Exponent of the first power in the table. 2^-1075 is too small for a number, so 0 stands for it. */
const LEAST_POWER = -1075;

/** What the code looks up: 2^(i/32), then the powers of two from `LEAST_POWER` to 0. */
export const EXPONENTIAL_NUMBERS = ROOTS + 1 - LEAST_POWER;

/** Writes the table that `Exponential` reads. */
export function writeExponentialTable(table: Float64Array): void {
  for (let i = 0; i < EXPONENTIAL_NUMBERS; i++) {
    const exponent = i - ROOTS + LEAST_POWER;
    table[i] = i < ROOTS ? rootOfTwo(i) : exponent > LEAST_POWER ? powerOfTwo(exponent) : 0;
  }
}

/** e^x for two numbers at most 0, by the operations of `exp` in `math/numeric.ts`, so to the same bits. */
export class Exponential {
  private readonly n: number;
  private readonly r: number;
  private readonly z: number;
  private readonly root: number;
  private readonly lowest: number;

  /** @param table local with the address of the table */
  constructor(
    all: Locals,
    private readonly table: number,
  ) {
    [this.n, this.r, this.z, this.root, this.lowest] = all.more(5, V128);
  }

  open(): Code {
    return set(this.lowest, splat(f64(EXPONENTIAL.lowest)));
  }

  /** Replaces the numbers of local `x`. */
  apply(x: number): Code {
    const { n, r, z, root, table, lowest } = this;
    const times = (a: Code, factor: number) => multiplyF64x2(a, splat(f64(factor)));
    const plus = (value: number, b: Code) => addF64x2(splat(f64(value)), b);
    const { perStep, round, step } = EXPONENTIAL;
    const rounds = splat(f64(round));
    const whole = (lane: 0 | 1) => truncatedLane(get(n), lane);
    const rootAt = (lane: 0 | 1) => loadF64(add(get(table), shiftLeft(and(whole(lane), i32(ROOTS - 1)), 3)));
    const powerAt = (lane: 0 | 1) =>
      loadF64(
        // Added before it is multiplied, so that the index is never negative.
        add(get(table), shiftLeft(add(shiftRightSigned(whole(lane), 5), i32(-LEAST_POWER)), 3)),
        ROOTS * NUMBER,
      );
    const rest = addF64x2(
      get(r),
      multiplyF64x2(
        get(z),
        addF64x2(
          plus(1 / 2, times(get(r), 1 / 6)),
          multiplyF64x2(get(z), addF64x2(plus(1 / 24, times(get(r), 1 / 120)), times(get(z), 1 / 720))),
        ),
      ),
    );
    const known = pmaxF64x2(get(x), get(lowest));
    const code: Code[] = [
      set(n, subtractF64x2(addF64x2(times(known, perStep), rounds), rounds)),
      set(r, subtractF64x2(known, times(get(n), step.high))),
      set(r, subtractF64x2(get(r), times(get(n), step.low))),
      set(z, multiplyF64x2(get(r), get(r))),
      set(root, makeF64x2(rootAt(0), rootAt(1))),
      set(root, addF64x2(get(root), multiplyF64x2(get(root), rest))),
      set(root, multiplyF64x2(get(root), makeF64x2(powerAt(0), powerAt(1)))),
      set(x, andNotV128(get(root), isAboveF64x2(get(lowest), get(x)))),
    ];
    return code.flat();
  }
}
