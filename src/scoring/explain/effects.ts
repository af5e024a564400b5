import { isObject } from '../../util/json';

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
export function sliceEffects(effects: Effects | undefined, from: number, to: number): Effects | undefined {
  if (effects === undefined || (from === 0 && effects.rows.size === 0)) {
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
