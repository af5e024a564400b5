import { seededRandom } from '../../util/random';
import type { RowEffects } from './effects';

/** Rows to be predicted so that some rows can be explained: mixtures of them with rows of the background. */
export interface Mixtures {
  /** [column][mixture]: the row that the cell is taken from; explained rows first, then those of the background. */
  sources: number[][];
  /** [row explained][row of the background]: a random order of the causes; its reverse is tried too. */
  orders: number[][][];
}

/** Mixtures that it takes to explain a row: a random order and its reverse for each row of the background. */
export function mixturesPerRow(background: number, causes: number): number {
  return 1 + background * 2 * Math.max(0, causes - 1);
}

/**
 * The mixtures of `rows` explained rows with `background` rows: those of the background as they are; then for each
 * explained row itself, and for each row of the background the steps along an order of the causes, and along its reverse.
 *
 * @param causeOf per column the number of its cause
 */
export function planMixtures(
  rows: number,
  background: number,
  causeOf: readonly number[],
  causes: number,
): Mixtures {
  const sources: number[][] = causeOf.map(() => []);
  const add = (row: number, base: number, taken: ReadonlySet<number> | 'all' | 'none') =>
    causeOf.forEach((cause, column) => {
      const isOwn = taken === 'all' || (taken !== 'none' && taken.has(cause));
      sources[column]!.push(isOwn ? row : rows + base);
    });
  for (let base = 0; base < background; base++) {
    add(0, base, 'none');
  }
  const orders: number[][][] = [];
  for (let row = 0; row < rows; row++) {
    add(row, 0, 'all');
    const own: number[][] = [];
    for (let base = 0; base < background; base++) {
      const order = shuffled(causes, row * background + base);
      own.push(order);
      for (const way of [order, order.toReversed()]) {
        const taken = new Set<number>();
        for (const cause of way.slice(0, -1)) {
          taken.add(cause);
          add(row, base, taken);
        }
      }
    }
    orders.push(own);
  }
  return { sources, orders };
}

/** The effects of one explained row, from the answers to the mixtures. */
export function effectsOfMixtures(
  row: number,
  { orders }: Mixtures,
  answerOf: (mixture: number) => number,
  causes: number,
): Omit<RowEffects, 'of'> {
  const background = orders[row]!.length;
  let at = background + row * mixturesPerRow(background, causes);
  const prediction = answerOf(at++);
  const effects = new Array<number>(causes).fill(0);
  let base = 0;
  orders[row]!.forEach((order, one) => {
    const start = answerOf(one);
    base += start / background;
    for (const way of [order, order.toReversed()]) {
      let before = start;
      way.forEach((cause, step) => {
        const after = step === causes - 1 ? prediction : answerOf(at++);
        effects[cause]! += (after - before) / (2 * background);
        before = after;
      });
    }
  });
  return { prediction, base, effects };
}

/** The numbers from 0 in a random order that is always the same for a seed. */
function shuffled(count: number, seed: number): number[] {
  const random = seededRandom(seed);
  const order = Array.from({ length: count }, (_, i) => i);
  for (let i = count - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1));
    [order[i], order[j]] = [order[j]!, order[i]!];
  }
  return order;
}
