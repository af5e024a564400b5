import type { ModelCards } from '../models/model-cards';
import { type ResolvedModel, resolveModel, unknownModel, withoutEmptyTexts } from '../models/model-request';
import type { Context } from '../models/service';
import type { Hooks, PredictLoad, PredictOutcome, PredictRequest, PredictSettings } from '../models/types';
import { PREDICT } from '../settings/nodes';
import { localZone } from '../table/cells/parse-date';
import type { Column } from '../table/cells/types';
import { fitsAsIs, type TableSource } from '../table/open';
import { Semaphore, Yielder } from '../util/concurrency';
import { ServiceError, toServiceError } from '../wire/service-error';
import { Batcher } from './batcher';
import {
  batchKey,
  LegacyTable,
  type PredictMessage,
  predictMessage,
  type QueuedPredict,
  StreamedTable,
} from './message';
import { HeldTable, LoneTable, type MessageTable, readAtMost, SmallRows, UnreadTable } from './message-table';
import { runBatch, SingleRows } from './run-batch';

/** Rows that a message may have to be read on arrival and to share a batch; larger tables are read as they are sent. */
const READ_AT_ONCE = 20_000;
/** Tables read at a time. */
const READERS = 2;

/** The queue and the batches of one predict node. */
export class Predictor {
  private readonly batcher: Batcher<PredictMessage, PredictOutcome>;
  private readonly readers = new Semaphore(READERS);
  private readonly modelWait: ModelWait<QueuedPredict>;
  private readonly closing = new AbortController();
  private readonly reading = new Set<Promise<void>>();
  private readonly warned = new Set<string>();
  private readonly singleRows = new SingleRows();

  constructor(
    private readonly context: Context,
    private readonly settings: PredictSettings,
  ) {
    this.batcher = new Batcher<PredictMessage, PredictOutcome>({
      batchRows: Math.max(1, settings.batchRows ?? PREDICT.batchRows.fallback),
      batchMs: settings.batchMs ?? PREDICT.batchMs.fallback,
      ordered: settings.ordered ?? PREDICT.ordered.fallback,
      queueRows: settings.queueRows ?? PREDICT.queue.fallback,
      queueBytes: settings.queueBytes ?? 64 * 1024 * 1024,
      overflow: settings.overflow ?? PREDICT.overflow.fallback,
      slots: context.slots,
      onLoad: (load) => settings.onLoad?.({ ...load, forModel: this.modelWait.size }),
      run: (messages, signal) =>
        runBatch({ context, settings, warn: this.warnOnce, singleRows: this.singleRows }, messages, signal),
    });
    this.modelWait = new ModelWait(context.cards, settings.noModel === 'wait');
    context.predictors.add(this);
  }

  /** Settles exactly once, with results in arrival order per model where `ordered`. */
  predict(request: PredictRequest, hooks?: Hooks): Promise<PredictOutcome> {
    try {
      const payload = predictMessage(withoutEmptyTexts(request), hooks, this.context);
      const { order, table } = payload;
      if (table instanceof LegacyTable) {
        this.warnOnce('v1', 'The v1 route is deprecated: the service may drop it. Fit a model and use svc.');
      }
      const message = this.batcher.admit(
        order,
        payload,
        { rows: table.rowCount, bytes: table.bytes },
        hooks?.signal,
      );
      this.begin(message);
      return message.promise;
    } catch (error) {
      return Promise.reject(toServiceError(error));
    }
  }

  /** Sends incomplete batches as soon as a slot is free (`msg.flush`). */
  flush(): void {
    this.batcher.flush();
  }

  /** Drops all waiting messages, each with an error (`msg.reset`); returns how many. */
  reset(): number {
    return this.batcher.reset();
  }

  load(): PredictLoad {
    return { ...this.batcher.load(), forModel: this.modelWait.size };
  }

  /** Aborts messages in flight, and settles waiting ones with the code `closed`. */
  async close(): Promise<void> {
    this.context.predictors.delete(this);
    this.closing.abort();
    await this.batcher.close();
    await Promise.all(this.reading);
  }

  private readonly warnOnce = (key: string, text: string): void => {
    if (!this.warned.has(key)) {
      this.warned.add(key);
      this.settings.onWarning?.(text);
    }
  };

  /** Moves a message on as far as possible: into the queue, to be read, or to wait for its model. */
  private begin(message: QueuedPredict): void {
    if (message.state !== 'reading') {
      return;
    }
    const { request, reference, table } = message.payload;
    try {
      if (table instanceof LegacyTable) {
        this.batcher.enqueue(message, 'v1', true);
        return;
      }
      const model = resolveModel(reference, request, this.context.cards);
      if (model === undefined) {
        this.waitForModel(reference.kind === 'name' ? reference.name : '', message);
        return;
      }
      message.payload.model = model;
      const { columns } = model;
      const isJoined =
        table instanceof SmallRows && columns.length > 0 && table.mayJoin(columns, request.missingColumns);
      if (table instanceof UnreadTable || (table instanceof SmallRows && !isJoined)) {
        this.readLater(message, table);
      } else {
        this.enqueue(message);
      }
    } catch (error) {
      this.batcher.fail(message, error);
    }
  }

  /** A message that is dropped, cancelled or closed no longer waits. */
  private waitForModel(name: string, message: QueuedPredict): void {
    const waiting = this.modelWait.add(name, message);
    const leave = (): void => this.modelWait.remove(name, message);
    message.promise.then(leave, leave);
    if (waiting !== undefined) {
      void this.beginEach(waiting);
    }
  }

  private async beginEach(messages: AsyncIterable<QueuedPredict>): Promise<void> {
    for await (const message of messages) {
      this.begin(message);
    }
  }

  private readLater(message: QueuedPredict, table: UnreadTable | SmallRows): void {
    this.readers.request(() => {
      const reading = this.read(message, table).finally(() => {
        this.reading.delete(reading);
        this.readers.release();
      });
      this.reading.add(reading);
    });
  }

  private enqueue(message: QueuedPredict): void {
    const { payload } = message;
    this.batcher.enqueue(message, batchKey(payload), payload.table instanceof LoneTable);
  }

  /** Opens the table of a message and reads it, unless it is large. Never rejects. */
  private async read(message: QueuedPredict, table: UnreadTable | SmallRows): Promise<void> {
    if (message.state !== 'reading') {
      return;
    }
    try {
      const { signal } = this.closing;
      const source = table instanceof UnreadTable ? await table.open(signal) : await table.source(signal);
      message.payload.table = await this.readOpened(message, source);
      this.enqueue(message);
    } catch (error) {
      this.batcher.fail(message, error);
    }
  }

  private async readOpened(message: QueuedPredict, source: TableSource): Promise<MessageTable> {
    const { request, model } = message.payload;
    const { missingColumns } = request;
    const { signal } = this.closing;
    const columns =
      model!.columns.length > 0 ? model!.columns : await foundColumns(source, model!, request, signal);
    if (source.rowCount !== 0 && fitsAsIs(source, columns)) {
      return new StreamedTable(source, columns, { missingColumns, asIs: true });
    }
    const most = Math.min(READ_AT_ONCE, this.batcher.rowsFor(message));
    const batch = await readAtMost(source, columns, most, { missingColumns, signal });
    if (batch?.rows === 0) {
      throw new ServiceError('table.empty', 'The table has no rows: there is nothing to predict.');
    }
    const held = batch && new HeldTable(source, columns, batch);
    // If its rows do not fit in the queue, they are read again when they are sent, and its size stays as estimated.
    return held !== undefined && this.batcher.resize(message, held.rowCount, message.bytes + held.bytes)
      ? held
      : new StreamedTable(source, columns, { missingColumns });
  }
}

/** Columns of a table whose model has no card: as found, with integers as numbers so that more tables match. */
async function foundColumns(
  source: TableSource,
  { target }: ResolvedModel,
  { evaluate, missingWords, unreadable, timezone = localZone() }: PredictRequest,
  signal: AbortSignal,
): Promise<Column[]> {
  const { columns } = await source.profile({ missingWords, unreadable, timezone, signal });
  // If the table has the target, it is not a feature.
  const features = columns.filter(({ name }) => evaluate !== true || name !== target);
  return features.map((column) => (column.type === 'integer' ? { ...column, type: 'number' } : column));
}

/** The items that wait for one model. Once none is left, `over` is aborted. */
interface Queue<Item> {
  readonly items: Set<Item>;
  readonly over: AbortController;
}

/** Items that wait for a model: one whose fit is under way or, with `always`, any that does not exist yet. */
class ModelWait<Item> {
  private readonly queues = new Map<string, Queue<Item>>();

  constructor(
    private readonly cards: ModelCards,
    private readonly always: boolean,
  ) {}

  get size(): number {
    return [...this.queues.values()].reduce((count, { items }) => count + items.size, 0);
  }

  /**
   * Takes an item in.
   *
   * @returns of the first that waits for a model: all that do, in order of arrival, once its fit has ended, whether it
   * succeeded or failed
   * @throws ServiceError `model.unknown` where there is nothing to wait for, `storage.failed` where nobody can know
   */
  add(name: string, item: Item): AsyncIterable<Item> | undefined {
    this.cards.assertUsable();
    if (this.cards.fits.end(name) === undefined && !this.always) {
      throw unknownModel(name, this.cards);
    }
    const queue = this.queues.get(name);
    if (queue !== undefined) {
      queue.items.add(item);
      return undefined;
    }
    const first = { items: new Set([item]), over: new AbortController() };
    this.queues.set(name, first);
    return this.handOut(name, first);
  }

  /** An item no longer waits: it was dropped, cancelled or closed. */
  remove(name: string, item: Item): void {
    const queue = this.queues.get(name);
    if (queue?.items.delete(item) === true && queue.items.size === 0) {
      this.queues.delete(name);
      queue.over.abort();
    }
  }

  /** A few milliseconds' worth of items at a time, with turns of the event loop in between. */
  private async *handOut(name: string, { items, over: { signal } }: Queue<Item>): AsyncGenerator<Item> {
    for (let end = this.mayArrive(name, signal); end !== undefined; end = this.mayArrive(name, signal)) {
      await end;
      if (signal.aborted) {
        return;
      }
      if (this.cards.get(name) !== undefined) {
        break;
      }
    }
    this.queues.delete(name);
    const yielder = new Yielder();
    for (const item of items) {
      yield item;
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
      }
    }
  }

  /** Ends when the model may be there: with the fit under way or, where `always`, with any later one. */
  private mayArrive(name: string, signal: AbortSignal): Promise<void> | undefined {
    const { cards } = this;
    const fit = cards.fits.end(name);
    return fit === undefined && this.always ? cards.fits.arrival(name, signal) : fit;
  }
}
