import { PREDICT } from '../../settings';
import type { Context } from '../context/context';
import { predictToEstimate } from '../context/estimate';
import type { ResolvedModel } from '../models/model-request';
import type { PredictSettings } from '../types';

/** So many predicts of one row in a row are a stream of them. */
const STREAM = 20;
/** Rows of the batch to compare with, where the node gathers none. */
const BATCH = 100;
/** The charge of a batch is worth a warning where it is below this part of that of its rows one by one. */
const WORTH = 0.5;
const ESTIMATE_MS = 10_000;

interface Run {
  context: Context;
  settings: Pick<PredictSettings, 'batchRows'>;
  warn: (key: string, text: string) => void;
}

/**
 * Notices that a metered service with a least charge for each predict is asked row by row. It is found out by two
 * estimates, which cost nothing, and said once.
 */
export class SingleRows {
  private inARow = 0;
  private isSaid = false;

  /** A test set of so many rows was predicted. */
  note({ context, settings, warn }: Run, model: ResolvedModel, rows: number): void {
    this.inARow = rows === 1 ? this.inARow + 1 : 0;
    if (this.inARow < STREAM || this.isSaid || !context.service.isMetered) {
      return;
    }
    this.isSaid = true;
    const { batchRows = PREDICT.batchRows.fallback } = settings;
    void warnOfCharge(context, model, batchRows > 1 ? batchRows : BATCH, warn);
  }
}

/** Silent where the service does not tell what a predict costs, or charges by the row. Never rejects. */
async function warnOfCharge(
  context: Context,
  model: ResolvedModel,
  rows: number,
  warn: Run['warn'],
): Promise<void> {
  const signal = AbortSignal.timeout(ESTIMATE_MS);
  const costOf = async (test: number): Promise<number> => {
    const limits = await context.service.limits.forChecks(signal);
    return context.service.costs.estimate(
      predictToEstimate(limits, model, { train: model.trainRows, test }),
      signal,
    );
  };
  try {
    const one = await costOf(1);
    const batch = await costOf(rows);
    if (batch < WORTH * rows * one) {
      warn(
        'single-rows',
        `The rows of this stream are predicted one by one, and each predict is estimated to cost ${one} tokens. ` +
          `${rows} rows in one predict are estimated to cost ${batch} instead of ${rows * one}: ` +
          'set Batch rows above 1 and a Batch wait, so that rows are gathered.',
      );
    }
  } catch {
    // The estimate is a service to the user: without it the predicts go on all the same.
  }
}
