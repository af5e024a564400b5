import { type Column, type ColumnBatch, joinBatches, openTable } from '../../../table';
import { toServiceError } from '../../../wire/service-error';
import type { ResolvedModel } from '../../models/model-request';
import { bisect } from '../test-set/bisection';
import { HeldTable, readWhole } from './held-table';
import type { QueuedPredict } from './message';
import { SmallRows } from './small-rows';

/** Messages whose rows are in one batch, in this order. */
export interface ReadTogether {
  messages: QueuedPredict[];
  batch: ColumnBatch;
}

interface SmallMessage {
  message: QueuedPredict;
  table: SmallRows;
}

export interface ReadingTogether {
  signal: AbortSignal;
  /** Fails a message that does not fit the model's columns; the error counts rows in its own table. */
  fail: (message: QueuedPredict, error: unknown) => void;
}

/** Reads messages into one batch of the model's columns. A message that does not fit them is failed, alone. */
export async function readTogether(
  messages: readonly QueuedPredict[],
  model: ResolvedModel,
  how: ReadingTogether,
): Promise<ReadTogether> {
  const columns = columnsOf(messages, model);
  const joined: SmallMessage[] = [];
  const parts: ReadTogether[] = [];
  for (const message of messages) {
    const { table, request } = message.payload;
    if (table instanceof HeldTable) {
      parts.push(...(await readHeld(message, table, columns, how)));
    } else if (table instanceof SmallRows) {
      if (table.mayJoin(columns, request.missingColumns)) {
        joined.push({ message, table });
      } else {
        parts.push(...(await readSmall([{ message, table }], columns, how)));
      }
    }
  }
  parts.unshift(...(await readSmall(joined, columns, how)));
  return {
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
  { signal, fail }: ReadingTogether,
): Promise<ReadTogether[]> {
  const { missingColumns } = message.payload.request;
  try {
    return [{ messages: [message], batch: await table.read(columns, { missingColumns, signal }) }];
  } catch (error) {
    signal.throwIfAborted();
    fail(message, error);
    return [];
  }
}

/** Reads them all at once, which is quick; if that fails, in halves, down to the message at fault. */
async function readSmall(
  items: SmallMessage[],
  columns: readonly Column[],
  { signal, fail }: ReadingTogether,
): Promise<ReadTogether[]> {
  const parts: ReadTogether[] = [];
  if (items.length === 0) {
    return parts;
  }
  const { missingColumns } = items[0]!.message.payload.request;
  await bisect(items, {
    work: async (group) => {
      const rows = group.flatMap(({ table }) => table.rows);
      const source = await openTable(rows, { signal });
      const batch = await readWhole(source, columns, { missingColumns, signal });
      if (batch.cleaned !== undefined && group.length > 1) {
        // Each message reports its own cells only.
        return 'apart';
      }
      group[0]!.table.cleaned = batch.cleaned;
      parts.push({ messages: group.map(({ message }) => message), batch });
      return 'done';
    },
    toError: (thrown) => {
      signal.throwIfAborted();
      return toServiceError(thrown);
    },
    judge: ({ code }) => (code === 'internal' ? 'fail' : 'split'),
    fail: ({ message }, error) => fail(message, error),
  });
  return parts;
}
