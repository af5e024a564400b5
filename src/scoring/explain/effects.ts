import { isObject } from '../../util/json';
import { seededRandom } from '../../util/random';

/** What is to be explained. */
export interface ExplainWish {
  /** Columns that are one cause together, by its name; any other column is a cause by itself. */
  groups: Record<string, string[]>;
  /** The class explained; undefined: in each row the one answered. Of numbers undefined too. */
  label?: string | number | boolean;
  /** Only rows whose probability of that class, or whose mean, is above this. */
  above?: number;
}

/** Why a row is predicted as it is: `base` and `effects` add up to `prediction`. */
export interface RowEffects {
  /** The class explained, by its number; undefined for numbers. */
  of?: number;
  /** Probability of that class, or the mean. */
  prediction: number;
  /** What is predicted for the rows that it is compared with, in the mean. */
  base: number;
  /** One for each cause. */
  effects: number[];
}

/** Effects of the rows of a test set. */
export interface Effects {
  causes: string[];
  /** Per cause what its own column usually holds: the 10 % and the 90 % quantile; null where it holds no numbers. */
  usual: ([low: number, high: number] | null)[];
  /** Per cause, the mean of its own column over the background rows. */
  means: (number | null)[];
  /** By the number of the row, from 0; rows that were not explained are missing. */
  rows: Map<number, RowEffects>;
  /** Rows that were left out because there were too many. */
  left: number;
}

/** What the embedded service says of its predictions; undefined where it is anything else. */
export function readEffects(explanation: unknown): Effects | undefined {
  if (!isObject(explanation)) {
    return undefined;
  }
  const { groups, usual, means, rows, left, classes, predictions, bases, effects } =
    explanation as Partial<Explanation>;
  const lists = [groups, usual, means, rows, predictions, bases, effects];
  if (!lists.every((list) => Array.isArray(list))) {
    return undefined;
  }
  const own = rows!.map((row, i): [number, RowEffects] => [
    row,
    { of: classes?.[i], prediction: predictions![i]!, base: bases![i]!, effects: effects![i]! },
  ]);
  return { causes: groups!, usual: usual!, means: means!, rows: new Map(own), left: left ?? 0 };
}

interface Explanation extends Pick<Effects, 'usual' | 'means' | 'left'> {
  groups: string[];
  rows: number[];
  classes?: number[];
  predictions: number[];
  bases: number[];
  effects: number[][];
}

/** Those of the rows `from` to `to` (exclusive), numbered from 0. */
export function sliceEffects(effects: Effects, from: number, to: number): Effects {
  if (from === 0 && effects.rows.size === 0) {
    return effects;
  }
  const rows = [...effects.rows]
    .filter(([row]) => row >= from && row < to)
    .map(([row, own]): [number, RowEffects] => [row - from, own]);
  return { ...effects, rows: new Map(rows) };
}

/** Those of the parts of a table, in order; undefined where a part has none. */
export function joinEffects(parts: readonly { rows: number; effects?: Effects }[]): Effects | undefined {
  const rows = new Map<number, RowEffects>();
  let [from, left] = [0, 0];
  for (const part of parts) {
    if (part.effects === undefined) {
      return undefined;
    }
    for (const [row, own] of part.effects.rows) {
      rows.set(from + row, own);
    }
    left += part.effects.left;
    from += part.rows;
  }
  return { ...parts[0]!.effects!, rows, left };
}

/** Effects on a change as effects on the level: the column that it is the change from is a cause of it as well. */
export function addOffsetsToEffects(
  effects: Effects,
  offsets: readonly number[],
  relativeTo: string,
): Effects {
  const cause = effects.causes.indexOf(relativeTo);
  const mean = effects.means[cause] ?? 0;
  const rows = new Map<number, RowEffects>();
  for (const [row, own] of effects.rows) {
    const offset = offsets[row]!;
    if (!Number.isNaN(offset)) {
      const moved = own.effects.map((effect, i) => (i === cause ? effect + offset - mean : effect));
      rows.set(row, { prediction: own.prediction + offset, base: own.base + mean, effects: moved });
    }
  }
  return { ...effects, rows };
}

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
