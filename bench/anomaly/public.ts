/*
 * npm run bench -- public <folder> [set…] [--learn-on]: the anomaly node's method on labelled series that are fetched by
 * hand (docs/benchmarks/anomaly.md says how), beside the detectors of `peers.ts`.
 *
 * The folder has a folder for each set, and in it for each series `NAME.train.csv` and `NAME.test.csv`, as
 * `public_series.py` writes them: a header, a column for each sensor, and at the end of the test rows the column `anomaly`
 * of 0 and 1; the column `time` where there are times.
 *
 * Each is taught by the train rows. Area under the ROC curve and average precision of all test rows, the mean over the
 * series, with no adjustment of points. Then all test rows of the set at the level that one row in 2,016 exceeds by the
 * train rows, the score a mean over three rows: F1, normal rows alarmed, faulty rows missed, as SKAB's leaderboard counts.
 *
 * With --learn-on also what `anomalies()` says, which takes the test rows one by one and learns on: the share of the
 * labelled periods with an alarm, those with an unusual row, and alarms in 10,000 rows outside of them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { anomalies } from '../../dist/src';
import { Detector, learn, TaughtRows } from '../../test/doors/anomaly';
import { seededRandom } from '../../test/doors/util';
import { isolationForest, nearest, type Peer, principalComponents } from './peers';
import { SETTINGS } from './scored';

const BEGINS = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;
const SEED = 7;
const LEVEL_ROWS = 2016;
const SMOOTHED_ROWS = 3;

interface Table {
  names: string[];
  rows: Float64Array[];
  times: (string | number)[];
  labels: number[];
}

function readTable(file: string, begins: number): Table {
  const [head, ...lines] = readFileSync(file, 'utf8').trim().split(/\r?\n/);
  const columns = head!.split(',');
  const cells = lines.map((line) => line.split(','));
  const names = columns.filter((name) => name !== 'time' && name !== 'anomaly');
  const places = names.map((name) => columns.indexOf(name));
  const [time, label] = [columns.indexOf('time'), columns.indexOf('anomaly')];
  return {
    names,
    rows: cells.map((row) => Float64Array.from(places, (place) => Number(row[place]))),
    times: cells.map((row, i) => (time < 0 ? begins + i * MINUTE_MS : row[time]!)),
    labels: cells.map((row) => (label < 0 ? 0 : Number(row[label]))),
  };
}

interface Told {
  scores: number[];
  unusual: boolean[];
  alarms: boolean[];
}

async function ours(train: Table, test: Table): Promise<Told> {
  const machine = await anomalies();
  const reading = ({ names, rows, times }: Table, i: number): Record<string, unknown> => ({
    ...Object.fromEntries(names.map((name, j) => [name, rows[i]![j]])),
    time: times[i],
  });
  const past = train.rows.map((_, i) => ({ reading: reading(train, i) }));
  await machine.teach(rowsOf(past));
  await machine.settled();
  const told: Told = { scores: [], unusual: [], alarms: [] };
  for (const i of test.rows.keys()) {
    const { state, onceIn, changes } = await machine.take(reading(test, i));
    // Of a value that was never met nothing is known: it counts as the row before.
    told.scores.push(onceIn ?? told.scores.at(-1) ?? 0);
    told.unusual.push(state === 'unusual');
    told.alarms.push(changes.some(({ kind }) => kind === 'alarm'));
    await machine.settled();
  }
  await machine.close();
  return told;
}

/** By the fit of the train rows alone, as its peers are: how rare each test row is, in −log10 of rows. */
function once(train: Table, test: Table): number[] {
  const detector = new Detector(SETTINGS);
  const cells = ({ names, rows }: Table, i: number): Map<string, number> =>
    new Map(names.map((name, j) => [name, rows[i]![j]!]));
  const time = (value: string | number): number => new Date(value).getTime();
  // As a table is taught: of readings that come often, fewer of a longer time are kept.
  const taught = new TaughtRows();
  train.rows.forEach((_, i) => taught.add(time(train.times[i]!), cells(train, i)));
  detector.slowDown(taught.pace);
  taught.inOrder().forEach((row) => detector.teach(row.time, row.cells()));
  const learned = learn(detector.task()!);
  detector.learned(learned);
  const scores: number[] = [];
  test.rows.forEach((_, i) => {
    const { onceIn } = detector.take(time(test.times[i]!), cells(test, i));
    scores.push(onceIn === undefined ? (scores.at(-1) ?? 0) : Math.log10(onceIn / learned.layout.step));
  });
  return scores;
}

async function* rowsOf<Row>(rows: readonly Row[]): AsyncGenerator<Row> {
  yield* await Promise.resolve(rows);
}

/** By the ranks of the scores: ties count half. */
function areaUnderCurve(scores: readonly number[], labels: readonly number[]): number {
  const order = [...scores.keys()].sort((a, b) => scores[a]! - scores[b]!);
  let [ranks, positives] = [0, 0];
  for (let from = 0; from < order.length;) {
    let to = from;
    while (to < order.length && scores[order[to]!] === scores[order[from]!]) {
      to++;
    }
    for (const row of order.slice(from, to)) {
      ranks += labels[row]! * ((from + to + 1) / 2);
      positives += labels[row]!;
    }
    from = to;
  }
  return (ranks - (positives * (positives + 1)) / 2) / positives / (labels.length - positives);
}

function averagePrecision(scores: readonly number[], labels: readonly number[]): number {
  const order = [...scores.keys()].sort((a, b) => scores[b]! - scores[a]!);
  let [found, sum] = [0, 0];
  order.forEach((row, i) => {
    found += labels[row]!;
    sum += labels[row]! * (found / (i + 1));
  });
  return sum / found;
}

function periodsOf(labels: readonly number[]): [from: number, to: number][] {
  const periods: [number, number][] = [];
  labels.forEach((label, row) => {
    if (label === 1 && labels[row - 1] !== 1) {
      periods.push([row, row]);
    }
    if (label === 1) {
      periods.at(-1)![1] = row + 1;
    }
  });
  return periods;
}

const mean = (values: readonly number[]): string =>
  (values.reduce((sum, value) => sum + value, 0) / values.length).toFixed(2);

const byRow = (peer: Peer, { rows }: Table): number[] => rows.map((row) => peer(row).score);

interface Counts {
  found: number;
  missed: number;
  alarmed: number;
  normal: number;
}

/** Adds how many rows are beyond the level that one in 2,016 of the train rows exceeds. */
function count(counts: Counts, scores: readonly number[], labels: readonly number[]): void {
  labels.forEach((label, i) => {
    const near = scores.slice(Math.max(0, i - SMOOTHED_ROWS + 1), i + 1);
    const isBeyond = near.reduce((sum, score) => sum + score, 0) / near.length > Math.log10(LEVEL_ROWS);
    counts.found += Number(label === 1 && isBeyond);
    counts.missed += Number(label === 1 && !isBeyond);
    counts.alarmed += Number(label === 0 && isBeyond);
    counts.normal += Number(label === 0);
  });
}

function countsTold({ found, missed, alarmed, normal }: Counts): string {
  const f1 = (2 * found) / (2 * found + missed + alarmed);
  return `${f1.toFixed(2)}, ${percent(alarmed / normal)}, ${percent(missed / (found + missed))}`;
}

const percent = (share: number): string => `${(100 * share).toFixed(0)} %`;

async function measure(folder: string, wanted: readonly string[], learnsOn: boolean): Promise<void> {
  console.log(
    '| set | series | anomaly node, fitted once | isolation forest | nearest rows | T² and Q | F1, false alarm rate, missed |',
  );
  console.log('|---|---|---|---|---|---|---|');
  const on: string[] = [];
  for (const set of readdirSync(folder).sort()) {
    if (wanted.length > 0 && !wanted.includes(set)) {
      continue;
    }
    const names = readdirSync(path.join(folder, set)).filter((name) => name.endsWith('.train.csv'));
    const figures = new Map<string, { area: number[]; precision: number[] }>();
    const add = (method: string, scores: readonly number[], labels: readonly number[]): void => {
      const figure = figures.get(method) ?? { area: [], precision: [] };
      figure.area.push(areaUnderCurve(scores, labels));
      figure.precision.push(averagePrecision(scores, labels));
      figures.set(method, figure);
    };
    const counts: Counts = { found: 0, missed: 0, alarmed: 0, normal: 0 };
    const told: ToldOf = { periods: 0, alarmed: 0, unusual: 0, others: 0, normal: 0 };
    for (const name of names.sort()) {
      const file = path.join(folder, set, name);
      const train = readTable(file, BEGINS);
      const test = readTable(file.replace('.train.', '.test.'), BEGINS + train.rows.length * MINUTE_MS);
      const scores = once(train, test);
      count(counts, scores, test.labels);
      add('once', scores, test.labels);
      add('forest', byRow(isolationForest(train.rows, seededRandom(SEED)), test), test.labels);
      add('nearest', byRow(nearest(train.rows), test), test.labels);
      add('components', byRow(principalComponents(train.rows), test), test.labels);
      if (learnsOn) {
        const { scores: later, ...states } = await ours(train, test);
        add('on', later, test.labels);
        addTold(told, states, test.labels);
      }
      if (process.env.VERBOSE !== undefined) {
        console.error(
          name,
          [...figures]
            .map(
              ([method, { area, precision }]) =>
                `${method} ${area.at(-1)!.toFixed(2)} / ${precision.at(-1)!.toFixed(2)}`,
            )
            .join(', '),
        );
      }
    }
    const cell = (method: string): string => {
      const { area, precision } = figures.get(method)!;
      return `${mean(area)} / ${mean(precision)}`;
    };
    const cells = ['once', 'forest', 'nearest', 'components'].map(cell);
    console.log(`| ${set} | ${names.length} | ${cells.join(' | ')} | ${countsTold(counts)} |`);
    if (learnsOn) {
      const { periods, alarmed, unusual, others, normal } = told;
      on.push(
        `| ${set} | ${cell('on')} | ${alarmed} of ${periods} | ${unusual} of ${periods} | ${((1e4 * others) / normal).toFixed(1)} |`,
      );
    }
  }
  if (learnsOn) {
    console.log(
      '\n| set | as it learns on | periods with an alarm | with an unusual row | other alarms in 10,000 rows |',
    );
    console.log('|---|---|---|---|---|');
    console.log(on.join('\n'));
  }
}

interface ToldOf {
  periods: number;
  alarmed: number;
  unusual: number;
  others: number;
  normal: number;
}

function addTold(told: ToldOf, { unusual, alarms }: Omit<Told, 'scores'>, labels: readonly number[]): void {
  for (const [from, to] of periodsOf(labels)) {
    told.periods++;
    told.alarmed += Number(alarms.slice(from, to).includes(true));
    told.unusual += Number(unusual.slice(from, to).includes(true));
  }
  labels.forEach((label, row) => {
    told.normal += 1 - label;
    told.others += Number(label === 0 && alarms[row]);
  });
}

const [folder, ...more] = process.argv.slice(2);
if (folder === undefined) {
  throw new Error('Usage: npm run bench -- public <folder> [set…] [--learn-on]');
}
void measure(
  folder,
  more.filter((one) => !one.startsWith('--')),
  more.includes('--learn-on'),
);
