import type { Random } from '../../math/random';

/**
 * Orders in which groups pass from a row of the background to the row that is explained, one at each step. They are the
 * same for every row explained, so groups in which both are alike have their step too, at which nothing changes. Mixtures
 * are numbered order after order: order · steps + step.
 */
export interface Orders {
  /** Rows of the background, and orders of each; the second, fourth … is the reverse of the one before. */
  rows: number;
  perRow: number;
  /** Groups with a step, and all groups. */
  common: number[];
  groups: number;
  /** Steps of an order, with the one before any group has passed. */
  steps: number;
  /** orders × groups: the step from which on the group is the row's. */
  turns: Int32Array;
  /** Per mixture the group that passes there; -1 before any has. */
  passing: Int32Array;
}

/**
 * @param perRow orders for each row of the background
 * @param reversed whether to begin with the reverse of each order drawn
 */
export function drawOrders(
  rows: number,
  { perRow, reversed }: { perRow: number; reversed: boolean },
  { common, groups }: { common: number[]; groups: number },
  random: Random,
): Orders {
  const steps = common.length + 1;
  const turns = new Int32Array(rows * perRow * groups);
  const passing = new Int32Array(rows * perRow * steps).fill(-1);
  let drawn: Int32Array = Int32Array.from(common);
  for (let order = 0; order < rows * perRow; order++) {
    const isSecond = (order % perRow) % 2 === 1;
    drawn = isSecond ? drawn : random.shuffle(Int32Array.from(common));
    drawn.forEach((group, place) => {
      const turn = isSecond === reversed ? place + 1 : common.length - place;
      turns[order * groups + group] = turn;
      passing[order * steps + turn] = group;
    });
  }
  return { rows, perRow, common, groups, steps, turns, passing };
}

/** Visits each order: its first mixture, and where its turns begin. */
export function eachOrder(
  { rows, perRow, steps, groups }: Orders,
  visit: (first: number, turns: number, row: number) => void,
): void {
  for (let order = 0; order < rows * perRow; order++) {
    visit(order * steps, order * groups, Math.floor(order / perRow));
  }
}

/** How many mixtures all orders have. */
export function mixturesOf({ rows, perRow, steps }: Orders): number {
  return rows * perRow * steps;
}
