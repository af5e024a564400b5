import { setCell } from '../../table';
import { Yielder } from '../../util/event-loop';
import type { KeptRow } from '../kept-row';
import type { Sensor } from '../readings/sensors';
import type { RowColumn, SeriesFeatures } from '../rows/features';
import { DAY, showDuration } from '../settings/durations';
import type { SeriesCells, SeriesSettings, SeriesTrainSet, TrainReason } from '../types';

/** With fewer keys, folds of whole keys would say more of the keys than of the model: then time alone orders the rows. */
const MIN_GROUPS = 5;
/** A key that has rows in this last share of the time goes on. */
const END_SHARE = 0.1;
/** The embargo covers what lies near a row for this share of the rows: bursts do not set it for all. */
const EMBARGO_SHARE = 0.9;
/** The readings of so many times after another are like it, however short the time ahead is. */
const TIMES_ALIKE = 6;
/** Rows of a first week may be left out where they are no more than this share of all, and so many are left. */
const FIRST_WEEK_SHARE = 1 / 3;
const LEFT_WITHOUT_FIRST_WEEK = 200;

export interface TrainSetParts {
  settings: SeriesSettings;
  features: SeriesFeatures;
  /** The outcome's column, where it is a number. */
  level: Sensor | undefined;
  truthCell: (truth: number) => number | string | boolean;
}

/** The column that holds the outcome in outcomes and train sets. */
export function targetName({ outcome, aheads }: SeriesSettings): string {
  const [ahead] = aheads;
  const isOne = aheads.length === 1;
  switch (outcome.kind) {
    case 'column':
      return isOne ? `${outcome.column} in ${showDuration(ahead!)}` : `${outcome.column} ahead`;
    case 'event': {
      const event = `${outcome.column} ${outcome.operator} ${outcome.value}`;
      return isOne ? `${event} within ${showDuration(ahead!)}` : `${event} ahead`;
    }
    default:
      return 'outcome';
  }
}

/** A train set of rows with their outcomes, in any order. Undefined where no row can be learned from. */
export function makeTrainSet(
  rows: Iterable<KeptRow>,
  reason: TrainReason,
  { settings, features, level, truthCell }: TrainSetParts,
): SeriesTrainSet | undefined {
  const relativeTo = settings.relative ? level : undefined;
  const sorted = [...rows]
    .filter(({ row }) => relativeTo === undefined || !Number.isNaN(features.now(row, relativeTo)))
    .sort((a, b) => a.time - b.time || a.ahead - b.ahead || compareKeys(a.key, b.key));
  if (sorted.length === 0) {
    return undefined;
  }
  const all = features.hasHistory && level !== undefined ? withoutFirstWeeks(sorted, features) : sorted;
  const [from, to] = [all[0]!.time, all.at(-1)!.time];
  const days = (to - from) / DAY;
  const columns = features
    .columns()
    .filter((column) => column.days <= days)
    .filter(
      ({ guess }) => guess === undefined || (level !== undefined && saysMore(all, guess, features, level)),
    );
  const target = targetName(settings);
  const keys = new Set(all.map(({ key }) => key));
  const isGrouped = keys.size >= MIN_GROUPS;
  return {
    target,
    ignore: isGrouped ? [features.keyColumn] : [],
    order: 'time',
    embargo: embargoRows(all, settings.aheads.at(-1)!),
    ...(relativeTo !== undefined && { relative_to: relativeTo.name }),
    ...(isGrouped && { group: features.keyColumn, folds: keysGoOn(all) ? 'blocks' : 'groups' }),
    replace: 'better',
    train: { reason, rows: all.length, from, to, ...(keys.size > 1 && { keys: newestByKey(all) }) },
    rows: () => rowsOf(all, columns, target, features, truthCell),
  };
}

/**
 * Rows without those of each key's first week, which know no week before. Such rows come once, and their errors are
 * larger: with them a model is told to be worse than it will be, by half where they are many (docs/benchmarks/told.md).
 *
 * @param rows in order of time
 */
function withoutFirstWeeks(rows: readonly KeptRow[], features: SeriesFeatures): readonly KeptRow[] {
  const known = new Set<string | null>();
  const later = rows.filter(({ key, row }) => {
    if (!known.has(key) && !features.lacksWeek(row)) {
      known.add(key);
    }
    return known.has(key);
  });
  const isLittle = rows.length - later.length <= FIRST_WEEK_SHARE * rows.length;
  return isLittle && later.length >= LEFT_WITHOUT_FIRST_WEEK ? later : rows;
}

/**
 * Whether most rows are of keys that are still there at the end: then those are the keys of the rows to come. Of machines
 * that come and go, each with a life of its own, few are.
 *
 * @param rows in order of time
 */
function keysGoOn(rows: readonly KeptRow[]): boolean {
  const [from, to] = [rows[0]!.time, rows.at(-1)!.time];
  const isThere = new Set<string | null>();
  for (const { key, time } of rows) {
    if (time >= to - END_SHARE * (to - from)) {
      isThere.add(key);
    }
  }
  return 2 * rows.filter(({ key }) => isThere.has(key)).length >= rows.length;
}

/** @param rows in order of time */
function newestByKey(rows: readonly KeptRow[]): { key: string; to: number }[] {
  const newest = new Map<string, number>();
  for (const { key, time } of rows) {
    if (key !== null) {
      newest.set(key, time);
    }
  }
  return Array.from(newest, ([key, to]) => ({ key, to }));
}

/**
 * Whether the outcome is nearer to what days before tell of it than to its value now. Where it is not, there is no such
 * rhythm, and the column says what was by chance: machine temperature 6 h ahead lost 8 % by it (docs/benchmarks/series.md).
 */
function saysMore(rows: readonly KeptRow[], at: number, features: SeriesFeatures, level: Sensor): boolean {
  let [guessed, unchanged] = [0, 0];
  for (const { row, truth } of rows) {
    const change = truth - features.now(row, level);
    const cell = at < row.length ? row[at]! : NaN;
    if (!Number.isNaN(change) && !Number.isNaN(cell)) {
      guessed += Math.abs(change - cell);
      unchanged += Math.abs(change);
    }
  }
  return guessed < unchanged;
}

function compareKeys(a: string | null, b: string | null): number {
  return a === b ? 0 : (a ?? '') < (b ?? '') ? -1 : 1;
}

/**
 * How many rows after a row share a part of its outcome's time, or are of the next few times, for nine rows in ten at
 * most. Rows whose windows alone reach back to it stay: without them a fold learns from so little that a model is told to
 * be up to 1.5 times worse than it comes (docs/benchmarks/series.md).
 */
function embargoRows(rows: readonly KeptRow[], ahead: number): number {
  // Rows of one time stand together: where those of each time begin, and at last the number of rows.
  const starts = [...rows.keys()].filter((i) => i === 0 || rows[i]!.time > rows[i - 1]!.time);
  const times = starts.map((start) => rows[start]!.time);
  starts.push(rows.length);
  const counts = new Float64Array(rows.length);
  let end = 0;
  times.forEach((time, k) => {
    while (end < times.length && times[end]! < time + ahead) {
      end++;
    }
    const last = Math.min(Math.max(end, k + 1 + TIMES_ALIKE), times.length);
    counts.fill(starts[last]! - starts[k + 1]!, starts[k], starts[k + 1]);
  });
  counts.sort();
  return counts[Math.floor(EMBARGO_SHARE * (counts.length - 1))]!;
}

async function rowsOf(
  all: readonly KeptRow[],
  columns: readonly RowColumn[],
  target: string,
  features: SeriesFeatures,
  truthCell: TrainSetParts['truthCell'],
): Promise<SeriesCells[]> {
  const yielder = new Yielder();
  const filled: RowColumn[] = [];
  for (const column of columns) {
    if (all.some(({ row }) => column.at < row.length && !Number.isNaN(row[column.at]!))) {
      filled.push(column);
    }
    await yielder.due();
  }
  const result: SeriesCells[] = [];
  for (const { key, row, truth } of all) {
    const cells: SeriesCells = {};
    if (key !== null) {
      setCell(cells, features.keyColumn, key);
    }
    for (const column of filled) {
      setCell(cells, column.name, features.cell(row, column));
    }
    setCell(cells, target, truthCell(truth));
    result.push(cells);
    await yielder.due();
  }
  return result;
}
