const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

/** Readings a minute apart; from `shiftAt` on the machine runs hotter. */
export function heatReadings(rows: number, shiftAt = Infinity): object[] {
  let state = 7;
  const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
  return Array.from({ length: rows }, (_, row) => {
    const load = 10 * random();
    const time = new Date(START + row * MINUTE).toISOString();
    return { time, load, heat: load + 2 * random() + (row >= shiftAt ? 5 : 0) };
  });
}
