import type { History, HistoryCell } from './history';
import { arrangeRow, isGap, type SensorLayout } from './layout';
import { ALL, CROSS, KINDS, largestPlace, LEVEL, type OffKind } from './statistics';
import {
  freshMemory,
  type RowMemory,
  type ScoredRow,
  scoreRow,
  TRUSTED_R2,
  type UsualModel,
  WARM_ROWS,
} from './usual';

/** Sensors that are named: those beyond so many spreads, and beyond this share of the first. */
const NAMED_SPREADS = 3.5;
const NAMED_SHARE = 0.5;
const MOST_NAMED = 3;

/** What is expected of a sensor. */
interface Band {
  expected: number;
  /** Of 90 % of the rows. */
  low: number;
  high: number;
}

/** A sensor that is off. */
export interface OffSensor extends Band {
  column: string;
  value: number;
  /** Spreads off. */
  off: number;
  kind: OffKind;
}

/** What is told of a row. */
export interface RowVerdict {
  /** `learning`: too few rows; `new`: a state that was not met before; `late`: older than rows before. */
  state: 'learning' | 'usual' | 'unusual' | 'new' | 'late';
  rows: number;
  needed: number;
  /** Milliseconds of readings that it knows. */
  knows: number;
  /** A row like this, or less usual, comes once in so many milliseconds. */
  onceIn?: number;
  /** The alarm of the episode under way. */
  alarm?: string;
  sensors: OffSensor[];
  /** The expected values of missing sensors that the others tell. */
  expected: Record<string, number>;
  changes: Change[];
}

export type Change =
  | { kind: 'alarm'; id: string; sensors: OffSensor[]; onceIn: number; knows: number; time: number }
  | { kind: 'over'; id: string; start: number; end: number }
  | { kind: 'moved'; id: string; column: string; by: number; since: number; time: number }
  | { kind: 'new_state'; column: string; value: HistoryCell; time: number }
  | { kind: 'learned'; rows: number; knows: number }
  | { kind: 'odd_history'; periods: { start: number; end: number }[] };

/** The sensor that is furthest off. */
export function sensorInFront({ sensors }: SensorLayout, { weights }: ScoredRow): string {
  return sensors[largestPlace(weights)];
}

/** The sensors that are furthest off, with what was expected of them. */
function offSensors(
  { sensors }: SensorLayout,
  values: Float64Array,
  scored: ScoredRow,
  bands: readonly Band[],
): OffSensor[] {
  const order = [...scored.weights.keys()].sort((a, b) => scored.weights[b] - scored.weights[a]);
  const most = scored.weights[order[0]];
  return order
    .filter((j) => scored.weights[j] > NAMED_SPREADS && scored.weights[j] > NAMED_SHARE * most)
    .slice(0, MOST_NAMED)
    .map((j) => ({
      column: sensors[j],
      value: values[j],
      ...bands[j],
      off: scored.weights[j],
      kind: KINDS[scored.kinds[j]],
    }));
}

/** What is expected of each sensor, by the view that knows it well, and the range of 90 % of the rows around it. */
function expectedBands({ width, known, scale }: UsualModel, { expected }: ScoredRow): Band[] {
  return Array.from({ length: width.sensors }, (_, sensor) => {
    const view = [CROSS, ALL].find((one) => known[one].r2[sensor] >= TRUSTED_R2) ?? LEVEL;
    const middle = expected[view * width.sensors + sensor];
    const { low, high } = known[view];
    return {
      expected: middle,
      low: middle + low[sensor] * scale.spread[sensor],
      high: middle + high[sensor] * scale.spread[sensor],
    };
  });
}

/** What the others tell of sensors that are missing: nothing where they say little of them. */
export function expectedOfMissing(
  { known, width }: UsualModel,
  { sensors }: SensorLayout,
  values: Float64Array,
  { expected }: ScoredRow,
): Record<string, number> {
  const told = sensors.flatMap((column, j) =>
    Number.isNaN(values[j]) && known[CROSS].r2[j] >= TRUSTED_R2
      ? [[column, expected[CROSS * width.sensors + j]] as const]
      : [],
  );
  return Object.fromEntries(told);
}

export interface OffRow {
  values: Float64Array;
  scored: ScoredRow;
  bands: readonly Band[];
  sensors: OffSensor[];
}

/** Scores the rows of a machine, one after the other, by one fit. */
export class RowScorer {
  private memory: RowMemory | undefined;
  /** The newest rows beside what was expected of them. */
  readonly recent: RecentRows;

  /**
   * @param history whose rows are scored
   * @param shown the rows that were kept by the fit before: they go on where it has the same sensors
   */
  constructor(
    private readonly layout: SensorLayout,
    private readonly usual: UsualModel,
    private readonly history: History,
    shown?: RecentRows,
  ) {
    const isSame = JSON.stringify(shown?.sensors) === JSON.stringify(layout.sensors);
    this.recent = shown !== undefined && isSame ? shown : new RecentRows(layout.sensors);
  }

  /**
   * Scores the newest row of the history.
   *
   * @param row its number
   * @param level the rarity from which on it is unusual
   */
  take(row: number, level: number): OffRow {
    this.warmUp(row, level);
    return this.score(row, level);
  }

  /** Scores a reading that is no row: it leaves nothing behind. */
  peek(time: number, cells: ReadonlyMap<string, HistoryCell>, level: number): OffRow {
    this.warmUp(this.history.taken, level);
    const { slow, restless, past } = this.memory ?? freshMemory(this.usual);
    return this.scoreCells(time, (column) => cells.get(column), {
      slow: slow.slice(),
      restless: restless.slice(),
      past: past?.slice(),
    });
  }

  /** Takes the rows before `end` into the memories, unless that is done: after a restart not all machines at once. */
  warmUp(end: number, level: number): void {
    if (this.memory !== undefined) {
      return;
    }
    this.memory = freshMemory(this.usual);
    for (let row = Math.max(this.history.first, end - WARM_ROWS); row < end; row++) {
      this.score(row, level);
    }
  }

  private score(row: number, level: number): OffRow {
    const { layout, usual, history } = this;
    const time = history.time(row);
    if (this.memory === undefined || (row > history.first && isGap(layout, history.time(row - 1), time))) {
      this.memory = freshMemory(usual);
    }
    const taken = this.scoreCells(time, (column) => history.cell(column, row), this.memory);
    const { values, scored, sensors, bands } = taken;
    const off = scored.rarity > level ? sensors.map(({ column }) => layout.sensors.indexOf(column)) : [];
    this.recent.take(row, time, { values, bands, off });
    return taken;
  }

  private scoreCells(
    time: number,
    cellOf: (column: string) => HistoryCell | null | undefined,
    memory: RowMemory,
  ): OffRow {
    const { layout, usual } = this;
    const { values, context } = arrangeRow(layout, time, cellOf);
    const scored = scoreRow(usual, values, context, memory);
    const bands = expectedBands(usual, scored);
    return { values, scored, bands, sensors: offSensors(layout, values, scored, bands) };
  }
}

/** Rows of a machine that are kept with what was expected of them: a day of one each five minutes. */
const RECENT_ROWS = 300;
/** Value, expected, low and high. */
const NUMBERS = 4;

/** What the newest rows of one sensor were, and should have been; each list is in order of the rows. */
export interface RecentSensor {
  /** In the unit of the sensor; NaN where it was missing. */
  value: Float32Array;
  expected: Float32Array;
  /** 90 % of the rows are between them. */
  low: Float32Array;
  high: Float32Array;
  /** 1 where the row was unusual and this sensor was named. */
  off: Uint8Array;
}

/** What was measured in a row and what was expected, sensor by sensor, and the places of those that were off. */
interface TakenRow {
  values: Float64Array;
  bands: readonly { expected: number; low: number; high: number }[];
  off: readonly number[];
}

/** The newest rows of a machine beside what was expected of them, for a picture. It holds 17 bytes a sensor and row. */
export class RecentRows {
  private readonly times = new Float64Array(RECENT_ROWS);
  private readonly numbers: Float32Array;
  private readonly off: Uint8Array;
  private length = 0;
  /** The number of the next row that it takes. */
  private next = 0;

  constructor(readonly sensors: readonly string[]) {
    this.numbers = new Float32Array(RECENT_ROWS * sensors.length * NUMBERS);
    this.off = new Uint8Array(RECENT_ROWS * sensors.length);
  }

  /**
   * Takes a row, unless it has taken it before.
   *
   * @param row its number
   * @param values of the sensors
   * @param bands sensors: what was expected of each
   * @param off places of the sensors that were named
   */
  take(row: number, time: number, { values, bands, off }: TakenRow): void {
    if (row < this.next) {
      return;
    }
    this.next = row + 1;
    const at = this.length % RECENT_ROWS;
    this.length++;
    this.times[at] = time;
    const first = at * this.sensors.length;
    bands.forEach(({ expected, low, high }, j) => {
      this.numbers.set([values[j], expected, low, high], (first + j) * NUMBERS);
      this.off[first + j] = Number(off.includes(j));
    });
  }

  /** Milliseconds since 1970, the oldest row first. */
  get allTimes(): Float64Array {
    return Float64Array.from(this.places(), (at) => this.times[at]);
  }

  /** @param sensor its place among `sensors` */
  sensor(sensor: number): RecentSensor {
    const places = this.places().map((at) => at * this.sensors.length + sensor);
    const numbers = (which: number): Float32Array =>
      Float32Array.from(places, (at) => this.numbers[at * NUMBERS + which]);
    return {
      value: numbers(0),
      expected: numbers(1),
      low: numbers(2),
      high: numbers(3),
      off: Uint8Array.from(places, (at) => this.off[at]),
    };
  }

  private places(): number[] {
    const { length } = this;
    const count = Math.min(length, RECENT_ROWS);
    return Array.from({ length: count }, (_, i) => (length - count + i) % RECENT_ROWS);
  }
}
