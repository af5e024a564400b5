const MINUTE = 60_000;
export const HOUR = 3_600_000;
export const DAY = 86_400_000;
export const WEEK = 7 * DAY;

const UNITS: Record<string, number> = {
  ms: 1,
  s: 1000,
  sec: 1000,
  m: MINUTE,
  min: MINUTE,
  h: HOUR,
  d: DAY,
  w: WEEK,
};
/** Ten years: anything longer is a typo. */
const LONGEST = 3653 * DAY;

const PART = /(\d+(?:\.\d+)?)\s*([a-z]+)\s*/gy;

/** Milliseconds of `10m`, `1.5h` or `1h 30m`; undefined for any other text and for durations that are not above 0. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim().toLowerCase();
  let ms = 0;
  let end = 0;
  PART.lastIndex = 0;
  for (let part = PART.exec(trimmed); part !== null; part = PART.exec(trimmed)) {
    const unit = UNITS[part[2]!];
    if (unit === undefined) {
      return undefined;
    }
    ms += Number(part[1]) * unit;
    end = PART.lastIndex;
  }
  ms = Math.round(ms);
  return end === trimmed.length && ms > 0 && ms <= LONGEST ? ms : undefined;
}

const SHOWN = [
  ['d', DAY],
  ['h', HOUR],
  ['m', MINUTE],
  ['s', 1000],
] as const;

/** A duration in the largest unit that gives a whole number: `10m`, `90m`, `1h`, `1d`. */
export function showDuration(ms: number): string {
  const [unit, size] = SHOWN.find(([, each]) => ms % each === 0) ?? ['ms', 1];
  return `${ms / size}${unit}`;
}
