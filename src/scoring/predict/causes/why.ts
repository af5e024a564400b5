import { comparableLabel } from '../../../metrics/answer-costs';
import type { Label } from '../../../table';
import { causeGroups } from '../../explain/cause-groups';
import { type CausesOf, causesOf } from '../../explain/causes';
import type { ExplainWish } from '../../explain/effects';
import type { ResolvedModel } from '../../models/model-request';
import type { PredictRequest, PredictSettings } from '../../types';
import type { Scored } from '../test-set/test-set';

/**
 * What a message wants explained of a model's predictions. Of two classes it is the rarer one, or the second if that is
 * not known, so that all effects are on one scale; of more, it is the predicted one.
 */
export function wishOf(model: ResolvedModel, { explainAbove }: PredictRequest): ExplainWish {
  const label = explainedLabel(model);
  return {
    groups: causeGroups(model.columns),
    label,
    above: explainAbove === undefined ? undefined : Math.min(explainAbove, answeredFrom(model, label)),
  };
}

function explainedLabel({ task, classes, rarer }: ResolvedModel): Label | undefined {
  return task === 'classification' ? (rarer ?? (classes?.length === 2 ? classes[1] : undefined)) : undefined;
}

/**
 * A bound below all probabilities at which a chosen threshold answers this class, so that each such answer is
 * explained. Infinity if no threshold is chosen.
 */
function answeredFrom({ answers }: ResolvedModel, label: Label | undefined): number {
  if (answers === undefined || label === undefined) {
    return Infinity;
  }
  const isOf = comparableLabel(answers.label) === comparableLabel(label);
  // The threshold itself is answered as its class already, so the limit lies below it; of the other class it is not.
  return isOf ? answers.at - Number.EPSILON : 1 - answers.at;
}

/** The causes of a message's rows. */
export function whyOf(
  { effects, metadata }: Scored,
  wish: Pick<ExplainWish, 'above'>,
  classes: readonly Label[] | undefined,
  { causeText }: PredictSettings,
  warn: (key: string, text: string) => void,
): CausesOf {
  if (effects === undefined) {
    return () => null;
  }
  if (effects.left > 0) {
    warn(
      'left',
      `Of one table ${effects.rows.size} rows are explained at most: explain those above a value, or send fewer rows at a time.`,
    );
  }
  return causesOf(effects, wish, metadata.classes ?? classes, causeText);
}
