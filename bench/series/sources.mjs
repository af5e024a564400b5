/* Readings of real machines, where they are at hand (dataFolder), and of generators. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { dataFolder } from '../learner/tables.mjs';
import { DAY } from './rows.mjs';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const START = Date.UTC(2024, 0, 1);

function readCsv(file) {
  const folder = dataFolder();
  if (!folder || !existsSync(path.join(folder, file))) {
    return undefined;
  }
  const [header, ...lines] = readFileSync(path.join(folder, file), 'utf8').trim().split(/\r?\n/u);
  return { names: header.split(','), rows: lines.map((line) => line.split(',')) };
}

/** Readings of a CSV file that export.R wrote: the column time, and numbers or NA. */
export function readSeries(file) {
  const [header, ...lines] = readFileSync(file, 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.split(','));
  const cell = (name, text) => (name === 'time' ? Date.parse(text) : text === 'NA' ? null : Number(text));
  return lines.map((cells) => Object.fromEntries(header.map((name, i) => [name, cell(name, cells[i])])));
}

/** Readings of a file with a timestamp and a value; `share` of them are fitted. */
function column(file, ahead, share, every) {
  const table = readCsv(file);
  if (table === undefined) {
    return undefined;
  }
  const readings = table.rows.map(([time, value]) => ({
    time: Date.parse(`${time.replace(' ', 'T')}Z`),
    value: Number(value),
  }));
  const border = readings[Math.floor(readings.length * share)].time;
  const options = { column: 'value', ahead: `${ahead}ms`, keep: 1e6, every };
  return { options, ahead, readings, border };
}

/** A cycle is a minute; engines 71 to 100 are scored, a year after the others. */
function turbofan() {
  const table = readCsv('turbofan.csv');
  if (table === undefined) {
    return undefined;
  }
  const { names, rows } = table;
  const last = new Map(rows.map(([engine, cycle]) => [engine, Number(cycle)]));
  const readings = rows.map((cells) => {
    const [engine, cycle] = [cells[0], Number(cells[1])];
    const reading = { time: START + (Number(engine) > 70 ? 365 * DAY : 0) + cycle * MINUTE, key: engine };
    names.slice(2).forEach((name, i) => (reading[name] = Number(cells[i + 2])));
    return last.get(engine) === cycle ? { ...reading, failed: true } : reading;
  });
  const options = {
    key: 'key',
    outcome: 'event',
    column: 'failed',
    value: 'true',
    ahead: '30m',
    keep: 1e6,
    calendar: 'off',
  };
  return { options, ahead: 30 * MINUTE, readings, border: START + 300 * DAY };
}

export function normals(seed) {
  let state = seed + 1;
  const uniform = () => (state = (state * 48_271) % 2_147_483_647) / 2_147_483_647;
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

/** A motor that warms up with its load, reports when something changed, and is off at night. */
function motor() {
  const normal = normals(11);
  const readings = [];
  let [temperature, load] = [40, 0.5];
  for (let minute = 0; minute < 40 * 24 * 60; minute++) {
    const hour = (minute / 60) % 24;
    load = hour < 6 ? 0 : Math.min(1, Math.max(0.1, load + 0.03 * normal()));
    temperature += 0.05 * (20 + 60 * load - temperature) + 0.1 * normal();
    if (hour >= 6 && minute % 3 === 0) {
      readings.push({ time: START + minute * MINUTE, temperature, load, mode: load > 0.6 ? 'high' : 'low' });
    }
  }
  const options = { column: 'temperature', ahead: '20m', keep: 1e6, every: '6m' };
  return { options, ahead: 20 * MINUTE, readings, border: START + 22 * DAY };
}

/** Hourly use of a house: the hour, the weekday, the season, weather that is not told, and habits. */
export function house(ahead, days = 300) {
  const normal = normals(7);
  let weather = 0;
  const readings = Array.from({ length: days * 24 }, (_, i) => {
    const [hour, day] = [i % 24, Math.floor(i / 24)];
    weather = 0.985 * weather + 0.17 * normal();
    const isWeekend = day % 7 > 4;
    const morning = Math.exp(-((hour - (isWeekend ? 10 : 7)) ** 2) / 4);
    const evening = Math.exp(-((hour - 19) ** 2) / 8);
    const season = 1 + 0.3 * Math.cos((2 * Math.PI * day) / 365);
    const use = season * (0.4 + 1.2 * morning + 1.8 * evening) + 0.25 * weather + 0.12 * normal();
    return { time: START + i * HOUR, use: Math.max(0.1, use) };
  });
  const options = { column: 'use', ahead: typeof ahead === 'string' ? ahead : `${ahead}ms`, keep: 1e6 };
  return { options, ahead, readings, border: START + Math.floor(days * 0.7) * DAY };
}

export function taxi(ahead) {
  return column('taxi_demand.csv', ahead, 0.6);
}

export const SOURCES = {
  'machine temperature, 1 h': () => column('machine_temperature.csv', HOUR, 0.6, '15m'),
  'machine temperature, 6 h': () => column('machine_temperature.csv', 6 * HOUR, 0.6, '15m'),
  'taxi, 1 h': () => taxi(HOUR),
  'taxi, 24 h': () => taxi(DAY),
  'turbofan, 30 cycles': turbofan,
  'motor, 20 min': motor,
  'house, 3 h': () => house(3 * HOUR),
  'house, 24 h': () => house(DAY),
};
