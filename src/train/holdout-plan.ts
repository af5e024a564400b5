import type { KeyTime } from '../models/cards';
import { columnInstant, countDays, followsTime, isoTime, Steps, timeCandidates } from '../models/row-times';
import type { Column, Label } from '../table/cells/types';
import { type ColumnData, labelAt, numberAt } from '../table/columns/column-batch';
import type { TableProfile } from '../table/inference/profile';
import type { TableSource } from '../table/open';
import { sortedCopy } from '../util/collections';
import { Yielder } from '../util/concurrency';
import { seededRandom } from '../util/random';
import type { Task } from '../wire/vocabulary';

export interface RowQuestions {
  target: string;
  task: Task;
  order: 'auto' | 'time' | 'none';
  /** Rows with the same value here belong together. */
  group?: string;
  /** The column with the current value of the target. */
  relativeTo?: string;
  /** Some rows will be kept back: their times are needed. */
  holdout: boolean;
  signal?: AbortSignal;
}

/** What is known of each row of a train set beyond its features. */
export interface RowFacts {
  rows: number;
  task: Task;
  /** Classification: the class of each row as an index of `classes`, and how many rows there are of each. */
  codes: Int32Array;
  classes: Label[];
  counts: number[];
  /** Regression: the target of each row. */
  values: Float64Array;
  /** The group of each row, numbered from 0. */
  groups?: Int32Array;
  /** The label of each group by its number; null for a row of no group. */
  groupLabels?: readonly (Label | null)[];
  /** Regression: the current value of the target. NaN where it is missing. */
  relative?: Float64Array;
  /** Classification: rows whose label now is the label to predict. */
  sameAsNow?: Uint8Array;
  order: 'time' | 'none';
  /** The time of each row, where a column tells it and rows are kept back. */
  times?: Float64Array;
  /** The column that tells the time. */
  timeColumn?: Column;
  /** The newest rows come first. */
  falling: boolean;
  /** ISO 8601. */
  trainedUntil?: string;
  /** The newest time of each group, where a column tells the time. */
  trainedKeys?: KeyTime[];
  /** Days from the oldest row to the newest. */
  days?: number;
  /** A column of numbers that tells the time. They only ever rise, so nothing learned from them holds for rows to come. */
  clock?: string;
}

/** Reads the few columns that answer the questions, once. */
export async function readRowFacts(
  source: TableSource,
  profile: TableProfile,
  questions: RowQuestions,
): Promise<RowFacts> {
  const { target, task, order, group, relativeTo, holdout, signal } = questions;
  const byName = new Map(profile.columns.map((column) => [column.name, column]));
  const candidates = order === 'none' ? [] : timeCandidates(profile.columns, target);
  const names = [...new Set([target, group, relativeTo, ...candidates.map(({ name }) => name)])].filter(
    (name) => name !== undefined,
  );
  const read = names.map((name) => byName.get(name)!);
  const labels = new Codes(profile.rows);
  const groups = new Codes(group === undefined ? 0 : profile.rows);
  const values = new Float64Array(task === 'regression' ? profile.rows : 0);
  const targetSteps = new Steps();
  const relative = new Float64Array(relativeTo === undefined || task !== 'regression' ? 0 : profile.rows);
  const sameAsNow = new Uint8Array(relativeTo === undefined || task === 'regression' ? 0 : profile.rows);
  const times = candidates.map((column) => ({
    column,
    steps: new Steps(),
    values: new Float64Array(holdout ? profile.rows : 0),
    /** Of each group, by its number. */
    newest: [] as number[],
  }));
  let first = 0;
  for await (const batch of source.batches(read, { signal })) {
    const findColumn = (name: string): ColumnData => batch.columns[names.indexOf(name)]!;
    const y = findColumn(target);
    const now = relativeTo === undefined ? undefined : findColumn(relativeTo);
    for (let i = 0; i < batch.rows; i++) {
      const row = first + i;
      const value = numberAt(y, i);
      targetSteps.add(value);
      if (task === 'regression') {
        values[row] = value;
        if (now !== undefined) {
          relative[row] = numberAt(now, i);
        }
      } else {
        labels.add(row, labelAt(y, i));
        if (now !== undefined) {
          sameAsNow[row] = String(labelAt(now, i)) === String(labelAt(y, i)) ? 1 : 0;
        }
      }
      if (group !== undefined) {
        groups.add(row, labelAt(findColumn(group), i));
      }
    }
    for (const { column, steps, values: own, newest } of times) {
      const cells = findColumn(column.name);
      for (let i = 0; i < batch.rows; i++) {
        const time = numberAt(cells, i);
        steps.add(time);
        const code = group === undefined || Number.isNaN(time) ? undefined : groups.codes[first + i]!;
        if (code !== undefined && !(newest[code]! >= time)) {
          newest[code] = time;
        }
        if (own.length > 0) {
          own[first + i] = time;
        }
      }
    }
    first += batch.rows;
  }
  const found = times.find(({ column, steps }) => followsTime(column, steps, targetSteps));
  // Rows without a target were left out as they were read.
  const facts: RowFacts = {
    rows: first,
    task,
    codes: labels.codes.subarray(0, first),
    classes: labels.labels as Label[],
    counts: task === 'regression' ? [first] : labels.counts,
    values: values.subarray(0, first),
    order: order === 'time' || (order === 'auto' && found !== undefined) ? 'time' : 'none',
    falling: found?.steps.direction() === -1,
  };
  if (group !== undefined) {
    facts.groups = groups.codes.subarray(0, first);
    facts.groupLabels = groups.labels;
  }
  if (relativeTo !== undefined && task === 'regression') {
    facts.relative = relative.subarray(0, first);
  } else if (relativeTo !== undefined) {
    facts.sameAsNow = sameAsNow.subarray(0, first);
  }
  if (found !== undefined) {
    facts.timeColumn = found.column;
    facts.trainedUntil = isoTime(found.column, found.steps);
    facts.trainedKeys = keyTimes(found, groups.labels);
    facts.days = countDays(found.column, found.steps);
    facts.clock = found.column.type === 'date' ? undefined : found.column.name;
    if (holdout) {
      facts.times = found.values.subarray(0, first);
    }
  }
  return facts;
}

/** Of each group that has a name. */
function keyTimes(
  { column, steps, newest }: { column: Column; steps: Steps; newest: readonly number[] },
  labels: readonly (Label | null)[],
): KeyTime[] | undefined {
  const known = labels.flatMap((label, code): KeyTime[] => {
    const to = newest[code] === undefined ? undefined : columnInstant(column, newest[code], steps.max);
    return label === null || to === undefined ? [] : [{ key: String(label), to }];
  });
  return known.length === 0 ? undefined : known;
}

/** Numbers labels in the order in which they come. Missing ones are each a label of its own. */
class Codes {
  readonly codes: Int32Array;
  readonly labels: (Label | null)[] = [];
  readonly counts: number[] = [];
  private readonly known = new Map<Label, number>();

  constructor(rows: number) {
    this.codes = new Int32Array(rows);
  }

  add(row: number, label: Label | null): void {
    let code = label === null ? undefined : this.known.get(label);
    if (code === undefined) {
      code = this.counts.push(0) - 1;
      this.labels.push(label);
      if (label !== null) {
        this.known.set(label, code);
      }
    }
    this.codes[row] = code;
    this.counts[code]!++;
  }
}

/** Classes of all rows, by code, and how many there are of each. */
interface Coded {
  codes: Int32Array;
  counts: number[];
}

/** More rows than these make the scores no surer, and a metered service charges for each. */
export const MAX_HELD_ROWS = 10_000;

/** What becomes of a row. */
export const KEPT = 0;
export const HELD = 1;
/** Neither fitted nor scored. */
export const LEFT_OUT = 2;

interface HoldoutChoice {
  /** Part of the rows to keep back; at most MAX_HELD_ROWS are. */
  percent: number;
  seed: number;
  /** Where rows follow each other in time: rows this near to a held-out one are left out. */
  embargo: number;
  /** Where rows follow each other in time: their groups go on, so the newest rows of all are kept back. */
  groupsGoOn?: boolean;
}

/**
 * Which rows are kept back: whole groups where rows belong together and do not go on, the newest where they follow each
 * other in time, else some of each class by chance. Undefined where that leaves nothing to score, or too little to fit.
 */
export async function planRows(facts: RowFacts, choice: HoldoutChoice): Promise<Uint8Array | undefined> {
  const { percent, embargo } = choice;
  const quota = Math.min(MAX_HELD_ROWS, Math.floor((facts.rows * percent) / 100 + 1e-9));
  const plan = await chooseRows(facts, quota, choice);
  if (facts.order === 'time' && embargo > 0) {
    leaveOutNeighbours(plan, embargo);
  }
  return isUsable(plan, facts) ? plan : undefined;
}

function chooseRows(
  facts: RowFacts,
  quota: number,
  { percent, seed, groupsGoOn }: HoldoutChoice,
): Promise<Uint8Array> {
  const inTime = facts.order === 'time';
  if (facts.groups !== undefined && !(inTime && groupsGoOn === true)) {
    return chooseGroups(facts, facts.groups, quota, seed);
  }
  return inTime ? chooseNewest(facts, quota) : chooseHeld(facts, percent, seed);
}

/** The newest rows, by the column that tells the time, else the last ones. Rows of one time stay together. */
async function chooseNewest({ rows, times }: RowFacts, quota: number): Promise<Uint8Array> {
  const plan = new Uint8Array(rows);
  const known = times?.filter((time) => !Number.isNaN(time));
  if (times === undefined || known === undefined || known.length <= quota) {
    return plan.fill(HELD, rows - quota);
  }
  const newestKept = (await sortedCopy(known))[known.length - quota - 1]!;
  return plan.map((_, row) => (times[row]! > newestKept ? HELD : KEPT));
}

/** Whole groups: the newest ones where rows follow each other in time, else some by chance. */
async function chooseGroups(
  facts: RowFacts,
  groups: Int32Array,
  quota: number,
  seed: number,
): Promise<Uint8Array> {
  const list = await findGroups(facts, groups);
  const byTime = facts.order === 'time';
  const order = byTime ? list.sort((a, b) => b.newest - a.newest) : shuffled(list, seededRandom(seed));
  const left = facts.task === 'classification' ? [...facts.counts] : [];
  const plan = new Uint8Array(facts.rows);
  let held = 0;
  for (const { rows } of order) {
    const fits = held + rows.length <= quota || (held === 0 && rows.length * 2 <= facts.rows);
    if (fits && leavesEachClass(rows, facts.codes, left)) {
      for (const row of rows) {
        plan[row] = HELD;
      }
      held += rows.length;
    } else if (byTime && held > 0) {
      break;
    }
  }
  return plan;
}

interface Group {
  rows: number[];
  newest: number;
}

async function findGroups({ rows, times, falling }: RowFacts, groups: Int32Array): Promise<Group[]> {
  const yielder = new Yielder();
  const list: Group[] = [];
  for (let row = 0; row < rows; row++) {
    const group = (list[groups[row]!] ??= { rows: [], newest: -Infinity });
    const time = times === undefined ? (falling ? -row : row) : times[row]!;
    group.rows.push(row);
    group.newest = Math.max(group.newest, Number.isNaN(time) ? -Infinity : time);
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  return list;
}

/** Takes the rows out of the counts, unless that would leave a class without any. */
function leavesEachClass(rows: readonly number[], codes: Int32Array, left: number[]): boolean {
  if (left.length === 0) {
    return true;
  }
  const own = new Map<number, number>();
  for (const row of rows) {
    own.set(codes[row]!, (own.get(codes[row]!) ?? 0) + 1);
  }
  if ([...own].some(([code, count]) => count >= left[code]!)) {
    return false;
  }
  for (const [code, count] of own) {
    left[code]! -= count;
  }
  return true;
}

function leaveOutNeighbours(plan: Uint8Array, embargo: number): void {
  for (const step of [1, -1]) {
    let left = 0;
    for (let row = step > 0 ? 0 : plan.length - 1; row >= 0 && row < plan.length; row += step) {
      if (plan[row] === HELD) {
        left = embargo;
      } else if (left > 0) {
        left--;
        plan[row] = LEFT_OUT;
      }
    }
  }
}

/** Something to score, and something to fit: of two classes at least, where there are two. */
export function isUsable(plan: Uint8Array, { task, codes, counts }: RowFacts): boolean {
  const kept = new Set<number>();
  let held = false;
  for (let row = 0; row < plan.length; row++) {
    held ||= plan[row] === HELD;
    if (plan[row] === KEPT) {
      kept.add(codes[row] ?? 0);
    }
  }
  return held && kept.size >= (task === 'classification' ? Math.min(2, counts.length) : 1);
}

function shuffled<Item>(list: Item[], random: () => number): Item[] {
  for (let last = list.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [list[last], list[other]] = [list[other]!, list[last]!];
  }
  return list;
}

/**
 * Which rows are kept back: `true` where the mask is 1. Each class gives its part of them, to a row, and always keeps
 * one at least; which of its rows is by chance (Knuth, The Art of Computer Programming 2, algorithm S). The same seed
 * and rows give the same mask.
 *
 * @param percent of the rows; at most MAX_HELD_ROWS are kept back
 */
export async function chooseHeld(
  { codes, counts }: Coded,
  percent: number,
  seed: number,
): Promise<Uint8Array> {
  const part = Math.min(percent / 100, MAX_HELD_ROWS / Math.max(1, codes.length));
  const quota = quotas(counts, part);
  const left = [...counts];
  const random = seededRandom(seed);
  const held = new Uint8Array(codes.length);
  const yielder = new Yielder();
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row]!;
    if (random() * left[code]!-- < quota[code]!) {
      held[row] = 1;
      quota[code]!--;
    }
    if (yielder.isDueAt(row)) {
      await yielder.yield();
    }
  }
  return held;
}

/**
 * Rounded so that what one class loses by it the next gains: many small classes together give their part too. What a
 * class cannot give, because one row must stay, is not asked of another.
 */
function quotas(counts: readonly number[], part: number): number[] {
  let owed = 0;
  return counts.map((count) => {
    owed += count * part;
    // The sum of parts such as 0.1 falls short of a whole number by its rounding.
    const whole = Math.floor(owed + 1e-9);
    owed -= whole;
    return Math.max(0, Math.min(count - 1, whole));
  });
}
