import type { MessageReading } from '../../messages';
import type { PlacedReading, Series, SeriesPast, SeriesReading, SeriesSettings } from '../../series';
import { messagesLayer, seriesLayer, table } from '../lazy';
import type { MessageWork } from '../messages/message-handler';
import { Follower } from '../messages/progress';
import type { ReadMessages, SeriesRequest } from './read-messages';

/**
 * Takes a table of past readings. Of its rows and outcomes the newest are given, as many as the series keeps.
 * @throws ServiceError
 */
export async function takeTable(
  opened: Series,
  request: Extract<SeriesRequest, { kind: 'table' }>,
  messages: ReadMessages,
  work: MessageWork,
): Promise<SeriesPast> {
  const rows = await pastRows(request, opened.settings, messages, work);
  return opened.backfill(rows, { key: request.key, signal: work.signal, most: opened.settings.keep });
}

/**
 * The rows of a table of past readings, in the order of the table.
 *
 * @param settings how its cells are read, and the column of the time, where the dialog names one
 * @throws ServiceError
 */
export async function pastRows(
  { table: input, rows, shape }: Pick<Extract<SeriesRequest, { kind: 'table' }>, 'table' | 'rows' | 'shape'>,
  settings: SeriesSettings,
  messages: ReadMessages,
  { signal, status }: MessageWork,
): Promise<AsyncIterable<SeriesReading | PlacedReading>> {
  const follower = new Follower(status);
  follower.show({ key: 'reading' });
  if (rows !== undefined) {
    return placed(rows, messages, shape);
  }
  if (messages.isAuto && 'value' in input && isListOfObjects(input.value)) {
    const { value } = input;
    return placed(messages.opened.table(value, Object.keys(value[0]!)), messages, shape);
  }
  const source =
    'path' in input
      ? await table().openTableFile(input.path, { signal })
      : await table().openTable(input.value, { signal });
  const reading = { signal, onRead: (fraction: number) => follower.show({ key: 'reading', fraction }) };
  if (!messages.isAuto) {
    return seriesLayer().readingsOf(source, settings, reading);
  }
  const time = settings.time ?? messagesLayer().timeAmong(source.names);
  const cells = seriesLayer().readingsOf(source, { ...settings, time }, reading);
  const unfolded = messagesLayer().shapeOfColumns(source.names)?.name;
  return placed(messages.opened.table(cells, source.names), messages, unfolded);
}

/** Rows as the series takes them; the last one is kept for the dialog. */
async function* placed(
  rows: AsyncIterable<MessageReading>,
  messages: ReadMessages,
  shape: string | undefined,
): AsyncGenerator<PlacedReading> {
  const { PlacedReading: Placed } = seriesLayer();
  let last: MessageReading | undefined;
  let count = 0;
  for await (const row of rows) {
    count++;
    last = row;
    yield new Placed(row.values, row.key, row.time);
  }
  if (last !== undefined) {
    messages.remember(last, shape, count);
  }
}

function isListOfObjects(value: unknown): value is Record<string, unknown>[] {
  return (
    Array.isArray(value) && typeof value[0] === 'object' && value[0] !== null && !Array.isArray(value[0])
  );
}
