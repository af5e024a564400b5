import type { TableProfile } from '../../../table';
import type { Task } from '../../../wire/types';
import type { Cleaned, ModelScores } from '../../types';

/** Fewer rows say little about how good a model is. */
const MIN_ROWS = 10;
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

/** Says that each row is a reading of another sensor, as a history of home automation is exported. */
function longFormDoubt({ columns, target }: TableProfile): string[] {
  const sensor = columns.find(({ name, type }) => SENSOR.test(name) && type === 'text');
  const time = columns.find(({ name, type }) => type === 'date' && name !== target?.name);
  if (sensor === undefined || time === undefined || columns.length > MAX_LONG || !VALUE.test(target!.name)) {
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
  if (rows < MIN_ROWS) {
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

const SHOWN_COLUMNS = 5;

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
