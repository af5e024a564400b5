import type { Context } from '../../context/context';
import type { ResolvedModel } from '../../models/model-request';
import type { Evaluation } from '../../types';
import type { QueuedPredict } from '../rows/message';
import { columnsOf } from '../rows/read-together';
import type { Scored, ScoreOptions } from '../test-set/test-set';
import { evaluate } from './evaluate';
import { readTruth, type TableTruth } from './read-truth';

interface ReadingTruths {
  signal: AbortSignal;
  /** Takes a message whose rows cannot be scored. */
  fail: (message: QueuedPredict, error: unknown) => void;
}

/** The true values for messages whose predictions are to be scored. */
export async function truthsOf(
  messages: readonly QueuedPredict[],
  model: ResolvedModel,
  { signal, fail }: ReadingTruths,
): Promise<Map<QueuedPredict, TableTruth>> {
  const truths = new Map<QueuedPredict, TableTruth>();
  for (const message of messages) {
    const { table, request } = message.payload;
    if (request.evaluate !== true || message.state !== 'flying') {
      continue;
    }
    try {
      const source = await table.source(signal);
      if (source !== undefined) {
        truths.set(message, await readTruth(source, model, request, signal));
      }
    } catch (error) {
      signal.throwIfAborted();
      fail(message, error);
    }
  }
  return truths;
}

/** How good the predictions of a message are; undefined, with a warning, where the service does not answer. */
export async function evaluateMessage(
  run: { context: Context; warn: (key: string, text: string) => void },
  message: QueuedPredict,
  scored: Scored,
  truth: TableTruth,
  { model, options }: { model: ResolvedModel; options: ScoreOptions },
): Promise<Evaluation | undefined> {
  const { table, request } = message.payload;
  const { context, warn } = run;
  const source = (await table.source(options.signal))!;
  const columns = columnsOf([message], model);
  const { missingColumns } = request;
  return evaluate({ context, model, source, columns, missingColumns, truth, scored, options, warn });
}
