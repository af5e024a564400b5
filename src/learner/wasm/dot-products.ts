import {
  addF64,
  addF64x2,
  addToLane0,
  type Code,
  f64,
  get,
  i32,
  isBelow,
  loadF64,
  loadF64x2,
  move,
  multiplyF64,
  multiplyF64x2,
  NUMBER,
  PAIR,
  set,
  splat,
  sumLanes,
  V128,
  whileLoop,
} from './instructions';
import type { Locals } from './locals';

/** Bytes of a group of numbers that are multiplied together: two pairs. */
export const GROUP = 2 * PAIR;

/**
 * Dot products of several rows with one vector, four partial sums each, as in `dotAt`, so to the same bits. Taken
 * together, no row's sums wait for each other.
 */
export class DotProducts {
  private readonly ahead: number[];
  private readonly behind: number[];
  private readonly first: number;
  private readonly second: number;

  /**
   * @param rows locals with the address of each row; they end behind its last number
   * @param vector local with the address of the vector; it ends there too
   */
  constructor(
    all: Locals,
    private readonly rows: readonly number[],
    private readonly vector: number,
  ) {
    this.ahead = all.more(rows.length, V128);
    this.behind = all.more(rows.length, V128);
    [this.first, this.second] = all.more(2, V128);
  }

  /**
   * @param even address in the vector at which its whole groups end
   * @param end of the vector
   */
  add(even: Code, end: Code): Code {
    const { rows, vector, ahead, behind, first, second } = this;
    const zeros = [...ahead, ...behind].map((sum) => set(sum, splat(f64(0))));
    const group: Code[] = [
      set(first, loadF64x2(get(vector))),
      set(second, loadF64x2(get(vector), PAIR)),
      ...rows.flatMap((row, i) => [
        set(ahead[i], addF64x2(get(ahead[i]), multiplyF64x2(loadF64x2(get(row)), get(first)))),
        set(behind[i], addF64x2(get(behind[i]), multiplyF64x2(loadF64x2(get(row), PAIR), get(second)))),
        move(row, i32(GROUP)),
      ]),
      move(vector, i32(GROUP)),
    ];
    const one: Code[] = [
      ...rows.flatMap((row, i) => [
        addToLane0(ahead[i], multiplyF64(loadF64(get(row)), loadF64(get(vector)))),
        move(row, i32(NUMBER)),
      ]),
      move(vector, i32(NUMBER)),
    ];
    return [
      ...zeros.flat(),
      ...whileLoop(isBelow(get(vector), even), group.flat()),
      ...whileLoop(isBelow(get(vector), end), one.flat()),
    ];
  }

  /** The product of this row, by its place among them. */
  of(row: number): Code {
    return addF64(sumLanes(this.ahead[row]), sumLanes(this.behind[row]));
  }
}
