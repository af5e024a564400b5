import { RANGE_NAMES, SCORE_NAMES } from '../../../metrics/scores';
import type { ColumnImportance, ModelScores, ModelThresholds, Scores } from '../../types';

/** All cards share a file, so the importance of a wide table is cut. */
const MAX_COLUMNS = 50;
const MAX_REASONS = 10;
const MAX_REASON_LENGTH = 300;

/**
 * What a fit answer's `report` says about the model, as the embedded service sends it. The specification has no such
 * field, so whatever is not understood is left out.
 */
export function readReport(report: unknown): {
  scores?: ModelScores;
  importance?: ColumnImportance[];
  thresholds?: ModelThresholds;
  limited?: string[];
  folds?: 'blocks' | 'groups';
  repeated_rows?: number;
} {
  const { scores, baseline, importance, thresholds, work, folds, repeated_rows } = asObject(report);
  const read = readScores(scores);
  const columns = readImportance(importance);
  const best = readThresholds(thresholds);
  const limited = readReasons(work);
  return {
    ...(read !== undefined && {
      scores: { from: 'out-of-fold', ...read, baseline: readScores(baseline) ?? { rows: read.rows } },
    }),
    ...(columns.length > 0 && { importance: columns }),
    ...(best !== undefined && { thresholds: best }),
    ...(limited.length > 0 && { limited }),
    ...readFolds(folds),
    ...(typeof repeated_rows === 'number' && { repeated_rows }),
  };
}

/** The reported errors as a fraction of those of all rows, where they are at the level of the newest rows. */
export function readGrowth(report: unknown): number {
  const { factor } = asObject(asObject(report).growth);
  return typeof factor === 'number' && factor > 0 && factor < Infinity ? factor : 1;
}

/** Whether the learner found that rows follow each other in time, and how it held them out. */
export function tellsNeighboursAlike(report: unknown): 'blocks' | 'random' | undefined {
  const { neighbours_alike: areAlike, folds } = asObject(report);
  if (areAlike !== true) {
    return undefined;
  }
  return asObject(folds).by === 'blocks' ? 'blocks' : 'random';
}

/** How rows that belong together were held out; nothing of rows without groups. */
function readFolds(value: unknown): { folds?: 'blocks' | 'groups' } {
  const { by, groups } = asObject(value);
  return typeof groups === 'number' && (by === 'blocks' || by === 'groups') ? { folds: by } : {};
}

function readScores(value: unknown): Scores | undefined {
  const given = asObject(value);
  if (typeof given.rows !== 'number') {
    return undefined;
  }
  const scores: Scores = { rows: given.rows };
  for (const name of [...SCORE_NAMES, ...RANGE_NAMES]) {
    const score = given[name];
    if (typeof score === 'number') {
      scores[name] = score;
    }
  }
  return Object.keys(scores).length > 1 ? scores : undefined;
}

function readImportance(value: unknown): ColumnImportance[] {
  const list: unknown[] = Array.isArray(value) ? value : [];
  const read = list.flatMap((item) => {
    const { feature, gain, permutation } = asObject(item);
    return typeof feature === 'string' && typeof gain === 'number' && typeof permutation === 'number'
      ? [{ column: feature, gain, permutation }]
      : [];
  });
  // The learner orders by split gain, which columns of many values have more of than they help.
  return read.sort((a, b) => b.permutation - a.permutation || b.gain - a.gain).slice(0, MAX_COLUMNS);
}

function readThresholds(value: unknown): ModelThresholds | undefined {
  const given = asObject(value);
  const { label } = given;
  if (typeof label !== 'string' && typeof label !== 'number' && typeof label !== 'boolean') {
    return undefined;
  }
  const read: ModelThresholds = { label };
  for (const name of ['accuracy', 'f1', 'costs'] as const) {
    const one = asObject(given[name]);
    if (typeof one.at === 'number' && typeof one.value === 'number') {
      read[name] = { at: one.at, value: one.value };
    }
  }
  return read;
}

/** Sentences that say where the fit saved work. */
function readReasons(work: unknown): string[] {
  const { reasons } = asObject(work);
  const list: unknown[] = Array.isArray(reasons) ? reasons.slice(0, MAX_REASONS) : [];
  return list.filter(
    (reason) => typeof reason === 'string' && reason.length <= MAX_REASON_LENGTH,
  ) as string[];
}

function asObject(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}
