import type { PredictResult } from '../../../client/types';
import { type Column, type ColumnBatch, encodeBatches, sliceBatch } from '../../../table';
import { linkedController } from '../../../util/abort';
import { joinPredictions } from '../../../wire/prediction';
import type { Context } from '../../context/context';
import { ANSWER_NUMBERS, maxAnswerRows, maxTestRows } from '../../context/limits';
import { joinEffects } from '../../explain/effects';
import type { ResolvedModel } from '../../models/model-request';
import { addOffsets, withOffsets } from './relative';
import { limitsOfModel, type Scored, scoreFile, type ScoreOptions } from './test-set';
import { type OnUpload, UploadProgress } from './upload-progress';

/** Parts of one table in flight at a time: while one is scored, the next is encoded and sent. */
const PARTS_IN_FLIGHT = 2;

/** Most rows of one test set: what the service allows, and what makes an answer that is parsed quickly. */
export async function rowsPerTestSet(
  context: Context,
  model: ResolvedModel,
  columns: number,
  signal: AbortSignal,
): Promise<number> {
  return Math.min(
    await rowsAllowed(context, model, columns, signal),
    maxAnswerRows(model.outputType, model.classes?.length ?? 0, model.quantiles?.length ?? 0),
  );
}

/** Rows of one test set that the service allows; Infinity if there is no limit. */
async function rowsAllowed(
  context: Context,
  model: ResolvedModel,
  columns: number,
  signal: AbortSignal,
): Promise<number> {
  const set = await limitsOfModel(context, model, signal);
  return maxTestRows(set, { trainRows: model.trainRows, columns, outputType: model.outputType });
}

export interface PartsOptions extends ScoreOptions {
  /** Rows of the whole table, where that is known. */
  rows?: number;
  onUpload?: OnUpload;
  /** Called with the number of rows of each part that has been scored. */
  onRows?: (rows: number) => void;
}

/** Scores a table in parts of at most the rows allowed, and joins the results in order. */
export async function scoreInParts(
  context: Context,
  model: ResolvedModel,
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>,
  options: PartsOptions,
): Promise<Scored> {
  const first = await rowsPerTestSet(context, model, columns.length, options.signal);
  const allowed = await rowsAllowed(context, model, columns.length, options.signal);
  const { controller, unlink } = linkedController(options.signal);
  const offsets: number[] = [];
  const isRelative = model.relativeTo !== undefined;
  const reader = new PartReader(isRelative ? withOffsets(model, columns, batches, offsets) : batches);
  const uploads = new UploadProgress(options.rows, options.onUpload ?? (() => undefined));
  const results: Scored[] = [];
  const running = new Set<Promise<void>>();
  let rowsPerPart = first;
  let failure: { error: unknown } | undefined;
  const note = (error: unknown): void => {
    failure ??= { error };
    controller.abort();
  };
  try {
    for (let part = 0; failure === undefined && (await reader.more()); part++) {
      const file = await encodeBatches(columns, reader.take(rowsPerPart), {
        compress: !context.service.isLocal,
        signal: controller.signal,
      });
      const onProgress = uploads.begin(file);
      const score = scoreFile(context, model, file, { ...options, signal: controller.signal, onProgress })
        .then((result) => {
          results[part] = result;
          options.onRows?.(result.rows);
          rowsPerPart = Math.min(allowed, rowsByWidth(result) ?? first);
        }, note)
        .finally(() => file.dispose());
      const tracked: Promise<void> = score.catch(note).then(() => {
        running.delete(tracked);
      });
      running.add(tracked);
      // The first answer shows how wide a full distribution is: it is worth waiting for.
      const room = part === 0 && model.outputType === 'full' ? 0 : PARTS_IN_FLIGHT - 1;
      while (running.size > room) {
        await Promise.race(running);
      }
    }
  } catch (error) {
    note(error);
  } finally {
    await Promise.all(running);
    await reader.end();
    unlink();
  }
  if (failure !== undefined) {
    throw failure.error;
  }
  return addOffsets(joined(results), isRelative ? offsets : undefined, model);
}

function joined(results: readonly Scored[]): Scored {
  // The parts of a table may be billed differently: the first one often fills the cache for the others.
  const outcomes = new Set(
    results.map(({ metadata }) => metadata.cache_outcome).filter((outcome) => typeof outcome === 'string'),
  );
  return {
    effects: joinEffects(results),
    prediction: joinPredictions(results.map((result) => result.prediction)),
    metadata: {
      ...results[0]!.metadata,
      ...(outcomes.size > 1 && { cache_outcome: [...outcomes].join(', ') }),
    },
    rows: results.reduce((sum, result) => sum + result.rows, 0),
  };
}

/** Rows of a full distribution whose answer is still parsed quickly. */
function rowsByWidth({ prediction }: PredictResult): number | undefined {
  if (prediction.kind !== 'full') {
    return undefined;
  }
  return Math.max(1, Math.floor(ANSWER_NUMBERS / Math.max(1, prediction.value.borders.length)));
}

/** Splits a stream of batches into parts of a given number of rows, holding one batch at most. */
class PartReader {
  private readonly iterator: AsyncIterator<ColumnBatch> | Iterator<ColumnBatch>;
  private rest: ColumnBatch | undefined;
  private ended = false;

  constructor(batches: AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>) {
    this.iterator =
      Symbol.asyncIterator in batches ? batches[Symbol.asyncIterator]() : batches[Symbol.iterator]();
  }

  /** Whether rows are left. */
  async more(): Promise<boolean> {
    while (this.rest === undefined && !this.ended) {
      const next = await this.iterator.next();
      if (next.done === true) {
        this.ended = true;
      } else if (next.value.rows > 0) {
        this.rest = next.value;
      }
    }
    return this.rest !== undefined;
  }

  /** The next rows. */
  async *take(rows: number): AsyncGenerator<ColumnBatch> {
    let left = rows;
    while (left > 0 && (await this.more())) {
      const batch = this.rest!;
      if (batch.rows <= left) {
        this.rest = undefined;
        left -= batch.rows;
        yield batch;
      } else {
        const cut = left;
        left = 0;
        this.rest = sliceBatch(batch, cut, batch.rows);
        yield sliceBatch(batch, 0, cut);
      }
    }
  }

  async end(): Promise<void> {
    if (!this.ended) {
      this.ended = true;
      await this.iterator.return?.();
    }
  }
}
