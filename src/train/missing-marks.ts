import { type Column, show } from '../table/cells/types';
import type { ColumnSample, TableSample } from '../table/columns/table-sample';

/* Numbers that stand for "missing" in a train set, and are not said to. */

/** A value that stands in fewer rows of the sample may be one that was measured. */
const MIN_ROWS = 3;
/** Columns of fewer other values may be codes. */
const MIN_OTHERS = 5;
/**
 * How far a mark is from all other values of a column, as a part of their range; and where another column has the same one.
 * Of 284 public tables (3,412 columns: those of vega, seaborn and NAB, and three collections on GitHub) a column of the bank
 * marketing of UCI has one, days since the last contact that are 999 where there was none, and one of its census, a gain of
 * 99999; and all 13 columns of its air quality, in rows where a sensor told nothing (-200).
 */
const FAR = 1;
const FAR_WITH_OTHERS = 0.1;
const NINES = /^9{2,}$/;
const SHOWN_COLUMNS = 3;

/** A number that may stand for "missing", and the columns that hold it. */
export interface MissingMark {
  columns: string[];
  text: string;
}

interface Found {
  column: string;
  value: number;
  /** Part of the rows. */
  share: number;
  /** The other value that is nearest to it, and the one farthest from it. */
  nearest: number;
  farthest: number;
  gap: number;
}

/**
 * Finds marks such as -200, -999 or 9999: whole numbers, below 0 or of nines, that stand in several rows, far from all others.
 *
 * @param columns those of the sample, in its order
 */
export function findMissingMarks(columns: readonly Column[], sample: TableSample): MissingMark[] {
  const found = columns.flatMap(({ name, type }, at) => {
    const one = sample.columns[at];
    return one === undefined || type === 'date' ? [] : findIn(name, one);
  });
  const values = new Set(found.filter(({ gap }) => gap >= FAR).map(({ value }) => value));
  return [...values].map((value) => {
    const holding = found.filter((one) => one.value === value && one.gap >= FAR_WITH_OTHERS);
    return { columns: holding.map(({ column }) => column), text: describeMark(value, holding) };
  });
}

function findIn(column: string, sample: ColumnSample): Found[] {
  if (sample.kind !== 'number') {
    return [];
  }
  const { min, max, values } = sample;
  return [
    ...(isMark(min) ? lookFor(column, values, { value: min, farthest: max }) : []),
    ...(isMark(max) ? lookFor(column, values, { value: max, farthest: min }) : []),
  ];
}

/** Ends at the first value that is too near: most columns of numbers below 0 have one among their first. */
function lookFor(
  column: string,
  values: Float64Array,
  { value, farthest }: Pick<Found, 'value' | 'farthest'>,
): Found[] {
  const others = new Set<number>();
  let [marked, rows, nearest, gap] = [0, 0, farthest, Infinity];
  for (const other of values) {
    if (Number.isNaN(other)) {
      continue;
    }
    rows++;
    if (other === value) {
      marked++;
      continue;
    }
    if (Math.abs(other - value) <= Math.abs(nearest - value)) {
      nearest = other;
      gap = Math.abs(nearest - value) / Math.abs(farthest - nearest);
      if (gap < FAR_WITH_OTHERS) {
        return [];
      }
    }
    if (others.size < MIN_OTHERS) {
      others.add(other);
    }
  }
  return marked < MIN_ROWS || others.size < MIN_OTHERS
    ? []
    : [{ column, value, share: marked / rows, nearest, farthest, gap }];
}

function isMark(value: number): boolean {
  return Number.isInteger(value) && (value < 0 || NINES.test(String(value)));
}

function describeMark(value: number, holding: readonly Found[]): string {
  const [{ column, share, nearest, farthest }] = holding.toSorted((a, b) => b.gap - a.gap) as [Found];
  const [low, high] = [nearest, farthest].sort((a, b) => a - b).map((end) => Number(end.toPrecision(6)));
  const percent = Math.max(1, Math.round(100 * share));
  const names = holding.map((one) => show(one.column));
  const more = names.length - SHOWN_COLUMNS;
  const listed = names.slice(0, SHOWN_COLUMNS).join(', ');
  const subject =
    names.length === 1
      ? `The column ${listed} holds ${value}`
      : `The columns ${listed}${more > 0 ? ` and ${more} more` : ''} hold ${value}`;
  const where = names.length === 1 ? '' : ` of ${show(column)}`;
  return `${subject}, in some ${percent} % of the rows${where}, far from the other values there (${low} to ${high}). If it means that a value is missing, add ${value} to Missing words (msg.missing_words).`;
}
