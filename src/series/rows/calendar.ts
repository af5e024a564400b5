import { TimeZone } from '../../table';

const HOUR_MS = 3_600_000;
const DAY_MS = 86_400_000;

export const CALENDAR_COLUMNS = ['hour', 'weekday', 'month'] as const;

/** Local calendar of a time zone, correct across daylight saving changes. */
export class Calendar {
  private readonly zone: TimeZone;

  /** @param zone IANA name */
  constructor(zone: string) {
    this.zone = TimeZone.of(zone);
  }

  /** Writes hour (0 to 24, with minutes as its fraction), weekday (Monday 1 to Sunday 7) and month (1 to 12). */
  write(instant: number, out: Float64Array, at: number): void {
    const local = this.zone.toLocal(instant);
    const day = Math.floor(local / DAY_MS);
    out[at] = (local - day * DAY_MS) / HOUR_MS;
    // 1970 began on a Thursday.
    out[at + 1] = ((((day + 3) % 7) + 7) % 7) + 1;
    out[at + 2] = new Date(local).getUTCMonth() + 1;
  }

  /** The same time of day some days before, by the clocks of the zone. */
  daysBefore(instant: number, days: number): number {
    return this.zone.toInstant(this.zone.toLocal(instant) - days * DAY_MS);
  }
}
