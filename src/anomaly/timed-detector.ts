import { ArrivalClock } from '../util/arrival-clock';
import { Detector } from './method/detector';

/** One machine: what is known of it, and the times of its readings. */
export class TimedDetector extends Detector {
  private readonly arrivals = new ArrivalClock();
  private isTimed = false;

  /** Whether its readings tell their time. */
  get hasOwnClock(): boolean {
    return this.isTimed;
  }

  /**
   * The time of a reading: as it tells it, else that of its arrival; where others told theirs, right after the one before.
   * @param told undefined where it tells none
   */
  settleTime(told: number | undefined, arrival: number): number {
    const { newestTime } = this;
    this.isTimed ||= told !== undefined;
    if (told !== undefined) {
      return told;
    }
    return this.isTimed && newestTime !== undefined
      ? newestTime + 1
      : this.arrivals.next(arrival, newestTime ?? -Infinity, NaN);
  }
}
