import {
  type Column,
  type ColumnData,
  type Label,
  labelAt,
  numberAt,
  readBatches,
  type TableProfile,
  type TableSource,
} from '../../../table';
import type { Task } from '../../../wire/types';
import {
  columnInstant,
  daysOf,
  followsTime,
  isoTime,
  Steps,
  timeCandidates,
} from '../../evaluation/time-column';
import type { KeyTime } from '../../reference/types';

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

/** Whether a pass over the rows is needed at all. */
export function hasRowQuestions(questions: RowQuestions, { columns }: TableProfile): boolean {
  const { target, order, group, relativeTo, holdout } = questions;
  const ordered = order !== 'none' && timeCandidates(columns, target).length > 0;
  return holdout || group !== undefined || relativeTo !== undefined || ordered;
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
  for await (const batch of readBatches(source, read, { signal })) {
    const columnOf = (name: string): ColumnData => batch.columns[names.indexOf(name)]!;
    const y = columnOf(target);
    const now = relativeTo === undefined ? undefined : columnOf(relativeTo);
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
        groups.add(row, labelAt(columnOf(group), i));
      }
    }
    for (const { column, steps, values: own, newest } of times) {
      const cells = columnOf(column.name);
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
    facts.days = daysOf(found.column, found.steps);
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

/** The columns that are features. */
export function featureColumns(
  { columns }: TableProfile,
  target: string,
  left: readonly string[] = [],
): Column[] {
  return columns.filter(({ name }) => name !== target && !left.includes(name));
}
