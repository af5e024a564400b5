import type { Anomalies, AnomalyAnswer, AnomalyProgress } from '../../anomaly';
import type { KeptShown } from '../input/columns-seen';
import type { Red } from '../node-red';
import type { ReadMessages } from '../series/read-messages';
import { type Progress, type Shown, type StatusKind, timeText } from '../status/status-line';
import { shortNumber } from '../watch/change-text';

/** Until it has seen so much, the status says how much it knows. */
const WEEK_MS = 7 * 86_400_000;
const DIGITS = 3;

/** What an anomaly node shows of what it kept. */
export function keptAnomalies(red: Red, { progress, known }: Anomalies): KeptShown {
  return {
    status: anomalyStatus(red, progress, undefined, undefined),
    columns: [...known.values()].flatMap((machine) => [...machine.columns.keys()]),
  };
}

/** What an anomaly node shows: how far it has learned, then whether the newest reading is usual. */
export function anomalyStatus(
  red: Red,
  { keys, readings, known, unlearnable, rows, needed, late, storage }: AnomalyProgress,
  newest: AnomalyAnswer | undefined,
  messages: ReadMessages | undefined,
): Shown & { kind: StatusKind } {
  const progress: Progress = { phase: known > 0 ? 'live' : 'collecting', keys, readings, late };
  if (storage === 'failed') {
    return { kind: 'doubtful', key: 'series.notOnDisk', progress };
  }
  const shape = messages?.news?.shape;
  if (shape !== undefined && newest?.state !== 'unusual') {
    return { kind: 'ready', key: 'series.as', values: { shape }, progress };
  }
  if (newest === undefined ? known === 0 : newest.state === 'learning') {
    const seen = newest?.rows ?? rows;
    if (unlearnable > 0 && seen >= needed) {
      return { kind: 'doubtful', key: 'anomaly.nothingVaries', progress };
    }
    // With more rows than it takes, it learns just now.
    const have = Math.min(seen, needed);
    const percent = Math.floor((100 * have) / needed);
    return {
      kind: 'waiting',
      key: 'anomaly.learning',
      values: { rows: have, total: needed },
      progress: { ...progress, rows: have, total_rows: needed, percent },
    };
  }
  if (newest?.state === 'unusual') {
    return { kind: 'doubtful', ...unusualStatus(red, newest), progress };
  }
  if (newest?.state === 'new' || newest?.state === 'late') {
    return { kind: 'doubtful', key: `anomaly.${newest.state}`, progress };
  }
  if (keys > 1) {
    return { kind: 'ready', key: 'anomaly.usualKeys', values: { keys }, progress };
  }
  return newest !== undefined && newest.knows < WEEK_MS
    ? { kind: 'ready', key: 'anomaly.knows', values: { time: timeText(red, newest.knows) }, progress }
    : { kind: 'ready', key: 'anomaly.usual', progress };
}

function unusualStatus(red: Red, { sensors }: AnomalyAnswer): Pick<Shown, 'key' | 'values' | 'shorter'> {
  const [first] = sensors;
  if (first === undefined) {
    return { key: 'anomaly.together' };
  }
  const values = {
    column: first.column,
    value: shortNumber(red, first.value, DIGITS),
    expected: shortNumber(red, first.expected, DIGITS),
  };
  return { key: 'anomaly.unusual', values, shorter: { key: 'anomaly.unusualShort', values } };
}
