import { PREDICT } from '../../settings';
import { areFew, batchOfRows, type Column, type ColumnBatch, joinBatches, openTable } from '../../table';
import { reasonOf } from '../../util/realms';
import { ServiceError, toServiceError } from '../../wire/service-error';
import type { QueuedMessage } from '../batching/queue';
import { assertKeepsUploads, type Context } from '../context/context';
import {
  assertPlain,
  type ModelReference,
  modelReference,
  orderKey,
  type ResolvedModel,
} from '../models/model-request';
import type { Hooks, ModelCard, PredictOutcome, PredictRequest } from '../types';
import { HeldTable, type MessageTable, readWhole, SmallRows, smallRows, UnreadTable } from './message-table';
import { LegacyTable, UploadedSet } from './own-request';

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
  const table = uploadId === undefined ? tableOf(request) : new UploadedSet(uploadId, upload);
  return { request, hooks, reference, order: orderKey(reference), model: undefined, table };
}

function tableOf({ table }: PredictRequest): MessageTable {
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
      : new ServiceError('table.invalid', `The table cannot be read: ${reasonOf(error)}.`);
  }
}

/** Cards of one model may have thresholds of their own. */
function cardKey({ fitted_train_set_id: id, threshold }: ModelCard): string {
  return threshold === undefined ? `card ${id}` : `card ${id} ${JSON.stringify(threshold)}`;
}

/** What a request may differ in so that its rows go in a predict of their own: settings that say so, and what no dialog has. */
const SEPARATE = [
  ...(Object.keys(PREDICT) as (keyof typeof PREDICT)[]).filter((name) => PREDICT[name].separate),
  ...(['options', 'forceRefit', 'threshold'] as const),
] as (keyof PredictRequest)[];

/** Messages with equal keys may share a test set. */
export function batchKey({ request, reference, model, table }: PredictMessage): string {
  let key = reference.kind === 'card' ? cardKey(reference.card) : orderKey(reference);
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
export interface ReadTogether {
  messages: QueuedPredict[];
  batch: ColumnBatch;
}

interface SmallMessage {
  message: QueuedPredict;
  table: SmallRows;
}

/** Reads messages into one batch of the model's columns. A message that does not fit them is failed, alone. */
export async function readTogether(
  messages: readonly QueuedPredict[],
  model: ResolvedModel,
  signal: AbortSignal,
): Promise<ReadTogether> {
  const columns = columnsOf(messages, model);
  const joined: SmallMessage[] = [];
  const parts: ReadTogether[] = [];
  for (const message of messages) {
    const { table, request } = message.payload;
    if (table instanceof HeldTable) {
      parts.push(...(await readHeld(message, table, columns, signal)));
    } else if (table instanceof SmallRows) {
      if (table.mayJoin(columns, request.missingColumns)) {
        joined.push({ message, table });
      } else {
        parts.push(...(await readSmall([{ message, table }], columns, signal)));
      }
    }
  }
  if (joined.length > 0) {
    parts.unshift(...(await readSmall(joined, columns, signal)));
  }
  return parts.length === 1
    ? parts[0]!
    : {
        messages: parts.flatMap((part) => part.messages),
        batch: joinBatches(parts.map((part) => part.batch)),
      };
}

/** Columns of a batch: the card's or, for a model without a card, those of its messages, which are the same. */
export function columnsOf(messages: readonly QueuedPredict[], model: ResolvedModel): readonly Column[] {
  return model.columns.length > 0 ? model.columns : (messages[0]?.payload.table.columns ?? []);
}

async function readHeld(
  message: QueuedPredict,
  table: HeldTable,
  columns: readonly Column[],
  signal: AbortSignal,
): Promise<ReadTogether[]> {
  const { missingColumns } = message.payload.request;
  try {
    return [{ messages: [message], batch: await table.read(columns, { missingColumns, signal }) }];
  } catch (error) {
    signal.throwIfAborted();
    message.fail(error);
    return [];
  }
}

/** Reads them all at once, which is quick; if that fails, in halves, down to the message at fault. */
async function readSmall(
  items: readonly SmallMessage[],
  columns: readonly Column[],
  signal: AbortSignal,
): Promise<ReadTogether[]> {
  let read: ReadTogether | undefined;
  try {
    read = await readRows(items, columns, signal);
  } catch (thrown) {
    signal.throwIfAborted();
    const error = toServiceError(thrown);
    if (items.length === 1 || error.code === 'internal') {
      items.forEach(({ message }) => message.fail(error));
      return [];
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
): Promise<ReadTogether | undefined> {
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
  return { messages, batch };
}
