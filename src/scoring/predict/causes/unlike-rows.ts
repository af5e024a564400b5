import type { Column, ColumnBatch } from '../../../table';
import type { Context } from '../../context/context';
import type { ResolvedModel } from '../../models/model-request';
import { comparisonWith, type TrainSetComparison, type Unlike } from '../../unlike/unlike';

/** The train set of a model, to compare rows with; undefined, with one warning, where none of it is stored. */
export async function comparisonOf(
  { cards }: Context,
  { fittedId, name }: ResolvedModel,
  warn: (key: string, text: string) => void,
): Promise<TrainSetComparison | undefined> {
  const reference = await cards.reference(fittedId);
  const comparison = reference && (await comparisonWith(reference));
  if (comparison === undefined) {
    warn(
      `unlike ${name}`,
      `Rows cannot be compared with the train set of "${name}": none of it is kept here. Fit the model again, from a table.`,
    );
  }
  return comparison;
}

/** Compares batches as they pass. */
export async function* withUnlike(
  comparison: TrainSetComparison,
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch>,
  into: Unlike[],
): AsyncGenerator<ColumnBatch> {
  const names = columns.map(({ name }) => name);
  for await (const batch of batches) {
    for (const unlike of await comparison.compare(names, batch)) {
      into.push(unlike);
    }
    yield batch;
  }
}
