import type { PredictResult } from '../client/types';
import { ANSWER_NUMBERS, chooseLimits, chooseVersion, maxAnswerRows, maxTestRows } from '../models/limits';
import type { ResolvedModel } from '../models/model-request';
import type { Column } from '../table/cells/types';
import { cellAt, type ColumnBatch, sliceBatch } from '../table/columns/column-batch';
import { encodeBatches } from '../table/encoder/encode';
import { linkedController } from '../util/concurrency';
import { findKind, joinPredictions } from '../wire/prediction';
import { ServiceError } from '../wire/service-error';
import { hasBars } from '../wire/vocabulary';
import { addOffsetsToEffects, joinEffects } from './causes';
import { type Scored, scoreFile, type Scoring } from './test-set';

/** Parts of one table in flight at a time: while one is scored, the next is encoded and sent. */
const PARTS_IN_FLIGHT = 2;

/** Rows that a test set may have. */
interface TestSetRows {
  /** At most: what the service allows, and what makes an answer that is parsed quickly. */
  most: number;
  /** That the service allows; Infinity if there is no limit. */
  allowed: number;
}

export async function rowsPerTestSet(
  { context, model, options }: Scoring,
  columns: number,
): Promise<TestSetRows> {
  const limits = await context.service.limits.forChecks(options.signal);
  // Those of the version that the model was fitted with.
  const set = chooseLimits(limits, chooseVersion(limits, model.options));
  const { outputType, classes, quantiles } = model;
  const allowed = maxTestRows(set, { trainRows: model.trainRows, columns, outputType });
  return {
    most: Math.min(allowed, maxAnswerRows(outputType, classes?.length ?? 0, quantiles?.length ?? 0)),
    allowed,
  };
}

interface PartsProgress {
  /** Rows of the whole table, where that is known. */
  rows?: number;
  onUpload?: OnUpload;
  /** Called with the number of rows of each part that has been scored. */
  onRows?: (rows: number) => void;
}

/** A table as it is read. */
interface ReadTable {
  columns: readonly Column[];
  batches: AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>;
}

/** Scores a table in parts of at most the rows allowed, and joins the results in order. */
export async function scoreInParts(
  scoring: Scoring,
  { columns, batches }: ReadTable,
  { rows, onUpload, onRows }: PartsProgress = {},
): Promise<Scored> {
  const { context, model, options } = scoring;
  const { most: first, allowed } = await rowsPerTestSet(scoring, columns.length);
  const { controller, unlink } = linkedController(options.signal);
  const offsets: number[] = [];
  const isRelative = model.relativeTo !== undefined;
  const reader = new PartReader(isRelative ? withOffsets(model, columns, batches, offsets) : batches);
  const uploads = new UploadProgress(rows, onUpload ?? (() => undefined));
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
      const own = { ...options, signal: controller.signal, onProgress };
      const scorePart = async (): Promise<void> => {
        try {
          const result = await scoreFile({ context, model, options: own }, file);
          results[part] = result;
          onRows?.(result.rows);
          rowsPerPart = Math.min(allowed, rowsByWidth(result) ?? first);
        } catch (error) {
          note(error);
        } finally {
          await file.dispose();
        }
      };
      const tracked: Promise<void> = scorePart()
        .catch(note)
        .then(() => {
          running.delete(tracked);
        });
      running.add(tracked);
      // The first answer shows how wide a full distribution is: it is worth waiting for.
      const room = part === 0 && hasBars(model.outputType) ? 0 : PARTS_IN_FLIGHT - 1;
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
  return isRelative ? addOffsets(joined(results), offsets, model) : joined(results);
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

/** The values that the predictions of a relative model are added to, a row each; undefined for any other model. */
export function readOffsets(
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
  offsets: readonly number[],
  { relativeTo }: Pick<ResolvedModel, 'relativeTo'>,
): Scored {
  const unpredicted = offsets.reduce((count, offset) => count + (Number.isNaN(offset) ? 1 : 0), 0);
  if (unpredicted > 0 && unpredicted === offsets.length) {
    const rows = unpredicted === 1 ? 'The row has' : `All ${unpredicted} rows have`;
    throw new ServiceError(
      'table.invalid',
      `${rows} no value in "${relativeTo}", and the model predicts the change from it: fill it in, or leave the row out.`,
    );
  }
  const { prediction, effects } = scored;
  return {
    ...scored,
    prediction: findKind(prediction).add(prediction, offsets),
    offsets,
    effects: effects && addOffsetsToEffects(effects, offsets, relativeTo!),
    ...(unpredicted > 0 && { unpredicted }),
  };
}

/** Collects the offsets of batches as they pass. */
async function* withOffsets(
  model: ResolvedModel,
  columns: readonly Column[],
  batches: AsyncIterable<ColumnBatch> | Iterable<ColumnBatch>,
  into: number[],
): AsyncGenerator<ColumnBatch> {
  for await (const batch of batches) {
    for (const offset of readOffsets(model, columns, batch) ?? []) {
      into.push(offset);
    }
    yield batch;
  }
}

/** Called with the bytes sent, their total, and whether every part begun so far has been sent. */
type OnUpload = (sentBytes: number, totalBytes: number, allSent: boolean) => void;

/**
 * Adds up the uploads of the parts of a table, several of which are on their way at a time. The share sent never
 * falls: what would lower it, as a part that begins or is sent again, is not reported until it has been made good.
 */
class UploadProgress {
  private readonly parts: { sent: number; bytes: number }[] = [];
  /** Bytes of the whole table, by those of its first part. */
  private guess = 0;
  private reported = 0;

  /** `rows` are those of the whole table, where that is known: else the share is one of the parts begun. */
  constructor(
    private readonly rows: number | undefined,
    private readonly onUpload: OnUpload,
  ) {}

  /** Takes a part in; the function it returns is called with the bytes sent of it. */
  begin(part: { rows: number; bytes: number }): (sentBytes: number, totalBytes: number) => void {
    if (this.parts.length === 0 && this.rows !== undefined) {
      this.guess = Math.round((part.bytes * this.rows) / Math.max(1, part.rows));
    }
    const own = { sent: 0, bytes: part.bytes };
    this.parts.push(own);
    return (sent, total) => {
      own.sent = sent;
      own.bytes = total;
      this.report();
    };
  }

  private report(): void {
    let sent = 0;
    let begun = 0;
    for (const part of this.parts) {
      sent += part.sent;
      begun += part.bytes;
    }
    const total = Math.max(begun, this.guess);
    const share = total === 0 ? 1 : sent / total;
    if (share >= this.reported) {
      this.reported = share;
      this.onUpload(sent, total, sent >= begun);
    }
  }
}
