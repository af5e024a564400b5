import {
  batchBytes,
  type Column,
  fitsAsIs,
  localZone,
  openTable,
  openTableFile,
  profileTable,
  type TableSource,
} from '../../table';
import { Yielder } from '../../util/event-loop';
import { Semaphore } from '../../util/semaphore';
import { ServiceError, toServiceError } from '../../wire/service-error';
import { Batcher } from '../batching/batcher';
import type { Context } from '../context/context';
import {
  chooseModel,
  type ModelReference,
  orderKey,
  resolveTarget,
  unknownModel,
} from '../models/model-request';
import { assertPlain } from '../models/options';
import type { Hooks, PredictLoad, PredictOutcome, PredictRequest, PredictSettings } from '../types';
import { readAtMost } from './conform';
import type { PredictMessage, QueuedPredict } from './message';
import { OwnCopy } from './own-copy';
import { runBatch } from './run-batch';
import { mayJoin, smallRows } from './small-rows';

/** Rows that a message may have to be read on arrival and to share a batch; larger tables are read while sent. */
const READ_AT_ONCE = 20_000;
/** Tables read at a time. */
const READERS = 2;
/** Bytes taken for a row before its table is read. */
const ROW_BYTES = 64;

/** The queue and the batches of one predict node. */
export class Predictor {
  private readonly batcher: Batcher<PredictMessage, PredictOutcome>;
  private readonly readers = new Semaphore(READERS);
  /** Messages that wait for a model whose fit is under way, by its name. */
  private readonly rooms = new Map<string, QueuedPredict[]>();
  private readonly closing = new AbortController();
  private readonly reading = new Set<Promise<void>>();
  private warnedOfLegacy = false;

  constructor(
    private readonly context: Context,
    private readonly settings: PredictSettings,
  ) {
    this.batcher = new Batcher<PredictMessage, PredictOutcome>({
      batchRows: Math.max(1, settings.batchRows ?? 500),
      batchMs: settings.batchMs ?? 0,
      ordered: settings.ordered ?? true,
      queueRows: settings.queueRows ?? 100_000,
      queueBytes: settings.queueBytes ?? 64 * 1024 * 1024,
      overflow: settings.overflow ?? 'reject',
      slots: context.slots,
      onLoad: (load) => settings.onLoad?.({ ...load, forModel: this.forModel() }),
      run: (_, jobs, signal) => runBatch({ context, settings, batcher: this.batcher }, jobs, signal),
    });
    context.predictors.add(this);
  }

  /** Settles exactly once, with results in arrival order per model where `ordered`. */
  predict(request: PredictRequest, hooks?: Hooks): Promise<PredictOutcome> {
    try {
      const job = this.admit(request, hooks);
      this.begin(job);
      return job.promise;
    } catch (error) {
      return Promise.reject(toServiceError(error));
    }
  }

  /** Sends what waits for company as soon as a slot is free (`msg.flush`). */
  flush(): void {
    this.batcher.flush();
  }

  /** Drops what waits, with an error each (`msg.reset`); answers how many messages. */
  reset(): number {
    return this.batcher.reset();
  }

  load(): PredictLoad {
    return { ...this.batcher.load(), forModel: this.forModel() };
  }

  private forModel(): number {
    return [...this.rooms.values()].reduce((count, room) => count + room.length, 0);
  }

  /** Aborts what is in flight, settles what waits with the code `closed`. */
  async close(): Promise<void> {
    this.context.predictors.delete(this);
    this.closing.abort();
    await this.batcher.close();
    this.rooms.clear();
    await Promise.all(this.reading);
  }

  private admit(request: PredictRequest, hooks: Hooks | undefined): QueuedPredict {
    assertPlain(request.options, 'options');
    const choice = choiceOf(request, this.context);
    const message: PredictMessage = { request, hooks, choice, target: undefined, table: undefined };
    let rows = 1;
    let bytes = ROW_BYTES;
    if (request.api === 'v1') {
      message.table = { kind: 'legacy' };
      this.warnOfLegacy();
    } else if (request.testSetUploadId !== undefined && request.testSetUploadId !== '') {
      const card = this.context.cards.upload(request.testSetUploadId);
      message.table = { kind: 'upload', id: request.testSetUploadId, card };
      message.request = { ...request, task: request.task ?? card?.task };
    } else if (request.table === undefined) {
      throw new ServiceError(
        'table.empty',
        'There is no table: the message holds neither rows nor an upload id.',
      );
    } else if ('value' in request.table) {
      const small = smallRows(request.table.value);
      if (small !== undefined) {
        message.table = { kind: 'small', small, checked: [] };
        rows = small.rows.length;
        bytes = small.bytes;
      } else {
        message.table = { kind: 'value', own: new OwnCopy(request.table.value) };
        [rows, bytes] = guessSize(request.table.value);
      }
    }
    const order = request.api === 'v1' ? `v1 ${request.modelId ?? ''}` : orderKey(choice);
    return this.batcher.admit(order, message, rows, bytes, hooks?.signal);
  }

  private warnOfLegacy(): void {
    if (!this.warnedOfLegacy) {
      this.warnedOfLegacy = true;
      this.settings.onWarning?.(
        'The v1 route is deprecated: the service may drop it. Fit a model and use svc.',
      );
    }
  }

  /** Sends a message on its way, as far as it can go at once. */
  private begin(job: QueuedPredict): void {
    if (job.state !== 'reading') {
      return;
    }
    const message = job.payload;
    const { request, choice, table } = message;
    try {
      if (table?.kind === 'legacy') {
        this.batcher.enqueue(job, 'v1', true);
        return;
      }
      const target = resolveTarget(choice, request, this.context.cards);
      if (target === undefined) {
        this.waitForModel(job, choice);
        return;
      }
      message.target = target;
      if (table?.kind === 'upload') {
        this.batcher.enqueue(job, laneKey(message), true);
        return;
      }
      if (table?.kind === 'small') {
        const { columns } = target;
        if (columns.length > 0 && mayJoin(table.small.rows, columns, request.missingColumns)) {
          table.checked = columns;
          this.batcher.enqueue(job, laneKey(message));
          return;
        }
      }
    } catch (error) {
      this.batcher.fail(job, error);
      return;
    }
    this.readers.request(() => {
      const reading = this.read(job).finally(() => {
        this.reading.delete(reading);
        this.readers.release();
      });
      this.reading.add(reading);
    });
  }

  /** Opens the table of a message and reads it, unless it is large. Never rejects. */
  private async read(job: QueuedPredict): Promise<void> {
    if (job.state !== 'reading') {
      return;
    }
    const message = job.payload;
    const { request, target } = message;
    const { signal } = this.closing;
    try {
      const input = request.table!;
      const value = await tableValue(message, signal);
      const source =
        'path' in input ? await openTableFile(input.path, { signal }) : await openTable(value, { signal });
      const columns = target!.columns.length > 0 ? target!.columns : await columnsOf(source, request, signal);
      const key =
        target!.columns.length > 0 ? laneKey(message) : `${laneKey(message)}|${JSON.stringify(columns)}`;
      const { missingColumns } = request;
      if ('path' in input && source.rowCount !== 0 && fitsAsIs(source, columns)) {
        message.table = { kind: 'stream', source, value, columns, asIs: true };
        this.batcher.enqueue(job, key, true);
        return;
      }
      const most = Math.min(READ_AT_ONCE, this.batcher.rowsFor(job));
      const batch = await readAtMost(source, columns, most, { missingColumns, signal });
      if (batch?.rows === 0) {
        throw new ServiceError('table.empty', 'The table has no rows: there is nothing to predict.');
      }
      // Without room its rows are not kept: they are read again when they are sent, and the message counts as it came.
      const kept = batch !== undefined && this.batcher.resize(job, batch.rows, job.bytes + batchBytes(batch));
      message.table = kept
        ? { kind: 'batch', source, value, batch, columns }
        : { kind: 'stream', source, value, columns };
      this.batcher.enqueue(job, key, !kept);
    } catch (error) {
      this.batcher.fail(job, error);
    }
  }

  private waitForModel(job: QueuedPredict, choice: ModelReference): void {
    const name = choice.kind === 'name' ? choice.name : '';
    if (this.context.cards.fitEnd(name) === undefined && this.settings.noModel !== 'wait') {
      throw unknownModel(name, this.context.cards);
    }
    const room = this.rooms.get(name);
    if (room !== undefined) {
      room.push(job);
      return;
    }
    this.rooms.set(name, [job]);
    void this.emptyRoom(name);
  }

  /** Ends when the model may be there: with a fit under way, or with any later one where messages wait for it. */
  private mayArrive(name: string): Promise<void> | undefined {
    const { cards } = this.context;
    const under = cards.fitEnd(name);
    return under === undefined && this.settings.noModel === 'wait'
      ? cards.arrival(name, this.closing.signal)
      : under;
  }

  /** Lets the messages go on, a few milliseconds' worth per turn of the event loop, when the fit has ended. */
  private async emptyRoom(name: string): Promise<void> {
    const { cards } = this.context;
    for (let end = this.mayArrive(name); end !== undefined; end = this.mayArrive(name)) {
      await end;
      if (cards.get(name) !== undefined || this.closing.signal.aborted) {
        break;
      }
    }
    const room = this.rooms.get(name) ?? [];
    this.rooms.delete(name);
    const yielder = new Yielder();
    for (const job of room) {
      this.begin(job);
      const turn = yielder.due();
      if (turn !== undefined) {
        await turn;
      }
    }
  }
}

/** The value that a table is read from, and attached to: our own copy. */
function tableValue({ table }: PredictMessage, signal: AbortSignal): unknown {
  if (table?.kind === 'small') {
    return table.small.single ? table.small.rows[0] : table.small.rows;
  }
  return table?.kind === 'value' ? table.own.take(signal) : undefined;
}

function choiceOf(request: PredictRequest, context: Context): ModelReference {
  if (request.api === 'v1') {
    return { kind: 'id', id: request.modelId ?? '' };
  }
  const { testSetUploadId, model, fittedTrainSetId } = request;
  const named = model !== undefined && model !== '';
  if (testSetUploadId !== undefined && !named && (fittedTrainSetId ?? '') === '') {
    const upload = context.cards.upload(testSetUploadId);
    if (upload?.fitted_train_set_id !== undefined) {
      return chooseModel({ ...request, fittedTrainSetId: upload.fitted_train_set_id }, context.cards);
    }
  }
  return chooseModel(request, context.cards);
}

/** Messages with equal keys may share a test set. */
function laneKey({ request, choice }: PredictMessage): string {
  const model = choice.kind === 'card' ? `card ${choice.card.fitted_train_set_id}` : orderKey(choice);
  const { outputType, quantiles, missingColumns, forceRefit, options, task } = request;
  const { missingWords, unreadable, timezone } = request;
  const parts = [model, outputType ?? '', quantiles?.join() ?? '', missingColumns ?? '', task ?? ''];
  if (forceRefit === true) {
    parts.push('refit');
  }
  for (const choice of [options, missingWords, unreadable, timezone]) {
    parts.push(choice === undefined ? '' : JSON.stringify(choice));
  }
  return parts.join('|');
}

/** Columns of a table whose model has no card: as they are found, whole numbers as numbers so that more tables are alike. */
async function columnsOf(
  source: TableSource,
  { missingWords, unreadable, timezone = localZone() }: PredictRequest,
  signal: AbortSignal,
): Promise<Column[]> {
  const { columns } = await profileTable(source, { missingWords, unreadable, timezone, signal });
  return columns.map((column) => (column.type === 'integer' ? { ...column, type: 'number' } : column));
}

/** Rows and bytes of a value that is not yet read, roughly. */
function guessSize(value: unknown): [rows: number, bytes: number] {
  if (typeof value === 'string' || Buffer.isBuffer(value)) {
    return [1, value.length];
  }
  const rows = Array.isArray(value) ? value.length : columnLength(value);
  return [rows, rows * ROW_BYTES];
}

/** Rows of an Arrow table, or of an object of columns by the first of them. */
function columnLength(value: unknown): number {
  const { numRows } = (value ?? {}) as { numRows?: unknown };
  if (typeof numRows === 'number') {
    return numRows;
  }
  const [first] = typeof value === 'object' && value !== null ? (Object.values(value) as unknown[]) : [];
  return Array.isArray(first) || ArrayBuffer.isView(first)
    ? (first as unknown as { length: number }).length
    : 1;
}
