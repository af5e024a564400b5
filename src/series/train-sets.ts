import { setCell } from '../table/cells/types';
import { Yielder } from '../util/concurrency';
import { DAY, HOUR, showDuration } from '../util/durations';
import type { RowColumn, SeriesFeatures } from './features';
import type { KeptRow } from './machine';
import type { Sensor } from './sensors';
import type { SeriesCells, SeriesSettings, SeriesTrainSet, TrainReason, TrainSchedule } from './types';

/** Outcomes before the first train set of `auto`, and how many of them must be of the rarer class. */
const FIRST_ROWS = 200;
const FIRST_RARER = 20;
/** Separate events: with fewer, a model is scored on the very event that it has learned from. */
export const FIRST_EVENTS = 3;
/** `auto` after that: grown by this share, or a day later by this many rows. */
const GROWTH = 0.2;
const DAILY_ROWS = 50;
/** A table of fewer rows than this share of the last train set is like live readings. */
const FEW = 0.05;

/** What decides whether a train set is due. */
export interface ScheduleFacts {
  /** Rows kept with their outcome, and outcomes in total. */
  kept: number;
  outcomes: number;
  /** Rows of the rarest class; undefined where outcomes are numbers. */
  rarer: number | undefined;
  /** Separate events in the rows kept, {@link FIRST_EVENTS} at most; undefined where the outcome is not an event. */
  events: number | undefined;
  now: number;
}

/**
 * When train sets are sent. By the wall clock rather than event time: the hour between two is there to spare the service,
 * and a week of readings that arrives in a minute is one reason to fit, not seven.
 */
export class Schedule {
  trainSets = 0;
  trainedAt: number | undefined;
  /** Outcomes in total, and rows kept, at the last train set. */
  outcomesThen = 0;
  keptThen = 0;
  /** Decay was reported too soon for a train set. It is reported once a day only, so the train set follows when it may. */
  decayWaits = false;

  constructor(private readonly schedule: TrainSchedule) {}

  /** How many outcomes the first train set waits for; 0 where none is sent unasked. */
  get needed(): number {
    const { schedule } = this;
    return schedule.kind === 'never' ? 0 : schedule.kind === 'rows' ? schedule.rows : FIRST_ROWS;
  }

  /** Whether the rows of a table are few beside those of the last train set. */
  areFew(rows: number): boolean {
    return rows < FEW * this.keptThen;
  }

  due(facts: ScheduleFacts): TrainReason | undefined {
    const { schedule } = this;
    if (this.decayWaits && this.mayAnswerDecay(facts)) {
      return 'decay';
    }
    if (schedule.kind === 'never') {
      return undefined;
    }
    if (this.trainedAt === undefined) {
      const { kept, rarer = FIRST_RARER, events = FIRST_EVENTS } = facts;
      const hasBoth = rarer >= FIRST_RARER && events >= FIRST_EVENTS;
      return kept >= this.needed && (hasBoth || schedule.kind === 'rows') ? 'first' : undefined;
    }
    const fresh = facts.outcomes - this.outcomesThen;
    const passed = facts.now - this.trainedAt;
    switch (schedule.kind) {
      case 'rows':
        return fresh >= schedule.rows ? 'rows' : undefined;
      case 'interval':
        return passed >= schedule.ms && fresh > 0 ? 'schedule' : undefined;
      case 'auto':
        if (passed < HOUR) {
          return undefined;
        }
        if (fresh >= GROWTH * this.keptThen) {
          return 'rows';
        }
        return passed >= DAY && fresh >= DAILY_ROWS ? 'schedule' : undefined;
    }
  }

  /**
   * Whether decay may trigger a train set: not without a new outcome, and not within an hour of the last train set; with
   * a schedule in rows, once a tenth of them is new.
   */
  mayAnswerDecay({ now, outcomes }: ScheduleFacts): boolean {
    const { schedule } = this;
    const fresh = outcomes - this.outcomesThen;
    if (this.trainedAt === undefined) {
      return true;
    }
    return schedule.kind === 'rows' ? fresh >= schedule.rows / 10 : fresh > 0 && now - this.trainedAt >= HOUR;
  }

  went({ now, outcomes, kept }: ScheduleFacts): void {
    this.trainSets++;
    this.trainedAt = now;
    this.outcomesThen = outcomes;
    this.keptThen = kept;
    this.decayWaits = false;
  }
}

/** With fewer keys, folds of whole keys would measure the keys rather than the model: then only time matters. */
const MIN_GROUPS = 5;
/** A key with rows in this last share of the time is still active. */
const END_SHARE = 0.1;
/** The embargo is this quantile of the rows' own needs: a burst of readings must not set it for all. */
const EMBARGO_SHARE = 0.9;
/** Rows at the next few times are alike, however short the time ahead: at least this many are covered. */
const TIMES_ALIKE = 6;
/** First weeks are left out only where they are at most this share of the rows, and enough rows remain. */
const FIRST_WEEK_SHARE = 1 / 3;
const LEFT_WITHOUT_FIRST_WEEK = 200;

interface TrainSetParts {
  settings: SeriesSettings;
  features: SeriesFeatures;
  /** The outcome's column, where it is a number. */
  level: Sensor | undefined;
  truthCell: (truth: number) => number | string | boolean;
}

/** The name of the target column. */
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

/** Makes a train set of rows in any order. Undefined where no row can be learned from. */
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
    rows: () => takeRows(all, columns, { target, features, truthCell }),
  };
}

/**
 * Leaves out each key's first week, in which the values a week before are missing. Such rows occur only once and have
 * larger errors: with them the scores are too pessimistic, by half where they are many (docs/benchmarks/told.md).
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
 * Whether most rows belong to keys that are still active at the end: those are then the keys to be predicted. Of machines
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
 * Whether the days before predict the outcome better than "no change" does. Where they do not there is no such rhythm, and
 * the column is noise: machine temperature 6 h ahead lost 8 % by it (docs/benchmarks/series.md).
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
 * The embargo in rows: how many rows after a row overlap the time up to its outcome, or are at the next few times; the 90 %
 * quantile over all rows. Rows that overlap by their windows alone stay: without them folds learn from so little that the
 * promised loss is up to 1.5 times too high (docs/benchmarks/series.md).
 */
function embargoRows(rows: readonly KeptRow[], ahead: number): number {
  // Rows at the same time are adjacent: the index at which each time begins, and finally the number of rows.
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

async function takeRows(
  all: readonly KeptRow[],
  columns: readonly RowColumn[],
  { target, features, truthCell }: Pick<TrainSetParts, 'features' | 'truthCell'> & { target: string },
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
