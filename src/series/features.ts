import { setCell } from '../table/cells/types';
import { DAY, HOUR, showDuration } from '../util/durations';
import { SINCE_BEFORE } from './column-names';
import type { KnownAhead } from './known-ahead';
import { HISTORY, type Machine } from './machine';
import type { Sensor, Sensors } from './sensors';
import { valueAt } from './track';
import type { SeriesCells, SeriesSettings } from './types';
import {
  type Arithmetic,
  Calendar,
  CALENDAR_COLUMNS,
  describeNumber,
  describeState,
  EXACT,
  LEGIBLE,
  meanWithoutOutliers,
  numberCells,
  STATE_CELLS,
} from './windows';

/**
 * A row with these columns, all missing, to be copied and filled. An object whose many names are set one after the other is
 * kept as a hash table, which takes three times as long to make, to look through and to copy.
 */
function blankRow(columns: readonly string[]): Readonly<SeriesCells> {
  return JSON.parse(`{${columns.map((name) => `${JSON.stringify(name)}:null`).join(',')}}`) as SeriesCells;
}

/** Positions of the cells that every row has, before those of its sensors. */
const GAP = 0;
const AHEAD = 1;
const CALENDAR = 2;
const DAY_BEFORE = 5;
const DAY_CHANGE = 6;
const WEEK_BEFORE = 7;
const WEEK_CHANGE = 8;
const USUAL_NOW = 9;
const USUAL_CHANGE = 10;
const USUAL_THEN = 11;
const FIXED = 12;
/** Then the columns known ahead, in the order of the settings, then the cells of the sensors. */
const KNOWN_AHEAD = FIXED;
/** The usual value at a time of the week is a robust mean over this many weeks, and at least two. */
const USUAL_WEEKS = 4;
/** Shorter aheads gain nothing from yesterday: the current value says more. */
const MIN_AHEAD_OF_DAYS = HOUR;

/** A column of rows and its position in them. */
export interface RowColumn {
  name: string;
  at: number;
  /** The sensor that decodes its numbers to text or truth values; undefined for numbers. */
  state?: Sensor;
  /** The sensor whose readings it describes. */
  of?: Sensor;
  /** Days that the rows must span for the column to be useful. */
  days: number;
  /** Position of a cell that guesses the change from now to the outcome: the column is used if that beats "no change". */
  guess?: number;
}

/**
 * The columns of rows and how they are computed. A row is a function of the readings up to its time, never of their order
 * of arrival. Rows are numbers (text as codes, NaN where missing) until they leave.
 */
export class SeriesFeatures {
  private readonly calendar: Calendar;
  private readonly starts: number[] = [];
  private readonly ofSensors: RowColumn[] = [];
  private known: RowColumn[] | undefined;
  /** Number of sensors when `known` was built: one that only a plan names is never seen in a reading. */
  private knownOf = 0;
  /** Rows to be filled, by what they have beside the columns. */
  private readonly blanks = new Map<string, Readonly<SeriesCells>>();
  private size: number;
  readonly longest: number;
  /** Rows of a node of an earlier version keep their numbers to the last bit: its models have learned from them. */
  private readonly arithmetic: Arithmetic;
  private readonly ofNumbers: Parameters<typeof describeNumber>[3];

  constructor(
    private readonly settings: SeriesSettings,
    private readonly sensors: Sensors,
    private readonly knownAhead: KnownAhead,
  ) {
    this.size = KNOWN_AHEAD + settings.knownAhead.length;
    this.calendar = new Calendar(settings.timezone);
    this.longest = settings.windows.at(-1)!;
    this.arithmetic = settings.shape === 'auto' ? LEGIBLE : EXACT;
    this.ofNumbers = { windows: settings.windows, ...this.arithmetic };
  }

  /** How many of a row's first cells depend on the time ahead; the others are those of the base. */
  get headCells(): number {
    return KNOWN_AHEAD + this.settings.knownAhead.length;
  }

  /** Whether rows have the outcome's values a day and a week before. */
  get hasHistory(): boolean {
    const { outcome, aheads } = this.settings;
    return outcome.kind === 'column' && aheads.at(-1)! >= MIN_AHEAD_OF_DAYS;
  }

  /** The part of a row that does not depend on the ahead. */
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
      const cells = row.subarray(this.starts[index]);
      if (kind === 'number') {
        describeNumber(track, time, cells, this.ofNumbers);
      } else {
        describeState(track, time, cells, this.longest);
      }
    }
    return row;
  }

  /** The row for one ahead: a copy of the base, with the calendar, the columns known ahead and the days before. */
  row(machine: Machine, base: Float64Array, time: number, ahead: number): Float64Array {
    const row = base.slice();
    const then = time + ahead;
    row[AHEAD] = ahead;
    if (this.settings.calendar !== 'off') {
      this.calendar.write(then, row, CALENDAR);
    }
    this.settings.knownAhead.forEach((name, i) => {
      const sensor = this.sensors.get(name);
      row[KNOWN_AHEAD + i] = sensor === undefined ? NaN : this.knownAhead.at(machine.key, sensor, then, time);
    });
    if (this.hasHistory && ahead >= MIN_AHEAD_OF_DAYS) {
      this.writeHistory(machine, time, then, row);
    }
    return row;
  }

  /**
   * The outcome's value at the same time of day a day and a week before, its usual value, and the changes over the same
   * span back then. Changes stay useful where the level has moved since.
   */
  private writeHistory(machine: Machine, time: number, then: number, row: Float64Array): void {
    const { outcome } = this.settings;
    const sensor = outcome.kind === 'column' ? this.sensors.get(outcome.column) : undefined;
    if (sensor?.kind !== 'number') {
      return;
    }
    const now = this.now(row, sensor);
    const { less, mean } = this.arithmetic;
    const past = (at: number, days: number) => less(this.daysBefore(machine, time, at, days), now);
    for (const [days, before, change] of [
      [1, DAY_BEFORE, DAY_CHANGE],
      [7, WEEK_BEFORE, WEEK_CHANGE],
    ] as const) {
      const back = this.daysUntilPast(time, then, days);
      row[before] = past(then, back);
      row[change] = less(row[before], past(time, back));
    }
    row[USUAL_NOW] = mean(this.usual((week) => past(time, 7 * week)));
    row[USUAL_THEN] = mean(this.usual((week) => past(then, this.daysUntilPast(time, then, 7 * week))));
    row[USUAL_CHANGE] = less(row[USUAL_THEN], row[USUAL_NOW]);
  }

  /** The smallest multiple of `days` that takes `then` back to the past. */
  private daysUntilPast(time: number, then: number, days: number): number {
    let back = days;
    while (this.calendar.daysBefore(then, back) > time) {
      back += days;
    }
    return back;
  }

  /** The outcome's value at the same time of day, some days before; NaN where unknown. */
  private daysBefore({ history }: Machine, time: number, at: number, days: number): number {
    if (time - at + days * DAY > HISTORY) {
      return NaN;
    }
    const then = this.calendar.daysBefore(at, days);
    const count = history.countUntil(time);
    return valueAt(history, then, { reach: MIN_AHEAD_OF_DAYS / 2, isNumber: true, count }) ?? NaN;
  }

  /** The usual value at a time of the week, from its values in the last weeks. */
  private usual(inWeek: (week: number) => number): number {
    const values: number[] = [];
    for (let week = 1; week <= USUAL_WEEKS; week++) {
      const value = inWeek(week);
      if (!Number.isNaN(value)) {
        values.push(value);
      }
    }
    return values.length < 2 ? NaN : meanWithoutOutliers(values);
  }

  /** A sensor's current value in a row; NaN where missing. */
  now(row: Float64Array, sensor: Sensor): number {
    const at = this.starts[sensor.index];
    return at === undefined || at >= row.length ? NaN : row[at]!;
  }

  /**
   * Cells of a row. Columns that appeared after it are left out.
   * @param target the name of the outcome, in rows that have it, which the caller fills in
   */
  cells(row: Float64Array, key: string | null, target?: string): SeriesCells {
    const columns = this.columns();
    const cells = row.length < this.size ? {} : { ...this.blank(key !== null, target) };
    if (key !== null) {
      setCell(cells, this.keyColumn, key);
    }
    for (const column of columns) {
      if (column.at < row.length) {
        setCell(cells, column.name, this.cell(row, column));
      }
    }
    return cells;
  }

  private blank(hasKey: boolean, target: string | undefined): Readonly<SeriesCells> {
    const which = `${hasKey} ${target ?? ''}`;
    let blank = this.blanks.get(which);
    if (blank === undefined) {
      const names = this.columns().map(({ name }) => name);
      blank = blankRow([
        ...(hasKey ? [this.keyColumn] : []),
        ...names,
        ...(target === undefined ? [] : [target]),
      ]);
      this.blanks.set(which, blank);
    }
    return blank;
  }

  /** Whether the outcome's value a week before is missing, as in the first week of a key. */
  lacksWeek(row: Float64Array): boolean {
    return Number.isNaN(row[WEEK_BEFORE]);
  }

  /** Gives a row the value of a code in one of its columns known ahead, where that is told as text. */
  translateAhead(row: Float64Array, column: number, values: readonly number[]): void {
    if (column >= 0) {
      row[KNOWN_AHEAD + column] = values[row[KNOWN_AHEAD + column]!] ?? NaN;
    }
  }

  /** The first column known ahead that is missing in a row. */
  unknownAhead(row: Float64Array): string | undefined {
    return this.settings.knownAhead.find((_, i) => Number.isNaN(row[KNOWN_AHEAD + i]));
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
    const { length } = this.sensors.list;
    if (this.known === undefined || this.knownOf !== length) {
      this.knownOf = length;
      this.blanks.clear();
      this.known = [
        ...this.ofSensors.filter(({ of }) => of?.hasTurned !== true),
        ...[...this.fixedColumns(), ...this.columnsAhead()].filter(
          ({ name }) => this.sensors.get(name) === undefined,
        ),
      ];
    }
    return this.known;
  }

  private layOut(): void {
    const { seen } = this.sensors;
    for (let i = this.starts.length; i < seen.length; i++) {
      const sensor = seen[i]!;
      this.starts.push(this.size);
      for (const column of this.sensorColumns(sensor, this.size)) {
        this.ofSensors.push({ ...column, of: sensor });
      }
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
        { name: `${name} changes ${last}`, at: at + 2, days: countDays(this.longest) },
      ];
    }
    const own: RowColumn[] = [{ name, at, days: 0 }];
    windows.forEach((window, i) => {
      for (const [k, what] of ['change', 'mean', 'spread'].entries()) {
        own.push({
          name: `${name} ${what} ${showDuration(window)}`,
          at: at + 1 + 3 * i + k,
          days: countDays(window),
        });
      }
    });
    const end = at + 1 + 3 * windows.length;
    own.push({ name: `${name} lowest ${last}`, at: end, days: countDays(this.longest) });
    own.push({ name: `${name} highest ${last}`, at: end + 1, days: countDays(this.longest) });
    return own;
  }

  private columnsAhead(): RowColumn[] {
    return this.settings.knownAhead.flatMap((name, i) => {
      const sensor = this.sensors.get(name);
      const state = sensor?.kind === 'number' ? undefined : sensor;
      return sensor === undefined ? [] : [{ name: `${name} then`, at: KNOWN_AHEAD + i, state, days: 0 }];
    });
  }

  private fixedColumns(): RowColumn[] {
    const { aheads, calendar, outcome } = this.settings;
    const columns: RowColumn[] = [{ name: SINCE_BEFORE, at: GAP, days: 0 }];
    if (aheads.length > 1) {
      columns.push({ name: 'ahead', at: AHEAD, days: 0 });
    }
    if (calendar !== 'off') {
      // Until a second year has begun, a month marks a point in time rather than a season.
      const days = calendar === 'on' ? [0, 0, 0] : [3, 15, 400];
      CALENDAR_COLUMNS.forEach((name, i) => columns.push({ name, at: CALENDAR + i, days: days[i]! }));
    }
    if (this.hasHistory && outcome.kind === 'column') {
      const { column } = outcome;
      columns.push(
        { name: `${column} a day before`, at: DAY_BEFORE, days: 3, guess: DAY_BEFORE },
        { name: `${column} change a day before`, at: DAY_CHANGE, days: 3, guess: DAY_CHANGE },
        { name: `${column} a week before`, at: WEEK_BEFORE, days: 15, guess: WEEK_BEFORE },
        { name: `${column} change a week before`, at: WEEK_CHANGE, days: 15, guess: WEEK_CHANGE },
        { name: `${column} usual now`, at: USUAL_NOW, days: 22, guess: USUAL_THEN },
        { name: `${column} usual change`, at: USUAL_CHANGE, days: 22, guess: USUAL_CHANGE },
      );
    }
    return columns;
  }
}

/** A window of a day or more is useful once rows span three times its length. */
function countDays(window: number): number {
  const days = window / DAY;
  return days >= 1 ? 3 * days : 0;
}
