/*
 * What columns known ahead are worth: the first part of a series is fitted without and with them, the later part scored.
 * npm run bench -- ahead [name part …]; at most BENCH_ROWS (6000) are fitted.
 */
import { openResults } from '../results.mjs';
import { DAY, fitAndPredict, seriesRows, thinned } from './rows.mjs';
import { normals, taxi } from './sources.mjs';

const HOUR = 3_600_000;
const START = Date.UTC(2024, 0, 1);
const most = Number(process.env.BENCH_ROWS ?? 6000);
const wanted = process.argv.slice(2);
const mean = (values) => values.reduce((sum, value) => sum + value, 0) / values.length;

/** mulberry32. */
function uniform(seed) {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/**
 * Hourly use of a house by hour, weekday, season and outside temperature. 6 % of the days, at random, are holidays with
 * the hours of a Sunday. What the forecast of the temperature is off by is that of its day, 1 degree in the mean square.
 */
function house(days = 300) {
  const normal = normals(7);
  const chance = uniform(23);
  const offs = normals(31);
  let front = 0;
  let [holiday, off] = [false, 0];
  const readings = Array.from({ length: days * 24 }, (_, i) => {
    const [hour, day] = [i % 24, Math.floor(i / 24)];
    if (hour === 0) {
      holiday = chance() < 0.06;
      off = offs();
    }
    front = 0.985 * front + 0.17 * normal();
    const isFree = holiday || day % 7 > 4;
    const morning = Math.exp(-((hour - (isFree ? 10 : 7)) ** 2) / 4);
    const evening = Math.exp(-((hour - (isFree ? 17 : 19)) ** 2) / 8);
    const season = 1 + 0.3 * Math.cos((2 * Math.PI * day) / 365);
    const use = season * (0.4 + 1.2 * morning + 1.8 * evening) + 0.25 * front + 0.12 * normal();
    const outside = 12 - 8 * front;
    return {
      time: START + i * HOUR,
      use: Math.max(0.1, use),
      holiday,
      outside: outside + 0.3 * normal(),
      off,
    };
  });
  return { readings, border: START + Math.floor(days * 0.7) * DAY, column: 'use' };
}

/** New York: the federal holidays of half a year, and the days about them on which the city is as empty. */
const NEW_YORK = ['07-04', '09-01', '10-13', '11-11', '11-27', '12-25', '01-01', '01-19'];
const NEAR = ['07-05', '11-28', '12-24', '12-26', '12-31', '01-02'];

function taxiWithHolidays() {
  const source = taxi('x');
  const readings = source?.readings.map((reading) => {
    const day = new Date(reading.time).toISOString().slice(5, 10);
    return { ...reading, day: NEW_YORK.includes(day) ? 'holiday' : NEAR.includes(day) ? 'near' : 'other' };
  });
  return source && { readings, border: source.border, column: 'value' };
}

const without = (names) => (reading) =>
  Object.fromEntries(Object.entries(reading).filter(([name]) => !names.includes(name)));

/** Columns of a series that are known ahead, and what its readings are then. */
const KNOWN = {
  'a house': [
    house,
    [
      ['none', '', without(['off'])],
      ['holiday', 'holiday', without(['off'])],
      ['holiday, actual outside', 'holiday, outside', without(['off'])],
      [
        'holiday, outside forecast after the split only',
        'holiday, told',
        ({ off, ...reading }, isLater) => ({ ...reading, told: reading.outside + (isLater ? off : 0) }),
      ],
      [
        'holiday, outside forecast throughout',
        'holiday, told',
        ({ off, ...reading }) => ({ ...reading, told: reading.outside + off }),
      ],
    ],
  ],
  'taxi demand, New York': [
    taxiWithHolidays,
    [
      ['none', '', without(['day'])],
      ['holidays', 'day', (reading) => reading],
    ],
  ],
};

function isOff(reading) {
  return reading?.holiday === true || (reading?.day !== undefined && reading.day !== 'other');
}

const results = openResults(import.meta.url);
const measured = results.table('known-ahead', [
  ...['series', 'ahead', 'known ahead', 'MAE at fit', 'later MAE'],
  ...['on holidays', 'on other days', '80 % later'],
]);
for (const [name, [make, recipes]] of Object.entries(KNOWN)) {
  const source = wanted.length === 0 || wanted.some((part) => name.includes(part)) ? make() : undefined;
  if (source === undefined) {
    continue;
  }
  const { readings, border, column } = source;
  const byTime = new Map(readings.map((reading) => [reading.time, reading]));
  for (const ahead of ['24h', '1h..24h']) {
    for (const [recipe, knownAhead, readingOf] of recipes) {
      const told = readings.map((reading) => readingOf(reading, reading.time >= border));
      const options = { column, ahead, knownAhead, keep: 20_000 };
      const rows = await seriesRows({ options, readings: told, border });
      const { trainSet, train } = rows;
      const later = thinned(rows.later, 6000);
      const columns = Object.keys(train[0]).filter((each) => each !== trainSet.target);
      const { model, result, base, truths } = fitAndPredict({ ...rows, later, columns, most });
      const means = result.mean();
      const [low, high] = result.quantiles([0.1, 0.9]);
      const losses = truths.map((truth, i) => Math.abs(truth - means[i] - base[i]));
      const off = later.map(({ series }) => isOff(byTime.get(series.time + series.ahead)));
      const held = truths.map((truth, i) =>
        truth >= low[i] + base[i] && truth <= high[i] + base[i] ? 1 : 0,
      );
      const cells = [
        model.report.scores.mae,
        mean(losses),
        mean(losses.filter((_, i) => off[i])),
        mean(losses.filter((_, i) => !off[i])),
      ].map((loss) => (loss < 10 ? loss.toFixed(3) : loss.toFixed(0)));
      measured.row(name, ahead, recipe, ...cells, mean(held).toFixed(2));
    }
  }
}
await results.save();
