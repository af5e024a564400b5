import { setCell } from '../table';
import { Calendar, CALENDAR_COLUMNS } from './calendar';
import { HOUR, showDuration } from './durations';
import type { Machine } from './machine';
import { valueAt } from './outcome';
import type { Sensor, Sensors } from './sensors';
import type { SeriesCells, SeriesSettings } from './types';
import { meanOfUsual } from './usual';
import { describeNumber, describeState, numberCells, STATE_CELLS } from './windows';

/** Places of the cells that every row has, before those of its sensors. */
const GAP = 0;
const AHEAD = 1;
const CALENDAR = 2;
const DAY_BEFORE = 5;
const WEEK_BEFORE = 6;
const USUAL_NOW = 7;
const USUAL_THEN = 8;
const FIXED = 9;
/** What is usual at a time of the week: the mean of so many weeks, of two at least, but for a holiday. */
const USUAL_WEEKS = 4;
/** Shorter aheads need no look at yesterday: now says more. */
const MIN_AHEAD_OF_DAYS = HOUR;

/** A column of rows: its place in the numbers of a row. */
export interface RowColumn {
  name: string;
  at: number;
  /** Whose numbers stand for text or truth values; undefined for numbers. */
  state?: Sensor;
  /** What it takes of history to be of use: rows that span so many days. */
  days: number;
  /** The place of the outcome's value some time before, less now, that must be nearer to the outcome than now is. */
  before?: number;
}

/**
 * Which columns a row has, and how they are made: a row is a function of the readings up to its time, never of the
 * order they came in. Rows are numbers (text as codes, NaN where missing) until they leave.
 */
export class SeriesFeatures {
  private readonly calendar: Calendar;
  private readonly starts: number[] = [];
  private readonly ofSensors: RowColumn[] = [];
  private known: RowColumn[] | undefined;
  private size = FIXED;
  readonly longest: number;

  constructor(
    private readonly settings: SeriesSettings,
    private readonly sensors: Sensors,
  ) {
    this.calendar = new Calendar(settings.timezone);
    this.longest = settings.windows.at(-1)!;
  }

  /** Whether rows have the outcome's value a day and a week before. */
  get hasHistory(): boolean {
    const { outcome, aheads } = this.settings;
    return outcome.kind === 'column' && aheads.at(-1)! >= MIN_AHEAD_OF_DAYS;
  }

  /** What does not depend on the ahead. */
  base(machine: Machine, time: number): Float64Array {
    this.layOut();
    const row = new Float64Array(this.size).fill(NaN);
    const before = machine.clock.countUntil(time - 1);
    if (before > 0) {
      row[GAP] = (time - machine.clock.time(before - 1)) / 1000;
    }
    for (const { index, kind } of this.sensors.seen) {
      const track = machine.tracks[index];
      if (track === undefined) {
        continue;
      }
      if (kind === 'number') {
        describeNumber(track, time, this.settings.windows, row, this.starts[index]!);
      } else {
        describeState(track, time, this.longest, row, this.starts[index]!);
      }
    }
    return row;
  }

  /** The row of an ahead: a copy of the base with its calendar and its days before. */
  row(machine: Machine, base: Float64Array, time: number, ahead: number): Float64Array {
    const row = base.slice();
    const then = time + ahead;
    row[AHEAD] = ahead;
    if (this.settings.calendar !== 'off') {
      this.calendar.write(then, row, CALENDAR);
    }
    if (this.hasHistory && ahead >= MIN_AHEAD_OF_DAYS) {
      row[DAY_BEFORE] = this.before(machine, row, time, then, 1);
      row[WEEK_BEFORE] = this.before(machine, row, time, then, 7);
      row[USUAL_NOW] = this.usual(machine, row, time, time);
      row[USUAL_THEN] = this.usual(machine, row, time, then);
    }
    return row;
  }

  /** The outcome's value at the same time of day, the fewest times `days` before that are past; less now. */
  private before(machine: Machine, row: Float64Array, time: number, then: number, days: number): number {
    const { outcome } = this.settings;
    const sensor = outcome.kind === 'column' ? this.sensors.get(outcome.column) : undefined;
    if (sensor?.kind !== 'number') {
      return NaN;
    }
    let back = days;
    let at = this.calendar.daysBefore(then, back);
    while (at > time) {
      back += days;
      at = this.calendar.daysBefore(then, back);
    }
    const { history } = machine;
    const value = valueAt(history, history.countUntil(time), at, MIN_AHEAD_OF_DAYS / 2, true);
    return value === undefined ? NaN : value - row[this.starts[sensor.index]!]!;
  }

  /** What the outcome's value is as usual at this time of the week, by the last weeks; less now. */
  private usual(machine: Machine, row: Float64Array, time: number, at: number): number {
    const values: number[] = [];
    for (let week = 1; week <= USUAL_WEEKS; week++) {
      const value = this.before(machine, row, time, at, 7 * week);
      if (!Number.isNaN(value)) {
        values.push(value);
      }
    }
    return values.length < 2 ? NaN : meanOfUsual(values);
  }

  /** The number that a sensor has now, in a row; NaN where it is missing. */
  now(row: Float64Array, sensor: Sensor): number {
    const at = this.starts[sensor.index];
    return at === undefined || at >= row.length ? NaN : row[at]!;
  }

  /** Cells of a row, less those of columns that came later than it. */
  cells(row: Float64Array, key: string | null): SeriesCells {
    const cells: SeriesCells = {};
    if (key !== null) {
      setCell(cells, this.keyColumn, key);
    }
    for (const column of this.columns()) {
      if (column.at < row.length) {
        setCell(cells, column.name, this.cell(row, column));
      }
    }
    return cells;
  }

  cell(row: Float64Array, { at, state }: RowColumn): SeriesCells[string] {
    const value = at < row.length ? row[at]! : NaN;
    return state !== undefined ? this.sensors.cell(state, value) : Number.isNaN(value) ? null : value;
  }

  get keyColumn(): string {
    return this.settings.key ?? 'key';
  }

  /** All columns so far. */
  columns(): readonly RowColumn[] {
    this.layOut();
    this.known ??= [
      ...this.ofSensors,
      ...this.fixedColumns().filter(({ name }) => this.sensors.get(name) === undefined),
    ];
    return this.known;
  }

  private layOut(): void {
    const { seen } = this.sensors;
    for (let i = this.starts.length; i < seen.length; i++) {
      const sensor = seen[i]!;
      this.starts.push(this.size);
      this.ofSensors.push(...this.sensorColumns(sensor, this.size));
      this.size += sensor.kind === 'number' ? numberCells(this.settings.windows) : STATE_CELLS;
      this.known = undefined;
    }
  }

  private sensorColumns(sensor: Sensor, at: number): RowColumn[] {
    const { name } = sensor;
    const { windows } = this.settings;
    const last = showDuration(this.longest);
    if (sensor.kind !== 'number') {
      return [
        { name, at, state: sensor, days: 0 },
        { name: `${name} for`, at: at + 1, days: 0 },
        { name: `${name} changes ${last}`, at: at + 2, days: daysOf(this.longest) },
      ];
    }
    const own: RowColumn[] = [{ name, at, days: 0 }];
    windows.forEach((window, i) => {
      for (const [k, what] of ['change', 'mean', 'spread'].entries()) {
        own.push({
          name: `${name} ${what} ${showDuration(window)}`,
          at: at + 1 + 3 * i + k,
          days: daysOf(window),
        });
      }
    });
    const end = at + 1 + 3 * windows.length;
    own.push({ name: `${name} lowest ${last}`, at: end, days: daysOf(this.longest) });
    own.push({ name: `${name} highest ${last}`, at: end + 1, days: daysOf(this.longest) });
    return own;
  }

  private fixedColumns(): RowColumn[] {
    const { aheads, calendar, outcome } = this.settings;
    const columns: RowColumn[] = [{ name: 'seconds since the reading before', at: GAP, days: 0 }];
    if (aheads.length > 1) {
      columns.push({ name: 'ahead', at: AHEAD, days: 0 });
    }
    if (calendar !== 'off') {
      // A month is a point in time, not a season, until a second year has begun.
      const days = calendar === 'on' ? [0, 0, 0] : [3, 15, 400];
      CALENDAR_COLUMNS.forEach((name, i) => columns.push({ name, at: CALENDAR + i, days: days[i]! }));
    }
    if (this.hasHistory && outcome.kind === 'column') {
      columns.push({ name: `${outcome.column} a day before`, at: DAY_BEFORE, days: 3, before: DAY_BEFORE });
      columns.push({
        name: `${outcome.column} a week before`,
        at: WEEK_BEFORE,
        days: 15,
        before: WEEK_BEFORE,
      });
      columns.push({ name: `${outcome.column} usual now`, at: USUAL_NOW, days: 22, before: USUAL_THEN });
      columns.push({ name: `${outcome.column} usual then`, at: USUAL_THEN, days: 22, before: USUAL_THEN });
    }
    return columns;
  }
}

/** A window of a day or more is of use once rows span three of it. */
function daysOf(window: number): number {
  const days = window / (24 * HOUR);
  return days >= 1 ? 3 * days : 0;
}
