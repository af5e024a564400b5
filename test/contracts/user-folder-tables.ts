/* Small tables to learn from, the same in each run. */

type Row = Record<string, unknown>;

/** Numbers from 0 to 1, always the same for a seed. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

function table(count: number, seed: number, make: (i: number, next: () => number) => Row): Row[] {
  const next = numbers(seed);
  return Array.from({ length: count }, (_, i) => make(i, next));
}

const rounded = (value: number, digits = 2): number => Number(value.toFixed(digits));
const pick = <T>(next: () => number, from: readonly T[]): T => from[Math.floor(next() * from.length)]!;
const START = Date.UTC(2024, 0, 8);
const HOUR = 3_600_000;
const MINUTE = 60_000;
const at = (ms: number): string => new Date(START + ms).toISOString();

const NOTES = ['bearing runs hot', 'normal noise', 'oil changed today', 'loud noise at start', 'nothing new'];

/** Two classes of numbers, categories, free text, dates, gaps. */
export const faults = (count: number, seed = 1): Row[] =>
  table(count, seed, (i, next) => {
    const temperature = rounded(50 + 30 * next());
    const note = pick(next, NOTES);
    const isHot = temperature + (note.includes('hot') ? 12 : 0) + 4 * next() > 72;
    return {
      temperature: next() < 0.1 ? null : temperature,
      load: rounded(next(), 3),
      site: pick(next, ['north', 'south', 'yard 3']),
      note,
      checked: at(i * 7 * HOUR),
      fault: isHot ? 'yes' : 'no',
    };
  });

/** Three classes of numbers and a boolean. */
export const kinds = table(90, 2, (i, next) => {
  const kind = i % 3;
  return {
    length: rounded(4 + kind + next()),
    width: rounded(2 + 0.5 * kind * next()),
    wild: next() > 0.5,
    kind: ['setosa', 'versicolor', 'virginica'][kind],
  };
});

/** A number with jumps, and with noise. */
export const prices = table(150, 3, (_i, next) => {
  const rooms = 1 + Math.floor(next() * 6);
  const area = rounded(20 * rooms + 30 * next());
  const place = pick(next, ['centre', 'suburb', 'village']);
  return {
    rooms,
    area,
    place,
    price: rounded(area * (place === 'centre' ? 9 : 4) + (rooms > 3 ? 120 : 0) + 40 * next()),
  };
});

/** A smooth number with hardly any noise. */
export const smooth = table(60, 4, (_i, next) => {
  const x = rounded(6 * next(), 4);
  const z = rounded(next(), 4);
  return { x, z, y: rounded(Math.sin(x) + z * z, 6) };
});

/** A line, to be continued. */
export const line = table(40, 5, (i, next) => ({ hours: i, wear: rounded(3 + 0.5 * i + 0.2 * next(), 3) }));

/** Nothing but text. */
export const reviews = table(80, 6, (_i, next) => {
  const good = next() > 0.5;
  const words = good ? ['great', 'quiet', 'lasting', 'works'] : ['broken', 'loud', 'returned', 'late'];
  return {
    text: `${pick(next, words)} machine, ${pick(next, words)} and ${pick(next, ['blue', 'red', 'heavy'])}`,
    good,
  };
});

/** By the clock, an hour after the other. */
export const byHour = table(200, 7, (i, next) => {
  const hour = (i + 6) % 24;
  return {
    time: at(i * HOUR),
    outside: rounded(8 + 6 * Math.sin((2 * Math.PI * hour) / 24) + next()),
    power: rounded(2 + (hour > 6 && hour < 20 ? 3 : 0) + next()),
  };
});

/** Rows of machines. */
export const machines = table(100, 8, (i, next) => ({
  machine: `m${i % 8}`,
  vibration: rounded(next() + (i % 8) / 10, 3),
  speed: 1000 + Math.floor(500 * next()),
  wear: rounded(next() * 3 + (i % 8), 2),
}));

/** Labels beyond the whole numbers that JavaScript holds. */
export const bigLabels = table(60, 9, (i, next) => ({
  weight: rounded((i % 2) * 5 + next()),
  article: { $bigint: String(9_007_199_254_740_993n + BigInt(i % 2)) },
}));

/** Written as people write. */
export const written = [
  'day;price;stock;kept',
  ...table(60, 10, (i, next) => ({
    day: `${String(1 + (i % 28)).padStart(2, '0')}.0${1 + (i % 4)}.2024`,
    price: i % 11 === 3 ? '-' : `1.${String(Math.floor(100 + 800 * next()))},50 €`,
    stock: i % 13 === 5 ? 'unknown' : i === 20 ? 'ERR' : String(i % 9),
    kept: i % 9 > 4 ? 'long' : 'short',
  })).map((row) => Object.values(row).join(';')),
].join('\n');

/** In the order of time, with more of it in the second table. */
export const growing = (count: number): Row[] =>
  table(count, 11, (i, next) => {
    const x = rounded(next(), 3);
    return { time: at(i * 10 * MINUTE), x, label: x + 0.1 * next() > 0.55 ? 'high' : 'low' };
  });

/** Readings of two pumps every five minutes from reading `from` on. */
export const pumpReadings = (from: number, to: number): Row[] =>
  table(2 * to, 12, (i, next) => {
    const step = Math.floor(i / 2);
    const phase = (2 * Math.PI * step) / 36 + (i % 2);
    return {
      pump: `p${1 + (i % 2)}`,
      time: START + step * 5 * MINUTE,
      temperature: rounded(60 + 8 * Math.sin(phase) + next()),
      load: rounded(0.5 + 0.3 * Math.cos(phase) + 0.05 * next(), 3),
      shift: step % 96 < 48 ? 'day' : 'night',
      valve: Math.sin(phase) > 0.8 ? 'open' : 'closed',
      alarm: Math.sin(phase) > 0.9 && next() > 0.3,
    };
  }).slice(2 * from);
