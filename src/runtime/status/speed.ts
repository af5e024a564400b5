/** Speed is taken over this time, milliseconds: long enough to be steady, short enough to follow a change. */
const WINDOW_MS = 5_000;
const STEP_MS = 250;
/** Before that nothing can be said, milliseconds. */
const LEAST_MS = 1_000;

/** The speed of work that tells from time to time how much of it is done. */
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

  /** Undefined where it is too early to say, or where nothing moves. */
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

const UNITS = ['B/s', 'kB/s', 'MB/s', 'GB/s'];

/** `12 MB/s`, with two digits where there would be one. `write` puts a number down with so many behind the point. */
export function speedText(bytesPerSecond: number, write: (value: number, digits: number) => string): string {
  let value = bytesPerSecond;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  return `${write(value, value < 9.95 && unit > 0 ? 1 : 0)} ${UNITS[unit]}`;
}

/** A time in the unit that a person would say it in: the catalogue's key below `status.time`, and how many. */
export function timeParts(seconds: number): { unit: 's' | 'min' | 'h'; value: number } {
  if (seconds < 90) {
    return { unit: 's', value: Math.round(seconds) };
  }
  if (seconds < 90 * 60) {
    return { unit: 'min', value: Math.round(seconds / 60) };
  }
  return { unit: 'h', value: Math.round(seconds / 3600) };
}
