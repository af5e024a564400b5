/** So many readings in a row before the newest one: the clock was set back, and they are not late. */
const CLOCK_ROWS = 5;
/** Of a longer time without a reading nothing is known. */
const LONGEST_MS = 7 * 86_400_000;

export interface KeptClock {
  /** What was known of the time at first, moved on with a clock that was set; and the time of the newest row. */
  started: number | undefined;
  latest: number | undefined;
}

/** The time of a machine's readings, whose clock may be set forward and back. */
export class MachineClock {
  private started: number | undefined;
  private newest: number | undefined;
  private late = 0;

  constructor(kept?: KeptClock) {
    this.started = kept?.started;
    this.newest = kept?.latest;
  }

  /** Takes the time of a row. */
  take(time: number): void {
    const step = time - (this.newest ?? time);
    this.started = (this.started ?? time) + (step < 0 || step > LONGEST_MS ? step : 0);
    this.newest = time;
  }

  /** Whether a reading is left out because it comes after newer ones. @param before the time of the newest row that is kept */
  isLate(time: number, before: number | undefined): boolean {
    this.late = before !== undefined && time < before ? (this.late + 1) % CLOCK_ROWS : 0;
    return this.late > 0;
  }

  /** The time of the newest row. */
  get latest(): number | undefined {
    return this.newest;
  }

  /** Milliseconds of readings so far. */
  get knows(): number {
    return (this.newest ?? 0) - (this.started ?? 0);
  }

  keep(): KeptClock {
    return { started: this.started, latest: this.newest };
  }
}
