import type { TableInput } from '../../scoring/types';
import type { Series, SeriesOutcome, SeriesRow, SeriesStep } from '../../series';
import { seriesLayer, table } from '../lazy';
import type { MessageWork } from '../messages/message-handler';
import { Follower } from '../messages/progress';

/**
 * Takes a table of past readings. The answer holds its newest rows and outcomes, as many as the series keeps, and the
 * train set.
 * @throws ServiceError
 */
export async function takeTable(
  opened: Series,
  input: TableInput,
  key: string | undefined,
  { signal, status }: MessageWork,
): Promise<SeriesStep> {
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
  const rows = new Newest<SeriesRow>(opened.settings.keep);
  const outcomes = new Newest<SeriesOutcome>(opened.settings.keep);
  const last: Pick<SeriesStep, 'trainSet'> = {};
  for await (const step of opened.backfill(readings, { key })) {
    signal.throwIfAborted();
    rows.add(step.rows);
    outcomes.add(step.outcomes);
    last.trainSet = step.trainSet ?? last.trainSet;
  }
  return { rows: rows.list(), outcomes: outcomes.list(), ...last };
}

/** The last so many of a list that comes in parts. */
class Newest<T> {
  private readonly parts: T[][] = [];
  private count = 0;

  constructor(private readonly most: number) {}

  add(part: T[]): void {
    this.parts.push(part);
    this.count += part.length;
    while (this.count - this.parts[0]!.length >= this.most) {
      this.count -= this.parts.shift()!.length;
    }
  }

  list(): T[] {
    return this.parts.flat().slice(-this.most);
  }
}
