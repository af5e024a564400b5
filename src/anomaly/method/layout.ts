import {
  DAY_MS,
  type History,
  type HistoryCell,
  type HistoryColumn,
  type KeptHistory,
  OTHER_WORDS,
  usualStep,
} from './history';
import type { HistoryRows } from './ridge';
import { HOLD_ROWS } from './tail';

/** Numeric sensors at most. */
export const MOST_SENSORS = 100;
/** Columns of states and calendar at most: further states are left out. */
const MOST_CONTEXT = 200;
/** Words of a state that have a place of their own; the rest are others. */
const MOST_VALUES = 12;
/** A sensor needs so many numbers, and so many of the kept rows. */
const LEAST_NUMBERS = 30;
const LEAST_SHARE = 0.1;
/** Rows further apart than so many usual steps begin anew. */
const GAP_STEPS = 5;
/** The time of the day counts from so many days on, the weekend from so many. */
const DAILY_DAYS = 3;
const WEEKLY_DAYS = 20;

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

export function contextWidth({ states, daily, weekly }: SensorLayout): number {
  return (
    states.reduce((sum, { values, others }) => sum + values.length + Number(others), 0) +
    (daily ? 4 : 0) +
    Number(weekly)
  );
}

/**
 * What the kept rows of a machine give to learn from, and the columns that they no longer have.
 *
 * @param ignored columns that are no sensors
 */
export function sensorLayout(
  { times, columns }: KeptHistory,
  ignored: ReadonlySet<string>,
): { layout: SensorLayout; gone: string[] } {
  const gone: string[] = [];
  const layout: SensorLayout = {
    sensors: [],
    states: [],
    still: [],
    step: usualStep(times),
    ...knownCalendar(times),
  };
  const needed = Math.max(LEAST_NUMBERS, LEAST_SHARE * times.length);
  for (const [name, column] of Object.entries(columns)) {
    const { count, first, varies } = countNumbers(column.numbers);
    const words = wordCounts(column);
    const told = words.reduce((sum, word) => sum + word, 0);
    if (ignored.has(name) || (count === 0 && told === 0)) {
      gone.push(name);
    } else if (told > count) {
      const state = tellWordsApart(name, column.known, words);
      if (contextWidth(layout) + state.values.length < MOST_CONTEXT) {
        layout.states.push(state);
      }
    } else if (!varies) {
      layout.still.push({ column: name, value: first });
    } else if (count >= needed) {
      layout.sensors.push(name);
    }
  }
  return { layout, gone };
}

function countNumbers(numbers: Float64Array): { count: number; first: number; varies: boolean } {
  let count = 0;
  let first = NaN;
  let varies = false;
  for (const number of numbers) {
    if (!Number.isNaN(number)) {
      first = count === 0 ? number : first;
      varies ||= number !== first;
      count++;
    }
  }
  return { count, first, varies };
}

/** How often each word comes, and at the end those that are not told apart. */
function wordCounts({ words, known }: HistoryColumn): number[] {
  const counts = new Array<number>(known.length + 1).fill(0);
  for (const place of words) {
    if (place >= 0) {
      counts[place]++;
    } else if (place === OTHER_WORDS) {
      counts[known.length]++;
    }
  }
  return counts;
}

function tellWordsApart(column: string, known: readonly string[], counts: readonly number[]): State {
  const found = [...known.keys()].filter((place) => counts[place] > 0);
  const values = found.sort((a, b) => counts[b] - counts[a]).map((place) => known[place]);
  return {
    column,
    values: values.slice(0, MOST_VALUES),
    others: values.length > MOST_VALUES || counts[known.length] > 0,
  };
}

function knownCalendar(times: Float64Array): { daily: boolean; weekly: boolean } {
  let [first, last] = [Infinity, -Infinity];
  for (const time of times) {
    first = Math.min(first, time);
    last = Math.max(last, time);
  }
  const days = (last - first) / DAY_MS;
  return { daily: days >= DAILY_DAYS, weekly: days >= WEEKLY_DAYS };
}

/** New values that are told between two fits at most. */
const MOST_TOLD = 20;

/** Values that were not met before: nothing is known of their rows until they are learned. */
export class NewValues {
  private readonly told = new Set<string>();
  /** The rows that had one since the last fit. */
  rows = 0;

  /** @returns the new value of a reading, and whether it is to be told; undefined where it has none */
  take(
    layout: SensorLayout,
    cells: ReadonlyMap<string, HistoryCell>,
    isRow: boolean,
  ): { column: string; value: HistoryCell; isToTell: boolean } | undefined {
    const column = columnWithNewValue(layout, cells);
    if (column === undefined) {
      return undefined;
    }
    const value = cells.get(column)!;
    this.rows += Number(isRow);
    const name = JSON.stringify([column, value]);
    const isToTell = !this.told.has(name) && this.told.size < MOST_TOLD;
    this.told.add(name);
    return { column, value, isToTell };
  }

  /** They are told again where a fit has not learned them. */
  learned(): void {
    this.told.clear();
  }
}

/** A word that a state never had, while it has not had too many to tell. */
function columnWithNewValue(
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
  wordIn: (column: string) => string | null | undefined,
  out: Float64Array,
): void {
  let at = 0;
  for (const { column, values, others } of states) {
    const word = wordIn(column);
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

/** A row as it is scored. @param cellOf a number, a word, null for one that is not told apart, or undefined */
export function arrangeRow(
  layout: SensorLayout,
  time: number,
  cellOf: (column: string) => HistoryCell | null | undefined,
): { values: Float64Array; context: Float64Array } {
  const context = new Float64Array(contextWidth(layout));
  const wordIn = (column: string): string | null | undefined => {
    const cell = cellOf(column);
    return typeof cell === 'number' ? undefined : cell;
  };
  writeContext(layout, time, wordIn, context);
  const values = Float64Array.from(layout.sensors, (column) => {
    const cell = cellOf(column);
    return typeof cell === 'number' ? cell : NaN;
  });
  return { values, context };
}

/** The kept rows as a fit takes them. */
export function arrangeTrainRows({ times, marks, columns }: KeptHistory, layout: SensorLayout): HistoryRows {
  const { sensors } = layout;
  const context = contextWidth(layout);
  const train: HistoryRows = {
    width: { sensors: sensors.length, context },
    values: new Float64Array(times.length * sensors.length),
    context: new Float64Array(times.length * context),
    starts: new Uint8Array(times.length),
    leftOut: marks,
    rowsPerDay: DAY_MS / layout.step,
  };
  sensors.forEach((name, j) => {
    columns[name].numbers.forEach((number, i) => (train.values[i * sensors.length + j] = number));
  });
  times.forEach((time, i) => {
    const wordIn = (name: string): string | null | undefined => {
      const { words, known } = columns[name];
      return words[i] === OTHER_WORDS ? null : known[words[i]];
    };
    writeContext(layout, time, wordIn, train.context.subarray(i * context, (i + 1) * context));
    // After a fault that people confirmed, the memories would tell of it: what came next would be missed by far.
    const isAfterFault = marks[i - 1] === 2 && marks[i] !== 2;
    train.starts[i] = Number(i === 0 || isAfterFault || isGap(layout, times[i - 1], time));
  });
  return train;
}

/** Whether the memories of the rows before say nothing of this one: after a gap, or a clock that was set back. */
export function isGap({ step }: SensorLayout, before: number, time: number): boolean {
  return time - before > GAP_STEPS * step || time < before;
}

/** A sensor that was away for long before is waited for so many times as long. */
const TIMES_LONGEST = 3;

/** Tells of sensors that have stopped coming. */
export class MissingSensors {
  /** The rows since each sensor came, and how many it may be away. */
  private readonly away = new Map<string, number>();
  private may = new Map<string, number>();

  /** Takes the sensors that are known now. */
  learned(sensors: readonly string[], history: History): void {
    this.may = new Map(
      sensors.map((name) => {
        const longest = longestAway(history.column(name).numbers);
        return [name, Math.max(HOLD_ROWS, TIMES_LONGEST * longest)];
      }),
    );
  }

  /** Takes a row. @returns the sensors to tell of, with the rows that they have been away */
  take(cells: ReadonlyMap<string, HistoryCell>): { column: string; rows: number }[] {
    const told: { column: string; rows: number }[] = [];
    for (const [column, may] of this.may) {
      const rows = typeof cells.get(column) === 'number' ? 0 : (this.away.get(column) ?? 0) + 1;
      this.away.set(column, rows);
      if (rows === may + 1) {
        told.push({ column, rows });
      }
    }
    return told;
  }
}

/** The longest time, in rows, after which a sensor came back. */
function longestAway(numbers: Float64Array): number {
  let [longest, away] = [0, 0];
  let hasCome = false;
  for (const number of numbers) {
    if (Number.isNaN(number)) {
      away++;
    } else {
      longest = hasCome ? Math.max(longest, away) : longest;
      away = 0;
      hasCome = true;
    }
  }
  return longest;
}
