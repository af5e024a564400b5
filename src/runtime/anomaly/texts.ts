import type { Anomalies, AnomalyAnswer, AnomalyChange, AnomalyProgress, OffSensor } from '../../anomaly';
import { DAY, WEEK } from '../../util/durations';
import type { KeptShown } from '../input/columns-seen';
import { type Red, text } from '../node-red';
import type { ReadMessages } from '../series/read-messages';
import { type Progress, type Shown, type StatusKind, timeText } from '../status/status-line';
import { shortNumber } from '../watch/shown-watch';

/** Digits of a value, and as many at most where it would else read like what was expected of it. */
const DIGITS = 3;
const MOST_DIGITS = 6;
/** Nothing is said to come once in more than this, in milliseconds: some ten years are known by nobody. */
const MOST_TOLD = 10 * 365 * DAY;
/**
 * Nor once in more than so many times what is known: of an hour, no tail tells what comes once in a year. Ten is a
 * judgement, no measurement.
 */
const TIMES_KNOWN = 10;
/** A sensor that is off: `vibration 7.9, expected 2.4 (2.1 to 2.7): disagrees with the other sensors`. */
export function sensorText(red: Red, sensor: OffSensor): string {
  const { column, value, expected, low, high, kind } = sensor;
  const digits = chooseDigits(red, sensor);
  return text(red, 'change.anomaly.sensor', {
    column,
    value: shortNumber(red, value, digits),
    expected: shortNumber(red, expected, digits),
    low: shortNumber(red, low, digits),
    high: shortNumber(red, high, digits),
    kind: text(red, `change.anomaly.kind.${kind}`),
  });
}

/** A sensor that is off by little for long must not read `6.53, expected 6.53`. */
function chooseDigits(red: Red, { value, expected }: OffSensor): number {
  for (let digits = DIGITS; digits <= MOST_DIGITS; digits++) {
    if (shortNumber(red, value, digits) !== shortNumber(red, expected, digits)) {
      return digits;
    }
  }
  return DIGITS;
}

/** What a reading is, to a person; empty while it is usual. */
export function answerText(red: Red, { state, sensors, onceIn = 0, knows }: AnomalyAnswer): string {
  if (state !== 'unusual') {
    return state === 'usual' || state === 'learning' ? '' : text(red, `change.anomaly.${state}`);
  }
  return unusualText(red, { sensors, onceIn, knows });
}

/** How often the like is said to come, in milliseconds. @param knows unknown of alarms of earlier versions */
export const tellOnceIn = (onceIn: number, knows = Infinity): number => Math.min(onceIn, TIMES_KNOWN * knows);

/** What an alarm says of the sensors that were off. @param unusual milliseconds */
export function unusualText(
  red: Red,
  { sensors, onceIn, knows }: { sensors: readonly OffSensor[]; onceIn: number; knows?: number },
): string {
  const told = tellOnceIn(onceIn, knows);
  const how = told > MOST_TOLD ? 'never' : told < onceIn ? 'rarer' : 'once';
  const rare = text(red, `change.anomaly.${how}`, { time: timeText(red, told) });
  return sensors.length === 0
    ? text(red, 'change.anomaly.together', { rare })
    : text(red, 'change.anomaly.off', {
        sensors: sensors.map((sensor) => sensorText(red, sensor)).join('; '),
        rare,
      });
}

/** A sensor that has crept away from the others. @param by in its unit; @param since milliseconds since 1970 */
export function movedText(
  red: Red,
  { column, by, since }: { column: string; by: number; since: number },
): string {
  return text(red, 'change.anomaly.moved', {
    column,
    by: shortNumber(red, by, DIGITS),
    date: dateText(since),
  });
}

/** What a change says to a person, in the runtime's language. */
export function anomalyText(red: Red, change: AnomalyChange): string {
  const said = textWithoutKey(red, change);
  return change.key === null ? said : `${change.key}: ${said}`;
}

function textWithoutKey(red: Red, change: AnomalyChange): string {
  switch (change.kind) {
    case 'alarm':
      return unusualText(red, change);
    case 'over':
      return text(red, 'change.anomaly.over', { time: timeText(red, change.end - change.start) });
    case 'moved':
      return movedText(red, change);
    case 'new_state':
      return text(red, 'change.anomaly.newState', { column: change.column, value: String(change.value) });
    case 'learned':
      return text(red, 'change.anomaly.learned', {
        rows: change.rows,
        time: timeText(red, change.knows),
      });
    case 'odd_history':
      return text(
        red,
        change.periods.length === 1 ? 'change.anomaly.oddPeriod' : 'change.anomaly.oddPeriods',
        {
          count: change.periods.length,
          periods: change.periods
            .slice(0, 5)
            .map(({ start, end }) => `${dateText(start)} – ${dateText(end)}`)
            .join(', '),
        },
      );
  }
}

function dateText(time: number): string {
  const date = new Date(time);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return (
    `${date.getFullYear()}-${pad(date.getMonth() + 1)}-${pad(date.getDate())} ` +
    `${pad(date.getHours())}:${pad(date.getMinutes())}`
  );
}

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
  return newest !== undefined && newest.knows < WEEK
    ? { kind: 'ready', key: 'anomaly.knows', values: { time: timeText(red, newest.knows) }, progress }
    : { kind: 'ready', key: 'anomaly.usual', progress };
}

function unusualStatus(red: Red, { sensors }: AnomalyAnswer): Pick<Shown, 'key' | 'values' | 'shorter'> {
  const [first] = sensors;
  if (first === undefined) {
    return { key: 'anomaly.together' };
  }
  const digits = chooseDigits(red, first);
  const values = {
    column: first.column,
    value: shortNumber(red, first.value, digits),
    expected: shortNumber(red, first.expected, digits),
  };
  return { key: 'anomaly.unusual', values, shorter: { key: 'anomaly.unusualShort', values } };
}
