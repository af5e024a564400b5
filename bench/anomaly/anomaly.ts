/*
 * npm run bench -- anomaly [machines] [first seed] [part…]: the anomaly node's method on simulated machines.
 *
 * 1. The promise: machines of eight weeks without a fault, learned from the 300th reading on, one alarm a week asked for;
 *    as they are, and with weather that rises by eight degrees.
 * 2. Faults of nine kinds, a day long, after two weeks of learning: how many are found, and whether the right sensor is
 *    named, at equal false alarms for every method: the level is set where the clean rows have one episode a week.
 * 3. Time, in ratios to one ridge regression of every sensor.
 */
import { Detector, fitExpectations, learn, sumMoments } from '../../test/doors/anomaly';
import { seededRandom } from '../../test/doors/util';
import {
  BEGINS,
  fitIfDue,
  type Machine,
  ROWS_A_DAY,
  ROWS_A_WEEK,
  simulatedMachine,
  STEP_MS,
} from '../../test/helpers/simulated-machine';
import { addFaults, type FaultsFound, printFaults } from './faults';
import { isolationForest, nearest, principalComponents } from './peers';
import { byRow, mapOf, ours, type Scorer, SETTINGS, taught } from './scored';

const LEARNED = 2 * ROWS_A_WEEK;
const TESTED_WEEKS = 3;
/** Each kind so often on each machine, on another sensor each time. */
const TIMES = 4;

const machines = Number(process.argv[2] ?? 10);
const firstSeed = Number(process.argv[3] ?? 1000);
const seeds = Array.from({ length: machines }, (_, i) => firstSeed + i);

function alarmsAWeek(machine: Machine): { alarms: number[]; moved: number } {
  const detector = new Detector(SETTINGS);
  const alarms = new Array<number>(8).fill(0);
  let moved = 0;
  machine.values.forEach((_, row) => {
    const { changes } = detector.take(BEGINS + row * STEP_MS, mapOf(machine, row));
    for (const { kind } of changes) {
      alarms[Math.floor(row / ROWS_A_WEEK)]! += Number(kind === 'alarm');
      moved += Number(kind === 'moved');
    }
    fitIfDue(detector);
  });
  return { alarms, moved };
}

function promise(): void {
  console.log(`\nAlarms a week without a fault, one asked for: ${machines} machines each\n`);
  console.log('| weather | week 1 | week 2 | weeks 3–4 | weeks 5–8 | worst machine, weeks 3–8 | moved |');
  console.log('|---|---|---|---|---|---|---|');
  for (const drift of [0, 1]) {
    const runs = seeds.map((seed) => alarmsAWeek(simulatedMachine({ weeks: 8, seed, drift })));
    const mean = (from: number, to: number): string =>
      (
        runs.reduce((sum, { alarms }) => sum + total(alarms.slice(from, to)), 0) /
        machines /
        (to - from)
      ).toFixed(1);
    const worst = Math.max(...runs.map(({ alarms }) => total(alarms.slice(2)) / 6));
    const moved = total(runs.map((run) => run.moved));
    console.log(
      `| ${drift === 0 ? 'wanders' : 'rises by 8 degrees'} | ${mean(0, 1)} | ${mean(1, 2)} | ${mean(2, 4)} | ${mean(4, 8)} | ${worst.toFixed(1)} | ${moved} |`,
    );
  }
}

function faults(): void {
  const found: FaultsFound = new Map();
  const rows = { learned: LEARNED, fault: ROWS_A_DAY, alarm: ROWS_A_WEEK };
  for (const seed of seeds) {
    const machine = simulatedMachine({ weeks: 2 + TESTED_WEEKS, seed });
    const train = machine.values.slice(0, LEARNED);
    const methods: Record<string, Scorer> = {
      'anomaly node': ours(taught(machine, LEARNED).learned),
      'isolation forest': byRow(isolationForest(train, seededRandom(seed))),
      'nearest rows': byRow(nearest(train)),
      'T² and Q': byRow(principalComponents(train)),
    };
    addFaults(found, machine, methods, rows, TIMES, seed + 5);
  }
  console.log(
    '\nFaults of a day at one false alarm a week: found, and of those found the right sensor named\n',
  );
  printFaults(found);
}

function times(): void {
  const machine = simulatedMachine({ weeks: 3, seed: firstSeed });
  const detector = new Detector(SETTINGS);
  machine.values
    .slice(0, 5000)
    .forEach((_, row) => detector.teach(BEGINS + row * STEP_MS, mapOf(machine, row)));
  const task = detector.task()!;
  learn(task);
  const fit = seconds(() => detector.learned(learn(task)));
  const inputs = new Float64Array(5000 * 30).map((_, i) => machine.values[Math.floor(i / 30)]![i % 10]!);
  const weights = new Float64Array(5000).fill(1);
  const ridge = seconds(() =>
    fitExpectations(sumMoments(inputs, 30, { from: 0, to: 5000 }, weights), { sensors: 10, context: 0 }),
  );
  const rows = seconds(() => {
    for (let row = 5000; row < 6000; row++) {
      detector.take(BEGINS + row * STEP_MS, mapOf(machine, row));
    }
  });
  console.log('\nTime, 10 sensors and 5,000 rows, processor time\n');
  console.log(
    `a fit ${fit.toFixed(2)} s (${(fit / ridge).toFixed(0)} times one ridge of each sensor); a row ${rows.toFixed(3)} ms`,
  );
}

function seconds(work: () => unknown): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1e6;
}

function total(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0);
}

const parts = { faults, times, promise };
const wanted = process.argv.slice(4);
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) {
    part();
  }
}
