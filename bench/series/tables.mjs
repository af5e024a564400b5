/* Series as tables: readings of real machines where they are at hand (dataFolder), and of generators. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { dataFolder } from '../learner/tables.mjs';

const numbers = (name, values) => ({ name, kind: 'number', values: Float64Array.from(values) });

function readCsv(file) {
  const folder = dataFolder();
  if (!folder || !existsSync(path.join(folder, file))) {
    return undefined;
  }
  const [header, ...lines] = readFileSync(path.join(folder, file), 'utf8').trim().split(/\r?\n/u);
  const names = header.split(',');
  return { names, rows: lines.map((line) => line.split(',')) };
}

/** Change, mean and spread of the last `length` values, all less the value now. */
function windowColumns(values, length, at) {
  const columns = { change: [], mean: [], spread: [] };
  for (const row of at) {
    const own = values.slice(Math.max(0, row - length), row + 1);
    const mean = own.reduce((sum, value) => sum + value, 0) / own.length;
    columns.change.push(values[row] - own[0]);
    columns.mean.push(mean - values[row]);
    columns.spread.push(Math.sqrt(own.reduce((sum, value) => sum + (value - mean) ** 2, 0) / own.length));
  }
  return Object.entries(columns).map(([name, column]) => numbers(`${name} ${length}`, column));
}

/**
 * A row for each value with its windows, the time of day and of the week, and the change until `ahead` steps later.
 *
 * @param lags steps back from the moment predicted whose values are columns, less the value now
 */
function changeTable(values, { ahead, windows, day, lags = [], every = 1, first, later }) {
  const start = Math.max(...windows, ...lags);
  const at = [];
  for (let row = start; row + ahead < values.length && at.length < first + later; row += every) {
    at.push(row);
  }
  const order = at.map((_, i) => i);
  const embargo = Math.ceil((ahead + Math.max(...windows)) / every);
  return {
    task: 'regression',
    features: [
      numbers(
        'now',
        at.map((row) => values[row]),
      ),
      ...windows.flatMap((length) => windowColumns(values, length, at)),
      numbers(
        'hour',
        at.map((row) => (row + ahead) % day),
      ),
      numbers(
        'weekday',
        at.map((row) => Math.floor((row + ahead) / day) % 7),
      ),
      ...lags.map((lag) =>
        numbers(
          `lag ${lag}`,
          at.map((row) => values[row + ahead - lag] - values[row]),
        ),
      ),
    ],
    values: Float64Array.from(at, (row) => values[row + ahead] - values[row]),
    train: order.slice(0, first),
    later: order.slice(first + embargo),
    ways: { blocks: { BLOCKS: 25 }, 'blocks, embargo': { BLOCKS: 25, EMBARGO: embargo } },
  };
}

function machineTemperature() {
  const table = readCsv('machine_temperature.csv');
  if (!table) {
    return undefined;
  }
  const values = table.rows.map(([, value]) => Number(value));
  return changeTable(values, { ahead: 12, windows: [12, 72], day: 288, every: 3, first: 4000, later: 3400 });
}

function taxiDemand() {
  const table = readCsv('taxi_demand.csv');
  if (!table) {
    return undefined;
  }
  const values = table.rows.map(([, value]) => Number(value));
  const shape = { ahead: 48, windows: [48], day: 48, lags: [48, 336], first: 5000, later: 4000 };
  return changeTable(values, shape);
}

/** Fails within 30 cycles: engines 1 to 70 are learned from, the others scored. */
function turbofan() {
  const table = readCsv('turbofan.csv');
  if (!table) {
    return undefined;
  }
  const { names, rows } = table;
  const [engine, cycle] = ['engine', 'cycle'].map((name) => names.indexOf(name));
  const last = new Map();
  for (const row of rows) {
    last.set(row[engine], Math.max(last.get(row[engine]) ?? 0, Number(row[cycle])));
  }
  const sensors = names.filter((name, i) => i > cycle && !/within|remaining|rul|label/iu.test(name));
  const order = rows.map((_, i) => i);
  return {
    task: 'classification',
    classes: ['no', 'yes'],
    features: [
      numbers(
        'engine',
        rows.map((row) => Number(row[engine])),
      ),
      ...sensors.map((name) =>
        numbers(
          name,
          rows.map((row) => Number(row[names.indexOf(name)])),
        ),
      ),
    ],
    codes: Int32Array.from(rows, (row) => (last.get(row[engine]) - Number(row[cycle]) <= 30 ? 1 : 0)),
    train: order.filter((i) => Number(rows[i][engine]) <= 70),
    later: order.filter((i) => Number(rows[i][engine]) > 70),
    ways: {
      'by engine': { GROUP: 'engine' },
      'by engine, not a feature': { GROUP: 'engine', GROUP_AS_FEATURE: false },
    },
  };
}

function normals(seed) {
  let state = (seed * 2654435761 + 88172645) >>> 0;
  const uniform = () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 4294967296;
  };
  return () => Math.sqrt(-2 * Math.log(1 - uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** A level that is drawn back to a daily curve, read each quarter of an hour. */
function daily() {
  const normal = normals(5);
  let rest = 0;
  const values = Array.from({ length: 7000 }, (_, step) => {
    rest = 0.97 * rest + normal();
    return 20 + 5 * Math.sin((2 * Math.PI * step) / 96) + rest;
  });
  return changeTable(values, { ahead: 24, windows: [24, 96], day: 96, first: 3500, later: 3000 });
}

/** Machines with a level of their own each: 30 are learned from, 30 others scored. */
function machines() {
  const normal = normals(6);
  const rows = Array.from({ length: 60 }, (_, machine) => {
    const [offset, wear] = [normal(), 0.02 * Math.abs(normal())];
    return Array.from({ length: 80 }, (_, hour) => {
      const load = normal();
      const value = offset * 2 + wear * hour + load + 0.3 * normal();
      return { machine, load, vibration: offset + 0.2 * normal(), hour, value };
    });
  }).flat();
  const order = rows.map((_, i) => i);
  return {
    task: 'regression',
    features: ['machine', 'load', 'vibration', 'hour'].map((name) =>
      numbers(
        name,
        rows.map((row) => row[name]),
      ),
    ),
    values: Float64Array.from(rows, ({ value }) => value),
    train: order.filter((i) => rows[i].machine < 30),
    later: order.filter((i) => rows[i].machine >= 30),
    ways: { 'by machine, not a feature': { GROUP: 'machine', GROUP_AS_FEATURE: false } },
  };
}

export const SERIES = {
  'machine temperature, 1 h ahead': machineTemperature,
  'taxi demand, 24 h ahead': taxiDemand,
  'turbofan, fails within 30 cycles': turbofan,
  'generator: daily curve, 6 h ahead': daily,
  'generator: 60 machines': machines,
};
