import type { HistoryRows } from './fit';
import type { History, HistoryCell } from './history';

/** Numeric sensors at most. */
export const MOST_SENSORS = 100;
/** Words of a state that have a place of their own; the rest are others. */
const MOST_VALUES = 12;
/** A sensor needs so many numbers, and so many of the kept rows. */
const LEAST_NUMBERS = 30;
const LEAST_SHARE = 0.1;
/** Rows further apart than so many usual steps begin anew. */
export const GAP_STEPS = 5;
const DAY_MS = 86_400_000;
/** The time of the day counts from so many days on, the weekend from so many. */
const DAILY_DAYS = 3;
const WEEKLY_DAYS = 21;

/** A column of words, or of yes and no. */
interface State {
  column: string;
  /** The words told apart, the most frequent first. */
  values: string[];
  /** Whether there were more: then no word is new. */
  others: boolean;
}

/** What a fit takes from readings, and a row is made of. */
export interface SensorLayout {
  sensors: string[];
  states: State[];
  /** Columns of numbers that never varied. */
  still: { column: string; value: number }[];
  daily: boolean;
  weekly: boolean;
  /** The usual time from one row to the next, in milliseconds. */
  step: number;
}

export function contextOf({ states, daily, weekly }: SensorLayout): number {
  return (
    states.reduce((sum, { values, others }) => sum + values.length + Number(others), 0) +
    (daily ? 4 : 0) +
    Number(weekly)
  );
}

/** What the kept rows of a machine give to learn from. Columns that they no longer have are let go. */
export function sensorLayout(history: History): SensorLayout {
  const rows = numbersFrom(history.first, history.taken);
  const layout: SensorLayout = {
    sensors: [],
    states: [],
    still: [],
    step: usualStep(history),
    ...calendarOf(history),
  };
  for (const column of history.names) {
    const numbers = rows.map((row) => history.number(column, row)).filter((value) => !Number.isNaN(value));
    const words = rows.map((row) => history.word(column, row)).filter((word) => word !== undefined);
    if (numbers.length === 0 && words.length === 0) {
      history.forget(column);
    } else if (words.length > numbers.length) {
      layout.states.push(stateOf(column, words));
    } else if (numbers.every((value) => value === numbers[0])) {
      layout.still.push({ column, value: numbers[0] });
    } else if (numbers.length >= Math.max(LEAST_NUMBERS, LEAST_SHARE * rows.length)) {
      layout.sensors.push(column);
    }
  }
  return layout;
}

function numbersFrom(from: number, to: number): number[] {
  return Array.from({ length: to - from }, (_, i) => from + i);
}

function stateOf(column: string, words: readonly (string | null)[]): State {
  const counts = new Map<string, number>();
  for (const word of words) {
    if (word !== null) {
      counts.set(word, (counts.get(word) ?? 0) + 1);
    }
  }
  const values = [...counts].sort(([, a], [, b]) => b - a).map(([word]) => word);
  return {
    column,
    values: values.slice(0, MOST_VALUES),
    others: values.length > MOST_VALUES || words.includes(null),
  };
}

/** The median of the times between rows. */
function usualStep(history: History): number {
  const steps: number[] = [];
  for (let row = history.first + 1; row < history.taken; row++) {
    const step = history.time(row) - history.time(row - 1);
    if (step > 0) {
      steps.push(step);
    }
  }
  return Float64Array.from(steps).sort()[steps.length >> 1] ?? 1000;
}

function calendarOf(history: History): { daily: boolean; weekly: boolean } {
  const days = (history.time(history.taken - 1) - history.time(history.first)) / DAY_MS;
  return { daily: days >= DAILY_DAYS, weekly: days >= WEEKLY_DAYS };
}

/** A word that a state never had, while it has not had too many to tell. */
export function newValueOf(
  { states, still }: SensorLayout,
  cells: ReadonlyMap<string, HistoryCell>,
): string | undefined {
  for (const { column, values, others } of states) {
    const cell = cells.get(column);
    if (typeof cell === 'string' && !others && !values.includes(cell)) {
      return column;
    }
  }
  return still.find(({ column, value }) => {
    const cell = cells.get(column);
    return typeof cell === 'number' && cell !== value;
  })?.column;
}

/** Writes states and calendar of a row into its context. The calendar is that of this computer's time zone. */
export function writeContext(
  { states, daily, weekly }: SensorLayout,
  time: number,
  wordOf: (column: string) => string | null | undefined,
  out: Float64Array,
): void {
  let at = 0;
  for (const { column, values, others } of states) {
    const word = wordOf(column);
    const place = typeof word === 'string' ? values.indexOf(word) : -1;
    const width = values.length + Number(others);
    out.fill(0, at, at + width);
    if (place >= 0) {
      out[at + place] = 1;
    } else if (others && word !== undefined) {
      out[at + width - 1] = 1;
    }
    at += width;
  }
  if (!daily && !weekly) {
    return;
  }
  const date = new Date(time);
  if (daily) {
    const day = (2 * Math.PI * (date.getHours() + date.getMinutes() / 60 + date.getSeconds() / 3600)) / 24;
    out[at++] = Math.sin(day);
    out[at++] = Math.cos(day);
    out[at++] = Math.sin(2 * day);
    out[at++] = Math.cos(2 * day);
  }
  if (weekly) {
    out[at] = Number(date.getDay() === 0 || date.getDay() === 6);
  }
}

/** The kept rows as a fit takes them. */
export function trainRowsOf(history: History, layout: SensorLayout): HistoryRows {
  const { sensors } = layout;
  const context = contextOf(layout);
  const { first, length } = history;
  const train: HistoryRows = {
    width: { sensors: sensors.length, context },
    values: new Float64Array(length * sensors.length),
    context: new Float64Array(length * context),
    starts: new Uint8Array(length),
    leftOut: new Uint8Array(length),
    rowsPerDay: DAY_MS / layout.step,
  };
  for (let i = 0; i < length; i++) {
    const row = first + i;
    const time = history.time(row);
    sensors.forEach((column, j) => (train.values[i * sensors.length + j] = history.number(column, row)));
    writeContext(
      layout,
      time,
      (column) => history.word(column, row),
      train.context.subarray(i * context, (i + 1) * context),
    );
    train.starts[i] = Number(i === 0 || isGap(layout, history.time(row - 1), time));
    train.leftOut[i] = history.marked(row);
  }
  return train;
}

/** Whether the memories of the rows before say nothing of this one: after a gap, or a clock that was set back. */
export function isGap({ step }: SensorLayout, before: number, time: number): boolean {
  return time - before > GAP_STEPS * step || time < before;
}
