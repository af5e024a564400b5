import type { Label } from '../../table';
import { causeGroups } from '../explain/cause-groups';
import { type CausesOf, causesOf } from '../explain/causes';
import type { ExplainWish } from '../explain/effects';
import type { ResolvedModel } from '../models/model-request';
import type { PredictRequest, PredictSettings } from '../types';
import type { Scored } from './test-set';

/**
 * What of a model's predictions a message wants explained. Of two classes it is the rarer one, or the second where that
 * is not known, so that all effects are on one scale; of more it is the one answered.
 */
export function wishOf(model: ResolvedModel, { explainAbove }: PredictRequest): ExplainWish {
  const { classes, rarer, columns } = model;
  const second = classes?.length === 2 ? classes[1] : undefined;
  return {
    groups: causeGroups(columns),
    label: model.task === 'classification' ? (rarer ?? second) : undefined,
    above: explainAbove,
  };
}

/** The causes of a message's rows. */
export function whyOf(
  { effects, metadata }: Scored,
  { explainAbove: above }: PredictRequest,
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
  return causesOf(effects, { above }, metadata.classes ?? classes, causeText);
}
