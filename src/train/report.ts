import { findThresholdCurve, type ModelCurves } from '../metrics/curves';
import { RANGE_NAMES, SCORE_NAMES, type Scores } from '../metrics/scores';
import type {
  ColumnImportance,
  FittedModel,
  ModelScores,
  ModelThresholds,
  Reference,
  ReferenceLosses,
  SeenRows,
  UploadCard,
} from '../models/cards';
import { usualOfSample } from '../models/evaluation';
import { makeReference } from '../models/reference';
import { type LossRows, readCurves, readLosses } from '../models/reference-files';
import type { Context, Work } from '../models/service';
import { readCosts, thresholdBy, withCosts } from '../models/threshold';
import type { TrainRequest } from '../models/types';
import { isObject } from '../util/values';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { Task } from '../wire/vocabulary';
import type { TrainSet } from './train-set';

/** All cards share a file, so the importance of a wide table is cut. */
const MAX_COLUMNS = 50;
const MAX_REASONS = 10;
const MAX_REASON_LENGTH = 300;

/** Machines whose newest times are kept. */
const MOST_KEYS = 5000;

/** What a model was fitted on. */
interface FittedSet {
  /** Left out where it was uploaded before. */
  set?: TrainSet;
  seen?: SeenRows;
  task: Task;
}

/** Of a train set that was not read here. */
export const UNREAD: Reference = { columns: [], rows: [], usual: [], drift: [] };

/**
 * What to store of a train set with the card; undefined where its rows are not here. The sample that it is made
 * of is let go of: a fit may take hours.
 */
export async function makeFitReference({ set, seen, task }: FittedSet): Promise<Reference | undefined> {
  const sample = set?.sample;
  if (set === undefined || sample === undefined) {
    return seen && { ...UNREAD, seen };
  }
  set.sample = undefined;
  const { card, lineage, now, trainedKeys: until } = set;
  const count = card.columns.length;
  const features = { ...sample, columns: sample.columns.slice(0, count) };
  const reference = await makeReference(card.columns, features, lineage.order === 'time');
  const cells = sample.columns[count];
  // The labels of dates are text, which the sample does not hold.
  const isDate = card.cleaned?.types[card.target ?? ''] === 'date';
  const target =
    // Of a relative model the files hold the change.
    now?.usual ?? (cells === undefined || isDate ? undefined : await usualOfSample(cells, task));
  return {
    ...reference,
    ...(target !== undefined && { target }),
    ...(until !== undefined && until.length <= MOST_KEYS && { until }),
    ...(seen && { seen }),
  };
}

/** Stores, with a model's card, what is known of its train set and of how good it is. */
export async function keepReference(
  { cards }: Context,
  fittedId: string,
  reference: Reference | undefined,
  scored: { curves?: ModelCurves | undefined; losses?: ReferenceLosses | undefined } = {},
): Promise<void> {
  const { curves, losses } = scored;
  if (reference !== undefined || curves !== undefined || losses !== undefined) {
    await cards.references.put(fittedId, {
      ...(reference ?? UNREAD),
      ...(curves !== undefined && { curves }),
      ...(losses !== undefined && { losses }),
    });
  }
}

/** @throws ServiceError `config.invalid`, `validation.failed` for costs or a threshold that the target cannot have */
export function checkThresholdChoices(
  { costs, threshold }: Pick<TrainRequest, 'costs' | 'threshold'>,
  task: Task,
  classes: UploadCard['classes'],
): void {
  if (costs === undefined && threshold === undefined) {
    return;
  }
  if (task !== 'classification') {
    throw new ServiceError(
      'config.invalid',
      'Costs and a threshold are for two classes, and the target is a number: leave them out.',
    );
  }
  if (threshold !== undefined && classes !== undefined && classes.length !== 2) {
    throw new ServiceError(
      'config.invalid',
      `A threshold is for two classes, and the target has ${classes.length}: leave it out.`,
    );
  }
  if (costs !== undefined) {
    readCosts(costs, classes);
  }
}

/**
 * A fitted card with the costs that were given, else those that were chosen for the model in charge; the threshold that is
 * cheapest by them; and the one to answer by.
 */
export function withThresholds(
  { cards, onWarning }: Work,
  fitted: FittedModel,
  { costs, threshold }: Pick<TrainRequest, 'costs' | 'threshold'>,
  curves: ModelCurves | undefined,
): FittedModel {
  const curve = findThresholdCurve(curves);
  const before = cards.named(fitted.name)?.inCharge.card;
  const hasTwo = fitted.task === 'classification' && (fitted.classes?.length ?? 2) === 2;
  const isKept = costs === undefined && hasTwo && before?.costs_chosen === true;
  const card = { ...withCosts(fitted, isKept ? before.costs : costs, curve) };
  if (isKept) {
    card.costs_chosen = true;
  } else {
    delete card.costs_chosen;
  }
  if (threshold === undefined) {
    return card;
  }
  try {
    return { ...card, threshold: thresholdBy(card, threshold) };
  } catch (thrown) {
    onWarning?.(`The more probable class is answered: ${toServiceError(thrown).message}`);
    return card;
  }
}

/** Curves that say how many days their rows are of, where the whole table has a time. */
export function inDays(
  curves: ModelCurves,
  { days, rows }: { days: number | undefined; rows: number },
): ModelCurves {
  const curve = findThresholdCurve(curves);
  return curve === undefined || days === undefined || !(days > 0) || rows === 0
    ? curves
    : ({ ...curves, by_threshold: { ...curve, days: (days * curves.rows) / rows } } as ModelCurves);
}

/** What a fit answer's `report` says of the model. */
interface FitReport {
  /** What its card holds of it. */
  card: {
    scores?: ModelScores;
    importance?: ColumnImportance[];
    thresholds?: ModelThresholds;
    limited?: string[];
    folds?: 'blocks' | 'groups';
    repeated_rows?: number;
  };
  /** The reported errors as a fraction of those of all rows, where they are at the level of the newest rows. */
  growth: number;
  /** How rows were held out that the learner found to follow each other in time. */
  neighboursAlike?: 'blocks' | 'random';
  curves?: ModelCurves;
  losses?: ReferenceLosses;
}

/**
 * Reads a report as the embedded service sends it. The specification has no such field, so whatever is not understood is
 * left out, and most services send none.
 */
export function readReport(report: unknown, rows: LossRows): FitReport {
  if (!isObject(report)) {
    return { card: {}, growth: 1 };
  }
  const { folds, repeated_rows, growth, neighbours_alike: areAlike } = report;
  const scores = readScores(report.scores);
  const columns = readImportance(report.importance);
  const best = readThresholds(report.thresholds);
  const limited = readReasons(report.work);
  // How rows that belong together were held out; nothing of rows without groups.
  const { by, groups } = asObject(folds);
  const isHeldOut = typeof groups === 'number' && (by === 'blocks' || by === 'groups');
  const { factor } = asObject(growth);
  const curves = readCurves(report);
  const losses = readLosses(report, rows);
  return {
    card: {
      ...(scores !== undefined && {
        scores: {
          from: 'out-of-fold',
          ...scores,
          baseline: readScores(report.baseline) ?? { rows: scores.rows },
        },
      }),
      ...(columns.length > 0 && { importance: columns }),
      ...(best !== undefined && { thresholds: best }),
      ...(limited.length > 0 && { limited }),
      ...(isHeldOut && { folds: by }),
      ...(typeof repeated_rows === 'number' && { repeated_rows }),
    },
    growth: typeof factor === 'number' && factor > 0 && factor < Infinity ? factor : 1,
    ...(areAlike === true && { neighboursAlike: by === 'blocks' ? 'blocks' : 'random' }),
    ...(curves !== undefined && { curves }),
    ...(losses !== undefined && { losses }),
  };
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
  const read: ColumnImportance[] = [];
  for (const item of list) {
    const { feature, gain, permutation } = asObject(item);
    if (typeof feature === 'string' && typeof gain === 'number' && typeof permutation === 'number') {
      read.push({ column: feature, gain, permutation });
    }
  }
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
