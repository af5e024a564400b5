import type { TableInput } from '../../scoring/types';
import type { Series, SeriesPast } from '../../series';
import { seriesLayer, table } from '../lazy';
import type { MessageWork } from '../messages/message-handler';
import { Follower } from '../messages/progress';

/**
 * Takes a table of past readings. Of its rows and outcomes the newest are given, as many as the series keeps.
 * @throws ServiceError
 */
export async function takeTable(
  opened: Series,
  input: TableInput,
  key: string | undefined,
  { signal, status }: MessageWork,
): Promise<SeriesPast> {
  const follower = new Follower(status);
  follower.show({ key: 'reading' });
  const source =
    'path' in input
      ? await table().openTableFile(input.path, { signal })
      : await table().openTable(input.value, { signal });
  const readings = seriesLayer().readingsOf(source, opened.settings, {
    signal,
    onRead: (fraction) => follower.show({ key: 'reading', fraction }),
  });
  return opened.backfill(readings, { key, signal, most: opened.settings.keep });
}
