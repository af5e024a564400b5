import type { Series, SeriesProgress } from '../../series';
import type { Progress, Shown, StatusKind, StatusLine } from '../status/status-line';

/** Outcomes of the rarer class that the first train set takes. */
const RARER_NEEDED = 20;

/** What a series node shows: how far the first train set is, then what it keeps; before all, that nothing is kept. */
export function seriesStatus(progress: SeriesProgress): Shown & { kind: StatusKind } {
  const { keys, readings, rows, kept, needed, rarer, late, future, duplicates: repeated } = progress;
  const counted = { keys, readings, late, future, repeated };
  if (progress.storage === 'failed') {
    const shown: Progress = { phase: progress.started ? 'live' : 'collecting', rows, ...counted };
    return { kind: 'doubtful', key: 'series.notOnDisk', progress: shown };
  }
  if (!progress.started && needed > 0) {
    const lacksRarer = kept >= needed && rarer !== undefined && rarer < RARER_NEEDED;
    const [have, total] = lacksRarer ? [rarer, RARER_NEEDED] : [kept, needed];
    const percent = Math.min(100, Math.floor((100 * have) / total));
    const shown: Progress = { phase: 'collecting', rows: have, total_rows: total, percent, ...counted };
    return lacksRarer
      ? { kind: 'waiting', key: 'series.collectingRare', values: { rows: have, total }, progress: shown }
      : { kind: 'waiting', key: 'series.collecting', values: { rows: have, total }, progress: shown };
  }
  const shown: Progress = { phase: 'live', rows, ...counted };
  return keys > 1
    ? { kind: 'ready', key: 'series.keys', values: { rows, keys }, progress: shown }
    : { kind: 'ready', key: 'series.rows', values: { rows }, progress: shown };
}

/** Shows the state of a series: it is what the last message left, so an error before it has had its time. */
export function showSeries(status: StatusLine, { progress }: Series): void {
  status.become(() => seriesStatus(progress));
}
