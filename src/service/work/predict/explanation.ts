import { explain, type FeatureColumn, type Model, type predict, type PredictOptions } from '../../../learner';
import type { ExplainedRows, ExplainJob } from '../jobs';

/** Rows that one request has explained at most: some seconds of a predict thread. */
const MOST_ROWS = 2000;

/** Why rows are predicted as they are; undefined where the model was fitted before it kept rows to compare with. */
export function explanationOf(
  model: Model,
  columns: FeatureColumn[],
  result: ReturnType<typeof predict>,
  { options, asked }: { options: PredictOptions; asked: ExplainJob },
): ExplainedRows | undefined {
  const { background, features } = model;
  if (background === undefined) {
    return undefined;
  }
  const told = explain(model, columns, result, { ...options, ...asked, most: MOST_ROWS });
  const { groups, rows, left, of, predictions, bases, effects } = told;
  const ofGroup = (values: Float64Array): (number | null)[] =>
    groups.map((group) => {
      const feature = features.findIndex(({ name, kind }) => name === group && kind === 'number');
      const value = feature < 0 ? NaN : values[feature]!;
      return Number.isFinite(value) ? value : null;
    });
  const [low, high] = [ofGroup(background.low), ofGroup(background.high)];
  return {
    groups,
    usual: low.map((value, i) => (value === null || high[i] === null ? null : [value, high[i]!])),
    means: ofGroup(background.mean),
    rows: Array.from(rows),
    left,
    ...(of && { classes: Array.from(of) }),
    predictions: Array.from(predictions),
    bases: Array.from(bases),
    effects: Array.from(rows, (_, i) =>
      Array.from(effects.subarray(i * groups.length, (i + 1) * groups.length)),
    ),
  };
}
