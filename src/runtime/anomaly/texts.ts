import type { AnomalyAnswer, AnomalyChange, OffSensor } from '../../anomaly';
import { type Red, text } from '../node-red';
import { timeText } from '../status/status-line';
import { shortNumber } from '../watch/change-text';

const DIGITS = 3;
/** Nothing is said to come once in more than this, in seconds: some ten years are known by nobody. */
const MOST_SECONDS = 10 * 365 * 86_400;
/** A sensor that is off: `vibration 7.9, expected 2.4 (2.1 to 2.7): disagrees with the other sensors`. */
export function sensorText(red: Red, { column, value, expected, low, high, kind }: OffSensor): string {
  return text(red, 'change.anomaly.sensor', {
    column,
    value: shortNumber(red, value, DIGITS),
    expected: shortNumber(red, expected, DIGITS),
    low: shortNumber(red, low, DIGITS),
    high: shortNumber(red, high, DIGITS),
    kind: text(red, `change.anomaly.kind.${kind}`),
  });
}

/** What a reading is, to a person; empty while it is usual. */
export function answerText(red: Red, { state, sensors, onceIn }: AnomalyAnswer): string {
  if (state !== 'unusual') {
    return state === 'usual' || state === 'learning' ? '' : text(red, `change.anomaly.${state}`);
  }
  return unusualText(red, { sensors, onceIn: onceIn ?? 0 });
}

/** What an alarm says of the sensors that were off. @param onceIn milliseconds */
export function unusualText(
  red: Red,
  { sensors, onceIn }: { sensors: readonly OffSensor[]; onceIn: number },
): string {
  const time = timeText(red, onceIn);
  const rare = text(red, onceIn / 1000 > MOST_SECONDS ? 'change.anomaly.never' : 'change.anomaly.once', {
    time,
  });
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
export function changeTextOf(red: Red, change: AnomalyChange): string {
  const said = saidOf(red, change);
  return change.key === null ? said : `${change.key}: ${said}`;
}

function saidOf(red: Red, change: AnomalyChange): string {
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
