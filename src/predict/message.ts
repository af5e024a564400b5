import { findMissing } from '../client/errors';
import type { ModelCard, UploadCard } from '../models/cards';
import {
  assertPlain,
  type ModelReference,
  modelReference,
  orderKey,
  type ResolvedModel,
} from '../models/model-request';
import { assertKeepsUploads, type Context } from '../models/service';
import type { Hooks, PredictOutcome, PredictRequest } from '../models/types';
import { PREDICT_SEPARATE } from '../settings/nodes';
import type { Column } from '../table/cells/types';
import { addCounts, type ColumnBatch, joinBatches } from '../table/columns/column-batch';
import { areFew, batchOfRows } from '../table/columns/read-batches';
import { encodeBatches } from '../table/encoder/encode';
import { fileAsIs, openTable, type TableSource } from '../table/open';
import type { TableFile } from '../table/storage/table-file';
import type { AddedColumns } from '../table/values/tables';
import { readReason } from '../util/values';
import { ServiceError, toServiceError } from '../wire/service-error';
import type { LegacyPredictRequest } from '../wire/types';
import { V1_OUTPUT_TYPES } from '../wire/vocabulary';
import {
  type Attached,
  HeldTable,
  type LoneScoring,
  LoneTable,
  MessageTable,
  readWhole,
  ROW_BYTES,
  SmallRows,
  smallRows,
  UnreadTable,
} from './message-table';
import { rowsPerTestSet, scoreInParts } from './parts';
import type { Failed, QueuedMessage } from './queue';
import { noteIfDead, predictUpload, type Scored, scoreFile, type Scoring } from './test-set';
import type { Unlike } from './unlike';
import { withUnlike } from './why';

/** A message on its way through a predictor. */
export interface PredictMessage {
  readonly request: PredictRequest;
  readonly hooks: Hooks | undefined;
  readonly reference: ModelReference;
  /** Messages with equal keys leave in the order in which they came. */
  readonly order: string;
  /** The model as it was known on arrival. */
  model: ResolvedModel | undefined;
  table: MessageTable;
}

export type QueuedPredict = QueuedMessage<PredictMessage, PredictOutcome>;

/** @throws ServiceError for a message that names no model, or has neither rows nor an upload id */
export function predictMessage(
  given: PredictRequest,
  hooks: Hooks | undefined,
  context: Context,
): PredictMessage {
  const { cards } = context;
  assertPlain(given.options, 'options');
  const { api, testSetUploadId: uploadId, modelId = '' } = given;
  if (given.evaluate === true && (api === 'v1' || uploadId !== undefined)) {
    throw new ServiceError(
      'config.invalid',
      'Only a table that is given to the predict node can be scored against its target: neither an upload nor a table for the route v1 can.',
    );
  }
  if (api === 'v1') {
    const reference: ModelReference = { kind: 'id', id: modelId };
    const table = new LegacyTable(given);
    return { request: given, hooks, reference, order: `v1 ${modelId}`, model: undefined, table };
  }
  const upload = uploadId === undefined ? undefined : cards.upload(uploadId);
  const request = upload === undefined ? given : { ...given, task: given.task ?? upload.task };
  const reference = modelReference(request, cards, upload?.fitted_train_set_id);
  if (uploadId !== undefined) {
    assertKeepsUploads(context, 'a predict takes no msg.test_set_upload_id');
  }
  const table = uploadId === undefined ? takeTable(request) : new UploadedSet(uploadId, upload);
  return { request, hooks, reference, order: orderKey(reference), model: undefined, table };
}

function takeTable({ table }: PredictRequest): MessageTable {
  if (table === undefined) {
    throw new ServiceError(
      'table.empty',
      'There is no table: the message holds neither rows nor an upload id.',
    );
  }
  try {
    return ('value' in table ? smallRows(table.value) : undefined) ?? new UnreadTable(table);
  } catch (error) {
    // A getter or a Proxy may throw anything where it is read.
    throw error instanceof ServiceError
      ? error
      : new ServiceError('table.invalid', `The table cannot be read: ${readReason(error)}.`);
  }
}

/** Cards of one model may have thresholds of their own. */
function cardKey({ fitted_train_set_id: id, threshold }: ModelCard): string {
  return threshold === undefined ? `card ${id}` : `card ${id} ${JSON.stringify(threshold)}`;
}

/** What a request may differ in so that its rows go in a predict of their own: those settings, and what no dialog has. */
const SEPARATE = [
  ...(Object.keys(PREDICT_SEPARATE) as (keyof typeof PREDICT_SEPARATE)[]),
  ...(['options', 'forceRefit', 'threshold'] as const),
];

/** Messages with equal keys may share a test set. */
export function batchKey({ request, reference, order, model, table }: PredictMessage): string {
  let key = reference.kind === 'card' ? cardKey(reference.card) : order;
  for (const name of SEPARATE) {
    const value = request[name];
    key += value === undefined || value === false ? '|' : `|${JSON.stringify(value)}`;
  }
  // Without a card the columns are those of the table: only equal ones go together.
  return model?.columns.length === 0 && table.columns !== undefined
    ? `${key}|${JSON.stringify(table.columns)}`
    : key;
}

/** Messages whose rows are in one batch, in this order. */
export interface RowsTogether {
  messages: QueuedPredict[];
  columns: readonly Column[];
  batch: ColumnBatch;
}

interface ReadTogether extends RowsTogether {
  /** Those that do not fit the model. */
  refused: Failed<QueuedPredict>[];
}

interface SmallMessage {
  message: QueuedPredict;
  table: SmallRows;
}

/** Reads messages into one batch of these columns. A message that does not fit them is refused, alone. */
export async function readTogether(
  messages: readonly QueuedPredict[],
  columns: readonly Column[],
  signal: AbortSignal,
): Promise<ReadTogether> {
  const joined: SmallMessage[] = [];
  const read: (RowsTogether | Failed<QueuedPredict>)[] = [];
  for (const message of messages) {
    const { table, request } = message.payload;
    if (table instanceof HeldTable) {
      read.push(await readHeld(message, table, columns, signal));
    } else if (table instanceof SmallRows) {
      if (table.mayJoin(columns, request.missingColumns)) {
        joined.push({ message, table });
      } else {
        read.push(...(await readSmall([{ message, table }], columns, signal)));
      }
    }
  }
  if (joined.length > 0) {
    read.unshift(...(await readSmall(joined, columns, signal)));
  }
  const parts = read.filter((part) => 'batch' in part);
  const refused = read.filter((part) => 'error' in part);
  return parts.length === 1
    ? { ...parts[0]!, refused }
    : {
        messages: parts.flatMap((part) => part.messages),
        columns,
        batch: joinBatches(parts.map((part) => part.batch)),
        refused,
      };
}

/** Columns of a batch: the card's or, for a model without a card, those of its messages, which are the same. */
export function chooseColumns(messages: readonly QueuedPredict[], model: ResolvedModel): readonly Column[] {
  return model.columns.length > 0 ? model.columns : (messages[0]?.payload.table.columns ?? []);
}

async function readHeld(
  message: QueuedPredict,
  table: HeldTable,
  columns: readonly Column[],
  signal: AbortSignal,
): Promise<RowsTogether | Failed<QueuedPredict>> {
  const { missingColumns } = message.payload.request;
  try {
    return { messages: [message], columns, batch: await table.read(columns, { missingColumns, signal }) };
  } catch (error) {
    signal.throwIfAborted();
    return { message, error };
  }
}

/** Reads them all at once, which is quick; if that fails, in halves, down to the message at fault. */
async function readSmall(
  items: readonly SmallMessage[],
  columns: readonly Column[],
  signal: AbortSignal,
): Promise<(RowsTogether | Failed<QueuedPredict>)[]> {
  let read: RowsTogether | undefined;
  try {
    read = await readRows(items, columns, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toServiceError(thrown);
    if (items.length === 1 || error.code === 'internal') {
      return items.map(({ message }) => ({ message, error }));
    }
  }
  if (read !== undefined) {
    return [read];
  }
  const middle = items.length >> 1;
  return [
    ...(await readSmall(items.slice(0, middle), columns, signal)),
    ...(await readSmall(items.slice(middle), columns, signal)),
  ];
}

/** Undefined where cells were taken as missing, and of several messages each is to report its own. */
async function readRows(
  items: readonly SmallMessage[],
  columns: readonly Column[],
  signal: AbortSignal,
): Promise<RowsTogether | undefined> {
  const messages: QueuedPredict[] = [];
  const rows: Record<string, unknown>[] = [];
  for (const { message, table } of items) {
    messages.push(message);
    for (const row of table.rows) {
      rows.push(row);
    }
  }
  const { missingColumns } = messages[0]!.payload.request;
  const batch = areFew(rows.length, columns.length)
    ? batchOfRows(rows, columns, missingColumns)
    : await readWhole(await openTable(rows, { signal }), columns, { missingColumns, signal });
  if (batch.cleaned !== undefined && items.length > 1) {
    return undefined;
  }
  items[0]!.table.cleaned = batch.cleaned;
  return { messages, columns, batch };
}

interface StreamingOptions {
  missingColumns?: 'error' | 'fill';
  /** A Parquet file on disk that has the columns already, so that it may be uploaded unchanged. */
  asIs?: boolean;
}

/** A table too large to hold in memory, or of unknown length: read as it is sent. */
export class StreamedTable extends LoneTable {
  readonly rowCount = 1;
  readonly bytes = ROW_BYTES;

  constructor(
    private readonly opened: TableSource,
    override readonly columns: readonly Column[],
    private readonly choices: StreamingOptions,
  ) {
    super();
  }

  async score({ hooks, comparison, ...scoring }: LoneScoring): Promise<Scored> {
    const { opened: source } = this;
    const { model, options } = scoring;
    const columns = model.columns.length > 0 ? model.columns : this.columns;
    let done = 0;
    const showPredicting = (): void => hooks?.onStatus?.({ key: 'predicting', done, total: source.rowCount });
    let uploaded = false;
    // After the first part, progress is counted in scored rows, not in uploaded bytes.
    const onUpload = (sent: number, total: number, allSent = sent >= total): void => {
      uploaded ||= allSent;
      if (uploaded || done > 0) {
        showPredicting();
      } else {
        hooks?.onStatus?.({ key: 'uploading', sent, total });
      }
    };
    const file = comparison === undefined ? await this.wholeFile(scoring, columns) : undefined;
    if (file !== undefined) {
      return scoreFile({ ...scoring, options: { ...options, onProgress: onUpload } }, file);
    }
    const read = this.batches(columns, options.signal);
    const unlike: Unlike[] = [];
    const batches = comparison === undefined ? read : withUnlike(comparison, columns, read, unlike);
    const onRows = (rows: number): void => {
      done += rows;
      showPredicting();
    };
    const progress = { rows: source.rowCount, onUpload, onRows };
    const scored = await scoreInParts(scoring, { columns, batches }, progress);
    return comparison === undefined ? scored : { ...scored, unlike };
  }

  override source(): Promise<TableSource> {
    return Promise.resolve(this.opened);
  }

  async attach(predicted: AddedColumns, signal: AbortSignal): Promise<Attached> {
    return { table: await this.opened.addColumns(predicted, signal) };
  }

  /** Its rows; counts the cells that are taken as missing. */
  private async *batches(columns: readonly Column[], signal: AbortSignal): AsyncIterable<ColumnBatch> {
    const { missingColumns } = this.choices;
    for await (const batch of this.opened.batches(columns, { missingColumns, signal })) {
      if (batch.cleaned !== undefined) {
        addCounts((this.cleaned ??= {}), batch.cleaned);
      }
      yield batch;
    }
  }

  /** The Parquet file, if it has the columns and need not be split, to be sent unchanged. */
  private async wholeFile(scoring: Scoring, columns: readonly Column[]): Promise<TableFile | undefined> {
    const { context, model, options } = scoring;
    // A relative model needs the rows here, to add its predictions to.
    if (this.choices.asIs !== true || model.relativeTo !== undefined) {
      return undefined;
    }
    const { signal } = options;
    const { most: rows } = await rowsPerTestSet(scoring, columns.length);
    const { dataset_max_size_bytes: bytes } = await context.service.limits.forChecks(signal);
    return fileAsIs(this.opened, columns, { signal, most: { rows, bytes } });
  }
}

/** A test set that was uploaded before. */
export class UploadedSet extends LoneTable {
  readonly rowCount = 1;
  readonly bytes = ROW_BYTES;

  /** @param card where it was uploaded from here */
  constructor(
    private readonly id: string,
    private readonly card: UploadCard | undefined,
  ) {
    super();
  }

  async score({ context, model: named, options }: LoneScoring): Promise<Scored> {
    const { id, card } = this;
    // A test set belongs to the model that it was uploaded for, even if its name now refers to a newer one.
    const model: ResolvedModel = {
      ...named,
      fittedId: card?.fitted_train_set_id ?? named.fittedId,
      classes: card?.classes ?? named.classes,
    };
    if (model.relativeTo !== undefined) {
      throw new ServiceError(
        'config.invalid',
        `The model "${model.name}" predicts the change from "${model.relativeTo}", and the rows of an upload are not here to add it to: give the table to the predict node.`,
      );
    }
    const scoring = { context, model, options };
    const release = context.cards.hold(model.fittedId);
    try {
      return await predictUpload(scoring, { id, rows: card?.rows });
    } catch (thrown) {
      const error = toServiceError(thrown);
      if (findMissing(error) === 'model') {
        throw noteIfDead(scoring, error);
      }
      // The upload id may be the wrong one, so the model is not marked dead.
      throw error.code === 'not_found' || error.code === 'model.unknown'
        ? new ServiceError(
            'not_found',
            `The service has no test set ${id}, or no model ${model.name}: ${error.message}`,
            error.cause,
          )
        : error;
    } finally {
      release();
    }
  }

  /** Its rows are not here. */
  attach(): Attached {
    return {};
  }
}

/**
 * A table for the deprecated route (S 4.7): sent as CSV, columns unchecked, to the model `modelId`. The service may
 * drop the route at any time.
 */
export class LegacyTable extends MessageTable {
  readonly rowCount = 1;
  readonly bytes = ROW_BYTES;
  private readonly unread: UnreadTable | undefined;
  private opened: TableSource | undefined;

  constructor(private readonly request: PredictRequest) {
    super();
    this.unread = request.table && new UnreadTable(request.table);
  }

  async score(context: Context, options: { retryPredict?: boolean; signal: AbortSignal }): Promise<Scored> {
    const { data, table } = this.checkedRequest();
    const { signal } = options;
    const source = await table.open(signal);
    this.opened = source;
    const { columns } = await source.profile({ signal });
    const rows = source.batches(columns, { signal });
    const file = await encodeBatches(columns, rows, { format: 'csv', signal });
    try {
      const client = await context.service.client();
      const request = { data, file, ...(options.retryPredict === true && { retryAmbiguous: true }) };
      const result = await client.predictLegacy(request, { signal });
      if (result.rows !== file.rows) {
        throw new ServiceError(
          'response.invalid',
          `The service answered ${result.rows} predictions for a table of ${file.rows} rows.`,
        );
      }
      return result;
    } finally {
      await file.dispose();
    }
  }

  async attach(predicted: AddedColumns, signal: AbortSignal): Promise<Attached> {
    return this.opened === undefined ? {} : { table: await this.opened.addColumns(predicted, signal) };
  }

  private checkedRequest(): { data: LegacyPredictRequest; table: UnreadTable } {
    const { modelId, task, outputType, options } = this.request;
    if (modelId === undefined) {
      throw new ServiceError(
        'model.unknown',
        'The v1 route takes its model from msg.model_id, which is missing.',
      );
    }
    if (task === undefined) {
      throw new ServiceError(
        'config.invalid',
        'The v1 route needs a task: set it in the dialog or msg.task.',
      );
    }
    if (this.unread === undefined) {
      throw new ServiceError('table.empty', 'There is no table: the v1 route takes rows, not an upload id.');
    }
    if (outputType !== undefined && !V1_OUTPUT_TYPES.includes(outputType)) {
      throw new ServiceError('config.invalid', `The v1 route has no output type ${outputType}.`);
    }
    const data = {
      ...options,
      model_id: modelId,
      task,
      ...(outputType !== undefined && { output_type: outputType }),
    } as LegacyPredictRequest;
    return { data, table: this.unread };
  }
}
