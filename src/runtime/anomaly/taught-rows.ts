import type { AnomalyReading, ReadingPlace } from '../../anomaly';
import { seriesLayer } from '../lazy';
import type { MessageWork } from '../messages/message-handler';
import type { ReadMessages } from '../series/read-messages';
import { pastRows } from '../series/take-table';
import type { AnomalyRequest } from './types';

/**
 * The rows of a table of past readings, in the order of the table.
 *
 * @param time the column of the time, where the dialog names one
 * @throws ServiceError
 */
export async function* taughtRows(
  request: Extract<AnomalyRequest, { kind: 'table' }>,
  messages: ReadMessages,
  time: string | undefined,
  work: MessageWork,
): AsyncGenerator<{ reading: AnomalyReading; place: ReadingPlace }> {
  const { parseSeriesSettings, PlacedReading } = seriesLayer();
  const settings = parseSeriesSettings({ time, outcome: 'none' });
  for await (const row of await pastRows(request, settings, messages, work)) {
    yield row instanceof PlacedReading
      ? { reading: row.cells, place: { key: row.key, time: row.time } }
      : { reading: row, place: { key: request.key } };
  }
}
