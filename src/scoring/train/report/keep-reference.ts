import type { ModelCurves } from '../../../metrics/curves';
import type { TableSample } from '../../../table';
import type { Context } from '../../context/context';
import { usualOfSample } from '../../evaluation/usual-target';
import { referenceOf } from '../../reference/make-reference';
import type { Reference, ReferenceLosses, UsualTarget } from '../../reference/types';
import type { Task } from '../../types';
import type { TrainSet } from '../train-set/train-set';

/** Machines whose newest times are kept. */
const MOST_KEYS = 5000;

/** Of a train set that was not read here. */
export const UNREAD: Reference = { columns: [], rows: [], usual: [], drift: [] };

/**
 * What to store of a train set with the card; undefined where its rows are not here. The sample that it is made
 * of is let go of: a fit may take hours.
 */
export async function referenceOfSet(set: TrainSet | undefined, task: Task): Promise<Reference | undefined> {
  const sample = set?.sample;
  if (sample === undefined) {
    return undefined;
  }
  const { card, lineage, now } = set!;
  set!.sample = undefined;
  const features = { ...sample, columns: sample.columns.slice(0, card.columns.length) };
  const reference = await referenceOf(card.columns, features, lineage.order === 'time');
  // Of a relative model the files hold the change.
  const target = now?.usual ?? (await usualOfTarget(card, sample.columns[card.columns.length], task));
  const { trainedKeys: until } = set!;
  return {
    ...reference,
    ...(target !== undefined && { target }),
    ...(until !== undefined && until.length <= MOST_KEYS && { until }),
  };
}

async function usualOfTarget(
  { cleaned, target }: TrainSet['card'],
  sample: TableSample['columns'][number] | undefined,
  task: Task,
): Promise<UsualTarget | undefined> {
  // The labels of dates are text, which the sample does not hold.
  const isDate = cleaned?.types[target ?? ''] === 'date';
  return sample === undefined || isDate ? undefined : usualOfSample(sample, task);
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
    await cards.putReference(fittedId, {
      ...(reference ?? UNREAD),
      ...(curves !== undefined && { curves }),
      ...(losses !== undefined && { losses }),
    });
  }
}
