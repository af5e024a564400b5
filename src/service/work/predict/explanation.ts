import { explain } from '../../../learner/explain/explain';
import type { Model } from '../../../learner/model/model';
import type { predict, PredictOptions } from '../../../learner/model/predict/predict';
import type { FeatureColumn } from '../../../learner/types';
import type { ExplainedRows, ExplainJob } from '../jobs';

/** Most that is explained for one request, so that it takes a predict thread seconds and the answer can be read. */
const MOST_ROWS = 2000;
const MOST_EFFECTS = 400_000;
/** Rows times nodes of the trees. */
const MOST_WORK = 1e8;

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
  const explained = explain(model, columns, result, { ...options, ...asked, most: mostRows(model) });
  const { groups, rows, left, of, predictions, bases, effects } = explained;
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

function mostRows({ members, features }: Model): number {
  const parts = members.flatMap((member) => member.parts);
  const nodes = parts.reduce((sum, part) => sum + (part.kind === 'trees' ? part.trees.left.length : 1), 0);
  const most = Math.min(MOST_ROWS, MOST_EFFECTS / features.length, MOST_WORK / nodes);
  return Math.max(1, Math.floor(most));
}
