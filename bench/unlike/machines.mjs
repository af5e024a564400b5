/* Machines with labelled bad times: real ones where they are at hand (dataFolder), and a generator of many. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { dataFolder } from '../learner/tables.mjs';

export function seeded(seed) {
  let state = seed >>> 0;
  const uniform = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return (state + 0.5) / 2 ** 32;
  };
  // Three draws: the low bits of one would repeat.
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** Values that wander: each is `alike` times the one before, plus chance; of variance 1. */
export function wander(normal, rows, alike) {
  const values = new Float64Array(rows);
  let value = normal();
  for (let row = 0; row < rows; row++) {
    value = alike * value + Math.sqrt(1 - alike ** 2) * normal();
    values[row] = value;
  }
  return values;
}

const FAULTS = [
  'one sensor shifts',
  'two sensors diverge',
  'one sensor becomes noisy',
  'one sensor slowly drifts',
  'all shift a little',
];

/**
 * A test bench of eight sensors that follow two loads, which wander; the first 400 of 1,100 rows are calm. Then a fault
 * comes and goes. As hard as it is because the load goes on wandering where the train set has not seen it.
 */
export function simulatedBench(seed) {
  const normal = seeded(seed * 7919 + 13);
  const rows = 1100;
  const loads = [wander(normal, rows, 0.99), wander(normal, rows, 0.97)];
  const mix = Array.from({ length: 8 }, () => [normal(), normal()]);
  const noise = Array.from({ length: 8 }, () => wander(normal, rows, 0.6));
  const sensors = mix.map(([a, b], at) =>
    Float64Array.from(
      { length: rows },
      (_, row) => a * loads[0][row] + b * loads[1][row] + 0.5 * noise[at][row],
    ),
  );
  const fault = FAULTS[seed % FAULTS.length];
  const bad = Array.from({ length: rows }, (_, row) => row >= 650 && row < 950);
  const calm = sensors.map((values) => values.slice(0, 400));
  const spread = calm.map((values) => {
    const mean = values.reduce((sum, value) => sum + value / values.length, 0);
    return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2 / values.length, 0));
  });
  for (let row = 650; row < 950; row++) {
    const part = (row - 650) / 300;
    switch (fault) {
      case 'one sensor shifts':
        sensors[2][row] += 2.5 * spread[2];
        break;
      case 'two sensors diverge':
        [sensors[0][row], sensors[1][row]] = [
          sensors[0][row] + 1.5 * spread[0],
          sensors[1][row] - 1.5 * spread[1],
        ];
        break;
      case 'one sensor becomes noisy':
        sensors[4][row] += 2.5 * spread[4] * normal();
        break;
      case 'one sensor slowly drifts':
        sensors[6][row] += 5 * part * spread[6];
        break;
      default:
        sensors.forEach((values, at) => (values[row] += 0.8 * spread[at]));
    }
  }
  const table = Array.from({ length: rows }, (_, row) =>
    Object.fromEntries(sensors.map((values, at) => [`sensor ${at}`, values[row]])),
  );
  return { name: fault, train: table.slice(0, 400), test: table.slice(400), bad: bad.slice(400) };
}

function readRows(file) {
  const folder = dataFolder();
  if (!folder || !existsSync(path.join(folder, file))) {
    return undefined;
  }
  const [header, ...lines] = readFileSync(path.join(folder, file), 'utf8').trim().split(/\r?\n/u);
  const names = header.split(',');
  return lines.map((line) => {
    const cells = line.split(',');
    return Object.fromEntries(
      names.map((name, at) => [name, Number.isNaN(Number(cells[at])) ? cells[at] : Number(cells[at])]),
    );
  });
}

const without = (row, names) =>
  Object.fromEntries(Object.entries(row).filter(([name]) => !names.includes(name)));

/** Calm cycles of 60 engines; of the others the calm ones against the last 30 before they fail. */
export function turbofan() {
  const rows = readRows('turbofan.csv');
  if (rows === undefined) {
    return undefined;
  }
  const lives = new Map();
  for (const { engine, cycle } of rows) {
    lives.set(engine, Math.max(lives.get(engine) ?? 0, cycle));
  }
  const isCalm = ({ engine, cycle }) => cycle <= lives.get(engine) / 2;
  const isBad = ({ engine, cycle }) => cycle > lives.get(engine) - 30;
  const own = (list) => list.map((row) => without(row, ['engine', 'cycle']));
  const test = rows.filter((row) => row.engine > 60 && (isCalm(row) || isBad(row)));
  return {
    name: 'turbofan, last 30 cycles',
    train: own(rows.filter((row) => row.engine <= 60 && isCalm(row))),
    test: own(test),
    bad: test.map(isBad),
  };
}

/** Rows without a failure; of the others, those with one against those without. */
export function milling() {
  const rows = readRows('ai4i2020.csv');
  if (rows === undefined) {
    return undefined;
  }
  const leave = ['UDI', 'Product ID', 'Machine_failure', 'TWF', 'HDF', 'PWF', 'OSF', 'RNF'];
  const own = (list) => list.map((row) => without(row, leave));
  const test = rows.slice(5000);
  return {
    name: 'ai4i2020, machine failure',
    train: own(rows.slice(0, 5000).filter((row) => row.Machine_failure === 0)),
    test: own(test),
    bad: test.map((row) => row.Machine_failure === 1),
  };
}

const BAD_TIMES = [
  ['2013-12-10 06:25', '2013-12-12 05:35'],
  ['2013-12-15 17:50', '2013-12-17 17:00'],
  ['2014-01-27 14:20', '2014-01-29 13:30'],
  ['2014-02-07 14:55', '2014-02-09 14:05'],
];

/** A week of a machine's temperature with its change and spread; later the known bad times against the rest. */
export function temperature() {
  const rows = readRows('machine_temperature.csv');
  if (rows === undefined) {
    return undefined;
  }
  const hour = 12;
  const made = rows.slice(hour).map(({ timestamp, value }, at) => {
    const before = rows.slice(at, at + hour).map((row) => row.value);
    const mean = before.reduce((sum, one) => sum + one / hour, 0);
    const spread = Math.sqrt(before.reduce((sum, one) => sum + (one - mean) ** 2 / hour, 0));
    return { timestamp, row: { value, change: value - before[0], spread } };
  });
  const test = made.slice(2000);
  return {
    name: 'machine temperature, bad periods',
    train: made.slice(0, 2000).map(({ row }) => row),
    test: test.map(({ row }) => row),
    bad: test.map(({ timestamp }) => BAD_TIMES.some(([from, to]) => timestamp >= from && timestamp <= to)),
  };
}
