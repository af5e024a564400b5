import type { Cleaned, ModelScores } from '../models/cards';
import { type Column, type Label, show } from '../table/cells/types';
import type { CategorySample, ColumnSample, NumberSample, TableSample } from '../table/columns/table-sample';
import type { TableProfile } from '../table/inference/profile';
import { ServiceError } from '../wire/service-error';
import type { Task } from '../wire/vocabulary';

/** Rows of a sample below which nothing is said of a column. */
const MIN_SAMPLED_ROWS = 20;
/** Rows of the rarest label below which chance can make a column equal to the target. */
const MIN_LABEL_ROWS = 5;
/** How a column that only tells rows apart is called. */
const ID_NAME =
  /(?:^|[\s_.-])(?:id|uid|udi|uuid|guid|key|nr|no|number|index|row|serial)$|[a-z](?:Id|ID|Nr|No)$/i;
const UNCASED_ID = /(?:^|[\s_.-])(?:id|uid|udi|uuid|guid)(?:$|[\s_.-])/i;
/** Fewer rows say little about how good a model is. */
const MIN_SCORED_ROWS = 10;
/** A classification target with fewer values is never taken for an id. */
const MIN_ID_VALUES = 3;
/** More different numbers than these are seldom the codes of classes. */
const MAX_CODES = 10;
/** Scores that are perfect but for rounding. */
const PERFECT = 0.9995;
/** Columns of a table in the long form, at most: id, value, time, and what a recorder adds. */
const MAX_LONG = 6;
/** How recorders of readings call the column that names the sensor of a row, and that of its value. */
const SENSOR =
  /^(?:entity|entity_?id|sensor|sensor_?id|metric|metric_?id|statistic_?id|_?measurement|_?field|variable|signal|tag|item|channel|parameter)$/i;
const VALUE = /^(?:state|_?value|val|reading|mean|wert|messwert|値|測定値)$/i;
const SHOWN_COLUMNS = 5;

/** Whole numbers with at most this many distinct values are classes (the task `auto`). */
const MAX_NUMBER_CLASSES = 10;

/** What the task `auto` means for a target: text, booleans and few whole numbers are classes. */
export function autoTask({ target }: TableProfile): Task {
  switch (target?.type) {
    case 'text':
    case 'boolean':
      return 'classification';
    case 'integer':
    case 'bigint':
    case 'number': {
      const whole =
        target.type !== 'number' ||
        (target.classes ?? []).every((value) => typeof value === 'number' && Number.isInteger(value));
      return whole && target.distinct <= MAX_NUMBER_CLASSES ? 'classification' : 'regression';
    }
    default:
      return 'regression';
  }
}

/** @throws ServiceError `table.invalid` for a target that cannot be learned with that task */
export function checkTarget(
  { target, rows }: TableProfile,
  task: Task,
  missingTarget: 'leaveOut' | 'error' = 'error',
): void {
  if (target === undefined) {
    return;
  }
  const { name, type, missing, firstMissing = 0, hint, text, oddWords } = target;
  if (missing === rows) {
    throw new ServiceError('table.invalid', `The target "${name}" is missing in all ${rows} rows.`);
  }
  if (missing > 0 && missingTarget === 'error') {
    throw new ServiceError(
      'table.invalid',
      `The target "${name}" is missing in ${missing} of ${rows} rows, first in row ${firstMissing + 1}: fill them, or set Rows without target to leave out (msg.missing_target).`,
    );
  }
  const what = { text: 'text', boolean: 'true and false', date: 'dates' }[
    type as 'text' | 'boolean' | 'date'
  ];
  if (task === 'regression' && what !== undefined) {
    if (hint !== undefined) {
      throw new ServiceError('table.invalid', `Regression needs a target of numbers. ${hint.problem}`);
    }
    if (oddWords !== undefined) {
      throw new ServiceError('table.invalid', `Regression needs a target of numbers. ${oddWords}`);
    }
    const where = text === undefined ? '' : ` (${show(text.value)}, row ${text.row + 1})`;
    throw new ServiceError(
      'table.invalid',
      `The target "${name}" holds ${what}${where}, and regression needs numbers: ` +
        (type === 'date' ? 'give the column numbers.' : 'choose classification, or give the column numbers.'),
    );
  }
}

/** Sentences about a target that can be learned, but perhaps not as the user means it. */
export function targetWarnings({ target, rows }: TableProfile, task: Task): string[] {
  if (target === undefined) {
    return [];
  }
  const { hint, distinct } = target;
  if (rows === 1 || distinct === 1) {
    return [];
  }
  // Few whole numbers are classes anyway.
  const meant = hint?.whole === true && distinct <= MAX_NUMBER_CLASSES;
  return task === 'classification' && hint !== undefined && !meant ? [`${hint.problem} ${hint.keep}`] : [];
}

/** Columns of a train set that it is better without, by its values alone. */
export interface Suspects {
  /** Each holds the target in other words. */
  copies: string[];
  /** Each only tells rows apart, and is named so where it holds numbers. */
  identifiers: string[];
  /** Each counts the rows, under another name. */
  counters: string[];
}

/** What is known of the columns of a sample: its features, and after them the target. */
interface Sampled {
  columns: readonly Column[];
  task: Task;
  group?: string;
  relativeTo?: string;
  order?: 'time' | 'none';
}

export function findSuspects(set: Sampled, sample: TableSample): Suspects {
  const { columns, group, order } = set;
  const suspects: Suspects = { copies: [], identifiers: [], counters: [] };
  const truth = sample.columns[columns.length];
  for (const [at, { name, type }] of columns.entries()) {
    const sampled = sample.columns[at];
    if (sampled === undefined) {
      continue;
    }
    // What grows evenly is a line of the time, and no copy of it.
    if (type !== 'date' && name !== set.relativeTo && truth !== undefined && isCopy(sampled, truth, set)) {
      suspects.copies.push(name);
    } else if (sample.rows < MIN_SAMPLED_ROWS || name === group) {
      continue;
    } else if (sampled.kind === 'category') {
      if (type === 'text' && isCode(sampled.cells) && isEachOther(sampled)) {
        suspects.identifiers.push(name);
      }
    } else if (isIdName(name)) {
      if (isWhole(sampled) && (counts(sampled) || (order !== 'time' && isUnique(sampled)))) {
        suspects.identifiers.push(name);
      }
    } else if (order !== 'time' && counts(sampled)) {
      // Rows in order of time may have a clock that counts them.
      suspects.counters.push(name);
    }
  }
  return suspects;
}

/** Whether a column says in each sampled row what the target says. */
function isCopy({ cells }: ColumnSample, truth: ColumnSample, { task }: Sampled): boolean {
  if (truth.cells.length < MIN_SAMPLED_ROWS) {
    return false;
  }
  return task === 'classification' ? areOneToOne(cells, truth.cells) : isLine(cells, truth.cells);
}

type Cells = readonly (Label | null)[];

/** Each value stands beside one label only, and each label beside one value. */
function areOneToOne(cells: Cells, labels: Cells): boolean {
  const of = new Map<unknown, unknown>();
  const from = new Map<unknown, unknown>();
  const counts = new Map<unknown, number>();
  for (const [row, label] of labels.entries()) {
    const cell = cells[row];
    if ((of.has(cell) && of.get(cell) !== label) || (from.has(label) && from.get(label) !== cell)) {
      return false;
    }
    of.set(cell, label);
    from.set(label, cell);
    counts.set(label, (counts.get(label) ?? 0) + 1);
  }
  return counts.size > 1 && Math.min(...counts.values()) >= MIN_LABEL_ROWS;
}

/** The same number in all rows, or the same in another unit. */
function isLine(cells: Cells, truth: Cells): boolean {
  const pairs = cells.flatMap((cell, row): [number, number][] => {
    const value = truth[row];
    return typeof cell === 'number' && typeof value === 'number' ? [[cell, value]] : [];
  });
  const low = pairs.reduce((least, pair) => (pair[0] < least[0] ? pair : least), pairs[0] ?? [0, 0]);
  const high = pairs.reduce((most, pair) => (pair[0] > most[0] ? pair : most), low);
  const [width, rise] = [high[0] - low[0], high[1] - low[1]];
  if (pairs.length < MIN_SAMPLED_ROWS || pairs.length < cells.length / 2 || width === 0 || rise === 0) {
    return false;
  }
  const different = new Set(pairs.map(([cell]) => cell)).size;
  return (
    different >= MIN_LABEL_ROWS &&
    pairs.every(([cell, value]) => {
      const expected = low[1] + ((cell - low[0]) / width) * rise;
      return Math.abs(value - expected) <= 1e-6 * Math.abs(rise);
    })
  );
}

const isIdName = (name: string): boolean => ID_NAME.test(name) || UNCASED_ID.test(name);

/** Dates are numbers too, but none of them counts in ones. */
const isWhole = ({ cells, missing }: NumberSample): boolean => missing === 0 && cells.every(Number.isInteger);

function isEachOther({ categories, counts: rows, complete, cells, missing }: CategorySample): boolean {
  const isDifferent = new Set(cells).size === cells.length;
  return (
    missing === 0 && isDifferent && (complete ? rows.every((count) => count === 1) : categories.length > 0)
  );
}

/** Words of a sentence or a name are no code. */
function isCode(cells: Cells): boolean {
  return cells.every((cell) => typeof cell === 'string' && !/\s/.test(cell.trim()));
}

/** Whole numbers of which each is one more than the one before. Of windows, only their beginnings are not. */
function counts({ values, missing }: NumberSample): boolean {
  let steps = 0;
  for (let row = 1; row < values.length; row++) {
    steps += values[row]! - values[row - 1]! === 1 ? 1 : 0;
  }
  return missing === 0 && values.length >= MIN_SAMPLED_ROWS && steps >= 0.98 * (values.length - 1);
}

function isUnique({ values, cells }: NumberSample): boolean {
  const all = cells.length > values.length ? Float64Array.from(cells, Number) : values;
  return all.every(Number.isInteger) && new Set(all).size === all.length;
}

/** Says that each row is a reading of another sensor, as a history of home automation is exported. */
function longFormDoubt({ columns, target }: TableProfile): string[] {
  if (columns.length > MAX_LONG || !VALUE.test(target!.name)) {
    return [];
  }
  const sensor = columns.find(({ name, type }) => SENSOR.test(name) && type === 'text');
  const time = columns.find(({ name, type }) => type === 'date' && name !== target?.name);
  if (sensor === undefined || time === undefined) {
    return [];
  }
  return [
    `Each row is a reading of the sensor that "${sensor.name}" names, and "${target!.name}" holds the values of all of them, so the model mixes what they measure. It needs a column for each sensor: send the rows one by one to a Series node, as {"time": row.${time.name}, [row.${sensor.name}]: row.${target!.name}}.`,
  ];
}

/** Why a model of this table may not be worth much, a sentence each. */
export function targetDoubts(profile: TableProfile, task: Task): string[] {
  const { target, rows: all } = profile;
  const rows = all - (target?.missing ?? 0);
  if (rows === 1) {
    return ['The train set has one row: the model can only answer what is in it. Give it more rows.'];
  }
  const doubts = target === undefined ? [] : longFormDoubt(profile);
  if (target?.distinct === 1) {
    const only = task === 'classification' ? 'has one class only,' : 'is always';
    doubts.push(
      `The target "${target.name}" ${only} ${show(target.classes?.[0])}, in all ${rows} rows: the model can answer nothing else.`,
    );
  }
  if (target !== undefined && task === 'classification' && !target.hint && !target.oddWords) {
    const { name, distinct } = target;
    if (distinct >= MIN_ID_VALUES && distinct * 2 > rows) {
      doubts.push(
        `The target "${name}" has ${distinct > 1000 ? 'more than 1,000' : distinct} different values in ${rows} rows, so it looks like an id or a name, which cannot be learned: choose another target, or regression where it is a number.`,
      );
    }
  }
  if (task === 'classification' && target?.type === 'text' && target.distinct > MAX_CODES) {
    const { name, hint, oddWords } = target;
    if (hint !== undefined) {
      doubts.push(hint.problem);
    } else if (oddWords !== undefined) {
      doubts.push(
        `The target "${name}" is text because of a few words, so each of its numbers is a class of its own. If it is a number, add these words to Missing words.`,
      );
    }
  }
  if (rows < MIN_SCORED_ROWS) {
    doubts.push(`The train set has ${rows} rows, too few to tell how good the model is. Give it more rows.`);
  }
  return doubts;
}

/** Why a perfect score is not to be believed. */
export function scoreDoubts(scores: ModelScores | undefined, distinctRows: number | undefined): string[] {
  const score = scores?.accuracy ?? scores?.r2 ?? 0;
  return score >= PERFECT && distinctRows !== undefined
    ? [
        `The score is perfect, but the train set has only ${distinctRows} different rows: those that were scored were also learned. Score the model on rows that it has not seen.`,
      ]
    : [];
}

/** Says what was left out of a train set. */
export function cleanedWarnings(
  { rows_left_out: left, cells_missing: cells }: Cleaned,
  { rows }: TableProfile,
  target: string,
): string[] {
  const counts = Object.entries(cells);
  const shown = counts.slice(0, SHOWN_COLUMNS).map(([name, count]) => `"${name}" ${count}`);
  const more = counts.length > SHOWN_COLUMNS ? ` and ${counts.length - SHOWN_COLUMNS} more columns` : '';
  return [
    ...(left > 0 ? [`${left} of ${rows} rows have no target "${target}" and were left out.`] : []),
    ...(counts.length > 0 ? [`Cells taken as missing: ${shown.join(', ')}${more}.`] : []),
  ];
}
