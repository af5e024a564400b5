import type { TableProfile } from '../../table';
import type { Task } from '../../wire/types';
import type { Cleaned, ModelScores } from '../types';

/** Fewer rows say little about how good a model is. */
const MIN_ROWS = 10;
/** A classification target with fewer values is never taken for an id. */
const MIN_ID_VALUES = 3;
/** More different numbers than these are seldom the codes of classes. */
const MAX_CODES = 10;
/** Scores that are perfect but for rounding. */
const PERFECT = 0.9995;

/** Why a model of this table may not be worth much, a sentence each. */
export function targetDoubts({ target, rows: all }: TableProfile, task: Task): string[] {
  const rows = all - (target?.missing ?? 0);
  if (rows === 1) {
    return ['The train set has one row: the model can only answer what is in it. Give it more rows.'];
  }
  const doubts: string[] = [];
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
