/**
 * Of the time that passes after the clock was set back, so much is counted until the clock is later again: an hour is made up
 * for in ten, and windows of time hardly hold more readings than before.
 */
const SLOWED = 0.9;

/** The times of readings that tell none: those of their arrival, by a clock that may be set back. */
export class ArrivalClock {
  /** The last time that was given to a reading. */
  given = -Infinity;
  private arrived = -Infinity;
  private isSetBack = false;

  /**
   * The time of a reading: that of its arrival, or at least a millisecond after the one before. After the clock was set back
   * (a wrong start that is corrected, a summer time by hand) readings go on from there, as far apart as they arrive.
   *
   * @param newest time of the newest reading that there is; -Infinity where there is none
   * @param step usual milliseconds between two readings; NaN while unknown
   */
  next(arrival: number, newest: number, step: number): number {
    const before = Math.max(this.given, newest);
    const isBack = arrival < (this.arrived === -Infinity ? before : this.arrived);
    const passed = isBack ? step || 0 : (arrival - this.arrived) * SLOWED;
    const slowed = before + Math.max(1, Math.round(passed));
    this.arrived = arrival;
    this.isSetBack = isBack || (this.isSetBack && arrival < slowed);
    this.given = Math.max(arrival, this.isSetBack ? slowed : before + 1);
    return this.given;
  }
}
