import type { AnomalyReading, ReadingPlace } from '../../anomaly';
import { messagesLayer, seriesLayer, table } from '../lazy';
import type { MessageWork } from '../messages/message-handler';
import { Follower } from '../messages/progress';
import type { ReadMessages } from '../series/read-messages';
import type { AnomalyRequest } from './types';

type Row = { reading: AnomalyReading; place?: ReadingPlace };

/**
 * The rows of a table of past readings, in the order of the table.
 *
 * @param named the column of the time, where the dialog names one
 * @throws ServiceError
 */
export async function* taughtRows(
  { table: input, key, rows, shape }: Extract<AnomalyRequest, { kind: 'table' }>,
  messages: ReadMessages,
  named: string | undefined,
  { signal, status }: MessageWork,
): AsyncGenerator<Row> {
  const follower = new Follower(status);
  follower.show({ key: 'reading' });
  if (rows !== undefined) {
    yield* placed(rows, messages, shape);
    return;
  }
  const source =
    'path' in input
      ? await table().openTableFile(input.path, { signal })
      : await table().openTable(input.value, { signal });
  const { parseSeriesSettings, readingsOf } = seriesLayer();
  const time = named ?? messagesLayer().timeAmong(source.names);
  const cells = readingsOf(source, parseSeriesSettings({ time, outcome: 'none' }), {
    signal,
    onRead: (fraction: number) => follower.show({ key: 'reading', fraction }),
  });
  if (messages.isAuto) {
    yield* placed(messages.opened.table(cells, source.names), messages, shape);
    return;
  }
  for await (const reading of cells) {
    yield { reading: reading, place: { key } };
  }
}

async function* placed(
  rows: AsyncIterable<{ key?: string; time?: unknown; values: Record<string, unknown> }>,
  messages: ReadMessages,
  shape: string | undefined,
): AsyncGenerator<Row> {
  let last: { key?: string; time?: unknown; values: Record<string, unknown> } | undefined;
  let count = 0;
  for await (const row of rows) {
    count++;
    last = row;
    yield { reading: row.values, place: { key: row.key, time: row.time } };
  }
  if (last !== undefined) {
    messages.remember(last, shape, count);
  }
}
