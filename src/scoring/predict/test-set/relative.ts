import { cellAt, type Column, type ColumnBatch } from '../../../table';
import { ServiceError } from '../../../wire/service-error';
import type { Statistics } from '../../../wire/types';
import { addOffsetsToEffects } from '../../explain/effects';
import type { ResolvedModel } from '../../models/model-request';
import type { Scored } from './test-set';

/** The values that the predictions of a relative model are added to, a row each; undefined for any other model. */
export function offsetsOf(
  { relativeTo }: Pick<ResolvedModel, 'relativeTo'>,
  columns: readonly Column[],
  batch: ColumnBatch,
): number[] | undefined {
  if (relativeTo === undefined) {
    return undefined;
  }
  const cells = batch.columns[columns.findIndex(({ name }) => name === relativeTo)];
  return Array.from({ length: batch.rows }, (_, row) => {
    const cell = cells === undefined ? null : cellAt(cells, row);
    return typeof cell === 'number' || typeof cell === 'bigint' ? Number(cell) : Number.NaN;
  });
}

/**
 * Turns predicted changes into predicted levels: each row's offset is added to every mean, quantile and border.
 * A row without one is predicted as NaN, and not explained.
 *
 * @throws ServiceError `table.invalid` where no row has an offset
 */
export function addOffsets(
  scored: Scored,
  offsets: readonly number[] | undefined,
  { relativeTo }: Pick<ResolvedModel, 'relativeTo'>,
): Scored {
  if (offsets === undefined) {
    return scored;
  }
  const unpredicted = offsets.reduce((count, offset) => count + (Number.isNaN(offset) ? 1 : 0), 0);
  if (unpredicted > 0 && unpredicted === offsets.length) {
    const rows = unpredicted === 1 ? 'The row has' : `All ${unpredicted} rows have`;
    throw new ServiceError(
      'table.invalid',
      `${rows} no value in "${relativeTo}", and the model predicts the change from it: fill it in, or leave the row out.`,
    );
  }
  return { ...moveTo(scored, offsets, relativeTo!), ...(unpredicted > 0 && { unpredicted }) };
}

function moveTo(scored: Scored, offsets: readonly number[], relativeTo: string): Scored {
  const effects = scored.effects && addOffsetsToEffects(scored.effects, offsets, relativeTo);
  const add = (values: readonly number[]): number[] => values.map((value, row) => value + offsets[row]!);
  const { prediction } = scored;
  switch (prediction.kind) {
    case 'numbers':
      return { ...scored, effects, prediction: { ...prediction, values: add(prediction.values) } };
    case 'quantiles':
      return { ...scored, effects, prediction: { ...prediction, values: prediction.values.map(add) } };
    case 'main':
      return { ...scored, effects, prediction: { ...prediction, value: moved(prediction.value, add) } };
    case 'full': {
      const value = { ...prediction.value, ...moved(prediction.value, add) };
      return { ...scored, effects, prediction: { kind: 'full', value }, offsets };
    }
    default:
      return { ...scored, effects };
  }
}

function moved(
  { mean, median, mode, quantiles }: Statistics,
  add: (values: readonly number[]) => number[],
): Statistics {
  return { mean: add(mean), median: add(median), mode: add(mode), quantiles: quantiles.map(add) };
}

/** Collects the offsets of batches as they pass. */
export async function* withOffsets(
  model: ResolvedModel,
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>,
  into: number[],
): AsyncGenerator<ColumnBatch> {
  for await (const batch of batches) {
    for (const offset of offsetsOf(model, columns, batch) ?? []) {
      into.push(offset);
    }
    yield batch;
  }
}
