import { columnSpecs } from '../features/encode';
import { indices } from '../math/order';
import { ensembleMean } from '../model/ensemble';
import {
  type Background,
  changeOfLog,
  logOfChange,
  type Member,
  type Model,
  numberColumns,
} from '../model/model';
import {
  encodeWithLevels,
  firstMembers,
  meanShifts,
  type PredictOptions,
  recalibrated,
} from '../model/predict';
import { LEAF, type Trees } from '../trees/trees';
import { type ClassificationResult, type FeatureColumn, LearnerError, type RegressionResult } from '../types';
import { type GroupEffects, meanEffects } from './effects';
import { probabilityEffects } from './probability-effects';
import type { ForegroundRow } from './shapley';

export interface ExplainOptions extends PredictOptions {
  /**
   * Features to treat as one cause, by the cause's name. Features in no group are causes of their own; unknown ones
   * are ignored.
   */
  groups?: Readonly<Record<string, readonly string[]>>;
  /** The index of the class to explain. Default: the class answered in each row. */
  of?: number;
  /** Explain only rows whose probability of that class (or whose mean) is above this. */
  above?: number;
  /** Explain at most this many of these rows, starting with the first. */
  most?: number;
  /** For classes: try every coalition of up to this many causes, whatever the cost. Default: decided by the cost. */
  exactUpTo?: number;
}

/** Why rows are predicted as they are: `bases[i]` and the effects of row i add up to `predictions[i]`. */
export interface Explanation {
  groups: string[];
  /** Indices of the rows explained. */
  rows: Int32Array;
  /** Rows left out because of `most`. */
  left: number;
  /** The class explained in each of them; undefined for regression. */
  of: Int32Array | undefined;
  /** Probabilities of that class, or means. */
  predictions: Float64Array;
  /** The mean prediction of the background rows. */
  bases: Float64Array;
  /** Rows explained × groups: Shapley values, in probability or in units of the target. */
  effects: Float64Array;
}

/** Rows explained together, few enough for their scores to stay in the processor's cache. */
const ROWS_AT_ONCE = 16;

/**
 * Explains predictions: how much each cause raised or lowered the answer, compared with the background rows stored
 * with the model (interventional Shapley values). Exact for regression, and for classes if few causes differ from the
 * background (eight of two classes, say); otherwise estimated from permutations of the causes, where the effects
 * still add up.
 *
 * @param result of `predict` for these rows with the same options
 * @throws LearnerError if the model has no background rows
 */
export function explain(
  model: Model,
  features: FeatureColumn[],
  result: ClassificationResult | RegressionResult,
  options: ExplainOptions = {},
): Explanation {
  const { background } = model;
  if (background === undefined) {
    throw new LearnerError('The model was fitted before predictions could be explained: fit it again.');
  }
  const { names, groupOf } = nameGroups(model, options.groups ?? {});
  const members = firstMembers(model.members, options.estimators);
  const { table, levels } = encodeWithLevels(model, features, result.rows);
  const used = usedColumns(members, table.columns.length);
  const answers = chooseAnswers(result, options.of);
  const chosen: number[] = [];
  for (let row = 0; row < result.rows; row++) {
    if (options.above === undefined || answers.values[row] > options.above) {
      chosen.push(row);
    }
  }
  const rows = Int32Array.from(chosen.slice(0, options.most));
  const calibration = model.calibration && recalibrated(model.calibration, options);
  const bases = new Float64Array(rows.length);
  const effects = new Float64Array(rows.length * names.length);
  const foreground = Array.from(rows, (row): ForegroundRow => ({
    bins: Uint8Array.from(table.columns, (column) => column[row]),
    numbers: Float64Array.from(table.numbers, (values) => values?.[row] ?? NaN),
    background,
    groupOf,
    groups: names.length,
  }));
  if (calibration === undefined) {
    const usualShift =
      model.meanOfDistribution === true ? backgroundShift({ ...model, members }, background) : undefined;
    meanEffects(members, foreground).forEach((found, i) => {
      const row = rows[i];
      const shifted =
        usualShift === undefined
          ? found
          : withShift(model, found, usualShift, answers.values[row], levels?.[row]);
      const { base, slope } = changeInUnits(model, shifted, levels?.[row]);
      bases[i] = base;
      shifted.effects.forEach((effect, group) => (effects[i * names.length + group] = slope * effect));
    });
  } else {
    for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
      const asked = foreground.slice(from, from + ROWS_AT_ONCE).map((one, i) => ({
        foreground: one,
        of: answers.of![rows[from + i]],
      }));
      const { exactUpTo } = options;
      probabilityEffects(members, calibration, asked, { used, exactUpTo }).forEach((found, i) => {
        bases[from + i] = found.base;
        effects.set(found.effects, (from + i) * names.length);
      });
    }
  }
  return {
    groups: names,
    rows,
    left: chosen.length - rows.length,
    of: answers.of && rows.map((row) => answers.of![row]),
    predictions: Float64Array.from(rows, (row) => answers.values[row]),
    bases,
    effects,
  };
}

const knownShifts = new WeakMap<Background, { members: number; shift: number }>();

/** The mean shift of the background rows. Cached, because a stream of single rows asks for it every time. */
function backgroundShift(model: Model, background: Background): number {
  let known = knownShifts.get(background);
  // The first so many of a model are always the same.
  if (known?.members !== model.members.length) {
    const { columns, numbers = [], rows } = background;
    const table = { columns, numbers };
    const all = indices(rows);
    const scaled = ensembleMean(model.members, table, all);
    const shift = meanShifts(model, table, scaled).reduce((sum, one) => sum + one / rows, 0);
    known = { members: model.members.length, shift };
    knownShifts.set(background, known);
  }
  return known.shift;
}

/**
 * Effects on the ensemble's mean as those on the mean of the distribution. What that one is above the ensemble's, more
 * than it is for the background, is shared in proportion to the sizes of the effects.
 *
 * @param answer the mean of the row's distribution, in units of the target
 */
function withShift(
  { center, scale, growth }: Model,
  { base, effects }: GroupEffects,
  usualShift: number,
  answer: number,
  level: number | undefined,
): GroupEffects {
  const value = growth === undefined || level === undefined ? answer : logOfChange(answer, level);
  const rest = (value - center) / scale - effects.reduce((sum, effect) => sum + effect, base + usualShift);
  const size = effects.reduce((sum, effect) => sum + Math.abs(effect), 0);
  return size > 0 && Number.isFinite(rest)
    ? {
        base: base + usualShift,
        effects: effects.map((effect) => effect + (rest * Math.abs(effect)) / size),
      }
    : { base: base + usualShift + (Number.isFinite(rest) ? rest : 0), effects };
}

/**
 * Converts a base to units of the target, and returns the factor for effects. If the model predicts the logarithm of
 * a change, the change in units is split in proportion to the effects on the logarithm (logarithmic mean Divisia
 * index: B. W. Ang, 2004).
 */
function changeInUnits(
  { center, scale, growth, meanOfDistribution }: Model,
  { base, effects }: GroupEffects,
  level: number | undefined,
): { base: number; slope: number } {
  if (growth === undefined || level === undefined) {
    return { base: center + scale * base, slope: scale };
  }
  const step = effects.reduce((sum, effect) => sum + effect, 0);
  const smearing = meanOfDistribution === true ? 1 : growth.smearing;
  const from = changeOfLog(center + scale * base, level, smearing);
  const to = changeOfLog(center + scale * (base + step), level, smearing);
  return { base: from, slope: step === 0 ? scale * (from + level) : (to - from) / step };
}

/** The causes, and the index of the cause of each binned column. */
function nameGroups(
  { features, encoders }: Model,
  groups: NonNullable<ExplainOptions['groups']>,
): { names: string[]; groupOf: Int32Array } {
  const names = Object.keys(groups);
  const ofFeature = new Map<string, number>();
  names.forEach((name, group) => groups[name].forEach((feature) => ofFeature.set(feature, group)));
  for (const { name } of features) {
    if (!ofFeature.has(name)) {
      ofFeature.set(name, names.push(name) - 1);
    }
  }
  const groupOf = Int32Array.from(columnSpecs(encoders), ({ source }) =>
    ofFeature.get(features[source].name)!,
  );
  return { names, groupOf };
}

/** The columns that members read. */
function usedColumns(members: Member[], columns: number): Uint8Array {
  const used = new Uint8Array(columns);
  for (const part of members.flatMap(({ parts }) => parts)) {
    if (part.kind === 'linear') {
      part.tables.at.forEach((at, column) => (used[column] |= at >= 0 ? 1 : 0));
    }
    const columns =
      part.kind === 'trees' || part.kind === 'votes' ? listColumns(part.trees) : numberColumns(part);
    for (const column of columns) {
      used[column] = 1;
    }
  }
  return used;
}

const columnsOfTrees = new WeakMap<Trees, Set<number>>();

/** The columns that trees split on. Cached, because a stream of single rows would scan every node each time. */
function listColumns(trees: Trees): Set<number> {
  let columns = columnsOfTrees.get(trees);
  if (columns === undefined) {
    columns = new Set(trees.feature);
    columns.delete(LEAF);
    columnsOfTrees.set(trees, columns);
  }
  return columns;
}

/** The value to explain in each row: the probability of the class asked for (or answered), or the mean. */
function chooseAnswers(
  result: ClassificationResult | RegressionResult,
  asked: number | undefined,
): { values: Float64Array; of: Int32Array | undefined } {
  if (result.task === 'regression') {
    return { values: result.mean(), of: undefined };
  }
  const { rows, classes, probas, threshold } = result;
  const of = Int32Array.from({ length: rows }, (_, row) => {
    if (asked !== undefined) {
      return asked;
    }
    if (threshold !== undefined) {
      return probas[row * 2 + threshold.of] >= threshold.at ? threshold.of : 1 - threshold.of;
    }
    let best = 0;
    for (let k = 1; k < classes.length; k++) {
      best = probas[row * classes.length + k] > probas[row * classes.length + best] ? k : best;
    }
    return best;
  });
  return { values: Float64Array.from(of, (k, row) => probas[row * classes.length + k]), of };
}
