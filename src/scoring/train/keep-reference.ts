import type { ModelCurves } from '../../metrics/curves';
import type { Context } from '../context/context';
import { referenceOf } from '../reference/make-reference';
import type { Reference } from '../reference/types';
import type { TrainSet } from './train-set';

/** Of a train set that was not read here. */
export const UNREAD: Reference = { columns: [], rows: [], usual: [], drift: [] };

/**
 * What is to be kept of a train set beside the card; undefined where its rows are not here. The sample that it is made
 * of is let go of: a fit may take hours.
 */
export async function referenceOfSet(set: TrainSet | undefined): Promise<Reference | undefined> {
  const sample = set?.sample;
  if (sample === undefined) {
    return undefined;
  }
  set!.sample = undefined;
  return referenceOf(set!.card.columns, sample, set!.lineage.order === 'time');
}

/** Keeps what is known of a model beside its card: of its train set, and of how good it is. */
export async function keepReference(
  { cards }: Context,
  fittedId: string,
  reference: Reference | undefined,
  curves: ModelCurves | undefined,
): Promise<void> {
  if (reference !== undefined || curves !== undefined) {
    await cards.putReference(fittedId, { ...(reference ?? UNREAD), ...(curves !== undefined && { curves }) });
  }
}
