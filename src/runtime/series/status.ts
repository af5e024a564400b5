import type { Series, SeriesProgress } from '../../series';
import type { KeptShown, LastReading } from '../input/columns-seen';
import type { Progress, Shown, StatusKind, StatusLine } from '../status/status-line';
import type { ReadMessages } from './read-messages';

/** Outcomes of the rarer class that the first train set takes. */
const RARER_NEEDED = 20;
/** Events that it takes. */
const EVENTS_NEEDED = 3;

/** What a series node shows of what it kept. */
export function keptSeries({ progress }: Series, isUnchosen: boolean): KeptShown {
  return { status: seriesStatus(progress, isUnchosen), columns: progress.columns };
}

/**
 * What a series node shows: how far the first train set is, then what it keeps; before all, that nothing is kept.
 * @param isUnchosen whether nobody has chosen yet what is to be predicted
 */
export function seriesStatus(progress: SeriesProgress, isUnchosen: boolean): Shown & { kind: StatusKind } {
  const { keys, readings, rows, needed, late, future, duplicates: repeated } = progress;
  const { planned, unknownAhead } = progress;
  const ahead = planned + unknownAhead > 0 ? { planned, unknown_ahead: unknownAhead } : {};
  const counted = { keys, readings, late, future, repeated, ...ahead };
  if (progress.storage === 'failed') {
    const shown: Progress = { phase: progress.started ? 'live' : 'collecting', rows, ...counted };
    return { kind: 'doubtful', key: 'series.notOnDisk', progress: shown };
  }
  if (!progress.started && needed > 0) {
    const { key: text, have, total } = waitedFor(progress);
    if (progress.unseenOutcome !== undefined && readings > 0) {
      const shown: Progress = { phase: 'collecting', rows: have, total_rows: total, ...counted };
      return { kind: 'doubtful', key: 'series.unseenOutcome', progress: shown };
    }
    const percent = Math.min(100, Math.floor((100 * have) / total));
    const shown: Progress = { phase: 'collecting', rows: have, total_rows: total, percent, ...counted };
    return { kind: 'waiting', key: text, values: { rows: have, total }, progress: shown };
  }
  const shown: Progress = { phase: 'live', rows, ...counted };
  if (isUnchosen) {
    return { kind: 'waiting', key: 'series.noColumn', progress: shown };
  }
  if (progress.decayWaits) {
    return { kind: 'ready', key: 'series.decayWaits', values: { rows }, progress: shown };
  }
  return keys > 1
    ? { kind: 'ready', key: 'series.keys', values: { rows, keys }, progress: shown }
    : { kind: 'ready', key: 'series.rows', values: { rows }, progress: shown };
}

/** What the first train set still takes: rows, then events, then rows of the rarer outcome. */
function waitedFor({ kept, needed, rarer = RARER_NEEDED, events = EVENTS_NEEDED }: SeriesProgress): {
  key: string;
  have: number;
  total: number;
} {
  if (kept >= needed && events < EVENTS_NEEDED) {
    return { key: 'series.collectingEvents', have: events, total: EVENTS_NEEDED };
  }
  return kept >= needed && rarer < RARER_NEEDED
    ? { key: 'series.collectingRare', have: rarer, total: RARER_NEEDED }
    : { key: 'series.collecting', have: kept, total: needed };
}

/**
 * Shows the state of a series: it is what the last message left, so an error before it has had its time. As what messages
 * were recognised comes first, while that is news.
 */
export function showSeries(
  status: StatusLine,
  series: Series,
  messages: ReadMessages,
  isUnchosen: boolean,
): void {
  // Asked when the status is shown: most messages of a stream show none.
  status.become(() => {
    const shown = seriesStatus(series.progress, isUnchosen);
    const { news } = messages;
    return news === undefined || shown.kind === 'doubtful' ? shown : { ...shown, ...recognised(news) };
  });
}

/** `as Tasmota: pump1, 9 values`, as far as there is room. */
function recognised({ shape = '', key, values }: LastReading): Pick<Shown, 'key' | 'values' | 'shorter'> {
  const count = Object.keys(values).length;
  const counted = {
    key: count === 1 ? 'series.asValue' : 'series.asValues',
    values: { shape, values: count },
    shorter: { key: 'series.as', values: { shape } },
  };
  return key === undefined
    ? counted
    : {
        key: count === 1 ? 'series.asKeyValue' : 'series.asKey',
        values: { shape, key, values: count },
        shorter: counted,
      };
}
