import { Pipe } from '../../util/concurrency';
import type { Column } from '../cells/types';
import type { ColumnBatch } from '../columns/column-batch';

export interface TrainColumns {
  x: Column[];
  y: Column[];
}

/** The columns of the feature file (X) and of the target file (y). */
export function trainColumns(columns: readonly Column[], target: string): TrainColumns {
  return {
    x: columns.filter(({ name }) => name !== target),
    y: columns.filter(({ name }) => name === target),
  };
}

/** The features and the target of a batch. They share its buffers with it. */
export function splitBatch(
  columns: readonly Column[],
  target: string,
  { rows, columns: data }: ColumnBatch,
): { x: ColumnBatch; y: ColumnBatch } {
  return {
    x: { rows, columns: data.filter((_, index) => columns[index]!.name !== target) },
    y: { rows, columns: data.filter((_, index) => columns[index]!.name === target) },
  };
}

type Write = (batches: AsyncIterable<ColumnBatch>) => Promise<void>;

/** Reads batches once and writes X and y side by side. When one of the three fails, the others end too. */
export async function writeTrainSet(
  columns: readonly Column[],
  target: string,
  batches: AsyncIterable<ColumnBatch>,
  write: { x: Write; y: Write },
): Promise<void> {
  const x = new Pipe<ColumnBatch>();
  const y = new Pipe<ColumnBatch>();
  const failBoth = (error: Error): never => {
    x.fail(error);
    y.fail(error);
    throw error;
  };
  const reading = (async () => {
    for await (const batch of batches) {
      const parts = splitBatch(columns, target, batch);
      await Promise.all([x.push(parts.x), y.push(parts.y)]);
    }
    x.end();
    y.end();
  })().catch(failBoth);
  const work = [reading, write.x(x).catch(failBoth), write.y(y).catch(failBoth)];
  const results = await Promise.allSettled(work);
  // What failed first is what the pipes carry on to the others.
  const failed = results.find((result) => result.status === 'rejected');
  if (failed !== undefined) {
    throw failed.reason;
  }
}
