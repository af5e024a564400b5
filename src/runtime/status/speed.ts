/** The window that speed is measured over, in milliseconds: long enough to be steady, short enough to follow changes. */
const WINDOW_MS = 5_000;
const STEP_MS = 250;
/** No speed is given before this time, in milliseconds. */
const LEAST_MS = 1_000;

/** The speed of work that reports its progress now and then. */
export class Pace {
  private readonly samples: { at: number; done: number }[] = [];
  private last = { at: 0, done: 0 };

  /** @param at milliseconds, of a clock that only goes forward */
  note(done: number, at: number): void {
    this.last = { at, done };
    const { samples } = this;
    if (samples.length === 0 || at - samples.at(-1)!.at >= STEP_MS) {
      samples.push(this.last);
      while (at - samples[0]!.at > WINDOW_MS) {
        samples.shift();
      }
    }
  }

  /** Undefined if it is too early to tell, or if nothing moves. */
  perSecond(): number | undefined {
    const first = this.samples[0];
    const ms = first === undefined ? 0 : this.last.at - first.at;
    if (first === undefined || ms < LEAST_MS) {
      return undefined;
    }
    const speed = (1000 * (this.last.done - first.done)) / ms;
    return speed > 0 ? speed : undefined;
  }

  secondsLeft(total: number): number | undefined {
    const speed = this.perSecond();
    return speed === undefined ? undefined : Math.ceil((total - this.last.done) / speed);
  }
}

/** A duration in the unit a person would use: the key below `status.time` in the catalogue, and the value. */
export function timeParts(seconds: number): { unit: 's' | 'min' | 'h'; value: number } {
  if (seconds < 90) {
    return { unit: 's', value: Math.round(seconds) };
  }
  if (seconds < 90 * 60) {
    return { unit: 'min', value: Math.round(seconds / 60) };
  }
  return { unit: 'h', value: Math.round(seconds / 3600) };
}
