/*
 * npm run bench -- public <folder>: the anomaly node's program on labelled series that are fetched by hand
 * (docs/benchmarks/anomaly.md says how), beside the detectors of `peers.ts`.
 *
 * The folder has a folder for each set, and in it for each series `NAME.train.csv` and `NAME.test.csv`: a header, a column
 * for each sensor, and at the end of the test rows the column `anomaly` of 0 and 1; the column `time` where there are times.
 *
 * Each is taught by the train rows; `anomalies()` then also takes the test rows one by one and learns on. Area under the ROC curve
 * and average precision of all test rows, the mean over the series, with no adjustment of points; and for the node the
 * share of the labelled periods with an alarm, those with an unusual row, and alarms in 10,000 rows outside of them.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { anomalies } from '../../dist/src';
import { Detector, learn } from '../../test/doors/anomaly';
import { seededRandom } from '../../test/doors/util';
import { isolationForest, nearest, type Peer, principalComponents } from './peers';
import { SETTINGS } from './scored';

const MINUTE_MS = 60_000;
const SEED = 7;

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

/** The same by the fit of the train rows alone, as its peers are. */
function once(train: Table, test: Table): number[] {
  const detector = new Detector(SETTINGS);
  const cells = ({ names, rows }: Table, i: number): Map<string, number> =>
    new Map(names.map((name, j) => [name, rows[i]![j]!]));
  const time = (value: string | number): number => new Date(value).getTime();
  train.rows.forEach((_, i) => detector.teach(time(train.times[i]!), cells(train, i)));
  detector.learned(learn(detector.task()!));
  const scores: number[] = [];
  test.rows.forEach((_, i) => {
    const { onceIn } = detector.take(time(test.times[i]!), cells(test, i));
    scores.push(onceIn ?? scores.at(-1) ?? 0);
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

async function measure(folder: string): Promise<void> {
  console.log(
    '| set | series | anomaly node, fitted once | as it learns on | isolation forest | nearest rows | T² and Q | periods with an alarm / an unusual row | other alarms in 10,000 rows |',
  );
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const set of readdirSync(folder).sort()) {
    const names = readdirSync(path.join(folder, set)).filter((name) => name.endsWith('.train.csv'));
    const figures = new Map<string, { area: number[]; precision: number[] }>();
    let [periods, alarmed, unusual, others, normal] = [0, 0, 0, 0, 0];
    for (const name of names.sort()) {
      const file = path.join(folder, set, name);
      const train = readTable(file, Date.UTC(2026, 0, 5));
      const ends = Date.UTC(2026, 0, 5) + train.rows.length * MINUTE_MS;
      const test = readTable(file.replace('.train.', '.test.'), ends);
      const told = await ours(train, test);
      const scores = {
        once: once(train, test),
        node: told.scores,
        forest: byRow(isolationForest(train.rows, seededRandom(SEED)), test),
        nearest: byRow(nearest(train.rows), test),
        components: byRow(principalComponents(train.rows), test),
      };
      for (const [method, values] of Object.entries(scores)) {
        const figure = figures.get(method) ?? { area: [], precision: [] };
        figure.area.push(areaUnderCurve(values, test.labels));
        figure.precision.push(averagePrecision(values, test.labels));
        figures.set(method, figure);
      }
      for (const [from, to] of periodsOf(test.labels)) {
        periods++;
        alarmed += Number(told.alarms.slice(from, to).includes(true));
        unusual += Number(told.unusual.slice(from, to).includes(true));
      }
      test.labels.forEach((label, row) => {
        normal += 1 - label;
        others += Number(label === 0 && told.alarms[row]);
      });
      if (process.env.VERBOSE !== undefined) {
        console.error(
          name,
          [...figures].map(([method, { area }]) => `${method} ${area.at(-1)!.toFixed(2)}`).join(' '),
        );
      }
    }
    const cells = [...figures.values()].map(({ area, precision }) => `${mean(area)} / ${mean(precision)}`);
    const shares = `${(alarmed / periods).toFixed(2)} / ${(unusual / periods).toFixed(2)} of ${periods}`;
    console.log(
      `| ${set} | ${names.length} | ${cells.join(' | ')} | ${shares} | ${((1e4 * others) / normal).toFixed(1)} |`,
    );
  }
}

if (process.argv[2] === undefined) {
  throw new Error('Usage: npm run bench -- public <folder>');
}
void measure(process.argv[2]);
