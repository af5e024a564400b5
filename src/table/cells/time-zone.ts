const DAY = 86_400_000;
/** Rules of a zone are asked for between these years: before, clocks followed the sun; after, nobody knows. */
const FIRST = Date.UTC(1900, 0, 1);
const LAST = Date.UTC(2200, 0, 1);
/** Days whose offset is remembered: more than a century. */
const MAX_DAYS = 50_000;

const zones = new Map<string, TimeZone>();

/** The rules of a time zone. */
export class TimeZone {
  /** The offset of a day, in milliseconds; undefined for a day on which it changes. */
  private readonly days = new Map<number, number | undefined>();
  private readonly format: Intl.DateTimeFormat;

  private constructor(name: string) {
    this.format = new Intl.DateTimeFormat('en-US', {
      timeZone: name,
      hourCycle: 'h23',
      year: 'numeric',
      month: 'numeric',
      day: 'numeric',
      hour: 'numeric',
      minute: 'numeric',
      second: 'numeric',
    });
  }

  /**
   * @param name an IANA name, such as Europe/Berlin
   * @throws RangeError for a name that is not known
   */
  static of(name: string): TimeZone {
    const known = zones.get(name);
    if (known !== undefined) {
      return known;
    }
    const zone = new TimeZone(name);
    zones.set(name, zone);
    return zone;
  }

  /** The local time of an instant, both in milliseconds since 1970: what a clock shows there, as if it were UTC. */
  toLocal(instant: number): number {
    return instant + this.offset(Math.min(Math.max(instant, FIRST), LAST));
  }

  /** The instant of a local time; of the two that an hour set back has, one of them. */
  toInstant(local: number): number {
    const near = local - (this.toLocal(local) - local);
    return local - (this.toLocal(near) - near);
  }

  private offset(instant: number): number {
    const day = Math.floor(instant / DAY);
    if (!this.days.has(day)) {
      if (this.days.size >= MAX_DAYS) {
        this.days.clear();
      }
      const start = this.offsetAt(day * DAY);
      this.days.set(day, start === this.offsetAt((day + 1) * DAY - 1000) ? start : undefined);
    }
    return this.days.get(day) ?? this.offsetAt(instant);
  }

  private offsetAt(instant: number): number {
    const parts: Partial<Record<Intl.DateTimeFormatPartTypes, number>> = {};
    for (const { type, value } of this.format.formatToParts(instant)) {
      parts[type] = Number(value);
    }
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const whole = Math.floor(instant / 1000) * 1000;
    return Date.UTC(year, month - 1, day, hour, minute, second) - whole;
  }
}

/** The canonical name of a zone, undefined where there is no such zone. */
export function knownZone(name: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en-US', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** The zone of this computer. */
export function localZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}
