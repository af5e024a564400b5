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
      ...{ value: numbers(0), expected: numbers(1), low: numbers(2), high: numbers(3) },
      off: Uint8Array.from(places, (at) => this.off[at]),
    };
  }

  private places(): number[] {
    const { length } = this;
    const count = Math.min(length, RECENT_ROWS);
    return Array.from({ length: count }, (_, i) => (length - count + i) % RECENT_ROWS);
  }
}
