/*
 * npm run bench -- histories [machines] [first seed] [part…]: what the anomaly node makes of faults that are hard to see
 * from the history, on the simulated machines of the bench `anomaly`.
 *
 * 1. Creeping faults: a sensor drifts by two spreads in three weeks, after two weeks of learning, with the fits as they
 *    fall due. Found by `moved`, or by an alarm; and how often a sensor that is in order is told as moved.
 * 2. Dirty histories: faults of an eighth of a day in 5 % of the two weeks that are learned. The question about odd
 *    periods is answered with faults; then faults of a day of nine kinds, as in the bench `anomaly`.
 * 3. Long faults: of a week, after two weeks of learning, with the fits as they fall due, not answered, and answered an
 *    hour after each alarm. How long they stay unusual; then a machine that stays as the fault left it, until it is usual
 *    again.
 * 4. Dead sensors: the expected value of a missing sensor beside its last value, over the second day.
 * 5. Missing cells: faults of a day as in 2., with one cell in ten missing; and three weeks without a fault after a sensor
 *    has vanished, after it was named under Ignore, and after a new one came.
 */
import { Detector, learn, valueOfRarity } from '../../test/doors/anomaly';
import { seededRandom } from '../../test/doors/util';
import {
  BEGINS,
  FAULTS,
  fitIfDue,
  injectFault,
  type Machine,
  ROWS_A_DAY,
  ROWS_A_WEEK,
  SENSORS,
  simulatedMachine,
  STEP_MS,
  usualsOf,
} from '../../test/helpers/simulated-machine';
import { mapOf, ours, SETTINGS, taught } from './scored';

const LEARNED = 2 * ROWS_A_WEEK;
const CREEP_WEEKS = 3;
/** Sensors that creep, of each machine. */
const CREEPING = 4;
const DIRTY_SHARE = 0.05;
const DIRTY_ROWS = 36;
const DIRTY_SIZE = 1.5;
/** The share of cells that are missing. */
const HOLES = 0.1;
const ROWS_AN_HOUR = ROWS_A_DAY / 24;
const ANSWERS = ['none', 'real', 'usual'] as const;
type Answer = (typeof ANSWERS)[number];
/** Faults of each kind on each machine. */
const TIMES = 2;

const machines = Number(process.argv[2] ?? 6);
const firstSeed = Number(process.argv[3] ?? 2000);
const seeds = Array.from({ length: machines }, (_, i) => firstSeed + i);

interface Creep {
  moved: Map<string, number>;
  alarms: Set<string>;
}

/** Weeks until a sensor was told as moved, and the sensors that alarms named first. */
function creeping(machine: Machine, from: Detector): Creep {
  const detector = new Detector(SETTINGS, structuredClone(from.keep()));
  const moved = new Map<string, number>();
  const alarms = new Set<string>();
  for (let row = LEARNED; row < machine.values.length; row++) {
    for (const change of detector.take(BEGINS + row * STEP_MS, mapOf(machine, row)).changes) {
      if (change.kind === 'moved' && !moved.has(change.column)) {
        moved.set(change.column, (row - LEARNED) / ROWS_A_WEEK);
      } else if (change.kind === 'alarm' && change.sensors.length > 0) {
        alarms.add(change.sensors[0]!.column);
      }
    }
    fitIfDue(detector);
  }
  return { moved, alarms };
}

function creepingFaults(): void {
  const weeks: number[] = [];
  let [cases, byAlarm, right, clean] = [0, 0, 0, 0];
  for (const seed of seeds) {
    const machine = simulatedMachine({ weeks: 2 + CREEP_WEEKS, seed });
    const usuals = usualsOf(machine.values.slice(0, LEARNED));
    const from = taught(machine, LEARNED).detector;
    clean += creeping(machine, from).moved.size;
    const random = seededRandom(seed);
    for (let i = 0; i < CREEPING; i++) {
      const sensor = Math.floor(random() * SENSORS.length);
      const broken = { ...machine, values: machine.values.map((row) => row.slice()) };
      const fault = { kind: 'drift', sensor, from: LEARNED, rows: CREEP_WEEKS * ROWS_A_WEEK } as const;
      injectFault(broken.values, fault, usuals, random);
      const { moved, alarms } = creeping(broken, from);
      const when = moved.get(SENSORS[sensor]!);
      cases++;
      byAlarm += Number(alarms.has(SENSORS[sensor]!));
      right += Number([...moved.keys()][0] === SENSORS[sensor]);
      if (when !== undefined) {
        weeks.push(when);
      }
    }
  }
  const mean = weeks.reduce((sum, one) => sum + one, 0) / Math.max(1, weeks.length);
  console.log('\nCreeping faults, to two spreads in three weeks\n');
  console.log(
    '| faults | told as moved | after weeks | it is the first one told | alarm that names it first | machines without a fault: told as moved |',
  );
  console.log('|---|---|---|---|---|---|');
  console.log(
    `| ${cases} | ${(weeks.length / cases).toFixed(2)} | ${mean.toFixed(1)} | ${(right / cases).toFixed(2)} | ${(byAlarm / cases).toFixed(2)} | ${clean} of ${machines} |`,
  );
}

/** Faults of a week: the share of its rows that are unusual on the first day, on the next two, and on the last four. */
function longFaults(): void {
  const again: number[] = [];
  const told = new Map<Answer, { rows: number[]; unusual: number[]; alarmed: number; alarms: number }>();
  let all = 0;
  for (const seed of seeds) {
    const machine = simulatedMachine({ weeks: 6, seed });
    const usuals = usualsOf(machine.values.slice(0, LEARNED));
    const from = taught(machine, LEARNED).detector;
    const random = seededRandom(seed + 7);
    for (const kind of FAULTS) {
      const sensor = Math.floor(random() * SENSORS.length);
      const broken = { ...machine, values: machine.values.map((row) => row.slice()) };
      const begins = LEARNED + Math.floor(random() * ROWS_A_WEEK);
      injectFault(broken.values, { kind, sensor, from: begins, rows: ROWS_A_WEEK }, usuals, random);
      all++;
      for (const answer of ANSWERS) {
        const counts = told.get(answer) ?? { rows: [0, 0, 0], unusual: [0, 0, 0], alarmed: 0, alarms: 0 };
        told.set(answer, counts);
        const alarms = longFault(broken, from, begins, answer, counts);
        counts.alarms += alarms;
        counts.alarmed += Number(alarms > 0);
      }
    }
    again.push(daysUntilUsual(machine, from, usuals));
  }
  console.log(
    '\nFaults of a week: the share of their rows that are unusual, by what people answer after an hour\n',
  );
  console.log('| answer | faults | alarmed | alarms of each | day 1 | days 2 and 3 | days 4 to 7 |');
  console.log('|---|---|---|---|---|---|---|');
  for (const [answer, { rows, unusual, alarmed, alarms }] of told) {
    const shares = rows.map((count, part) => (unusual[part]! / count).toFixed(2));
    console.log(
      `| ${answer} | ${all} | ${(alarmed / all).toFixed(2)} | ${(alarms / all).toFixed(1)} | ${shares.join(' | ')} |`,
    );
  }
  console.log(
    `\nDays until an offset for good is usual, not answered: ${again.map((days) => days.toFixed(1)).join(', ')}`,
  );
}

/** Counts the rows of a fault, and answers its alarms. @returns its alarms */
function longFault(
  broken: Machine,
  from: Detector,
  begins: number,
  answer: Answer,
  { rows, unusual }: { rows: number[]; unusual: number[] },
): number {
  const detector = new Detector(SETTINGS, structuredClone(from.keep()));
  let alarms = 0;
  let answers = Infinity;
  for (let row = LEARNED; row < begins + ROWS_A_WEEK; row++) {
    const { state, changes } = detector.take(BEGINS + row * STEP_MS, mapOf(broken, row));
    if (row >= begins) {
      const day = Math.floor((row - begins) / ROWS_A_DAY);
      const part = day === 0 ? 0 : day < 3 ? 1 : 2;
      rows[part]!++;
      unusual[part]! += Number(state === 'unusual');
      const alarm = changes.filter(({ kind }) => kind === 'alarm').length;
      alarms += alarm;
      answers = alarm > 0 ? row + ROWS_AN_HOUR : answers;
    }
    if (row === answers && answer !== 'none') {
      detector.confirm(undefined, answer);
    }
    fitIfDue(detector);
  }
  return alarms;
}

/** Of a sensor that is offset from one row on for good: the days until a day has no unusual row. */
function daysUntilUsual(machine: Machine, from: Detector, usuals: ReturnType<typeof usualsOf>): number {
  const broken = { ...machine, values: machine.values.map((row) => row.slice()) };
  const fault = { kind: 'offset', sensor: 2, from: LEARNED, rows: 4 * ROWS_A_WEEK } as const;
  injectFault(broken.values, { ...fault, size: 3 }, usuals, seededRandom(1));
  const detector = new Detector(SETTINGS, structuredClone(from.keep()));
  let last = LEARNED;
  for (let row = LEARNED; row < machine.values.length; row++) {
    const { state } = detector.take(BEGINS + row * STEP_MS, mapOf(broken, row));
    last = state === 'unusual' ? row : last;
    if (row - last > ROWS_A_DAY) {
      break;
    }
    fitIfDue(detector);
  }
  return (last - LEARNED) / ROWS_A_DAY;
}

/** Faults all over the rows that are learned. */
function dirtied(machine: Machine, seed: number): Machine {
  const random = seededRandom(seed + 11);
  const values = machine.values.map((row) => row.slice());
  const usuals = usualsOf(machine.values.slice(0, LEARNED));
  const faults = Math.round((DIRTY_SHARE * LEARNED) / DIRTY_ROWS);
  for (let i = 0; i < faults; i++) {
    // One in each part of the time, so that none lies on another.
    const part = Math.floor(LEARNED / faults);
    const from = i * part + Math.floor(random() * (part - DIRTY_ROWS));
    const kind = FAULTS[Math.floor(random() * FAULTS.length)]!;
    const sensor = Math.floor(random() * SENSORS.length);
    injectFault(values, { kind, sensor, from, rows: DIRTY_ROWS, size: DIRTY_SIZE }, usuals, random);
  }
  return { ...machine, values };
}

function dirtyHistories(): void {
  const found = { clean: 0, kept: 0, answered: 0 };
  let [all, asked] = [0, 0];
  for (const seed of seeds) {
    const machine = simulatedMachine({ weeks: 2 + CREEP_WEEKS, seed });
    const dirty = dirtied(machine, seed);
    const { detector, learned: kept } = taught(dirty, LEARNED);
    const isAsked = detector.answerOdd('faults') !== undefined;
    asked += Number(isAsked);
    const answered = isAsked ? learn(detector.task()!) : kept;
    const usuals = usualsOf(machine.values.slice(0, LEARNED));
    for (const [name, learned] of Object.entries({
      clean: taught(machine, LEARNED).learned,
      kept,
      answered,
    })) {
      const scorer = ours(learned);
      const level = valueOfRarity(learned.usual.total, Math.log10(ROWS_A_WEEK));
      const random = seededRandom(seed + 5);
      for (const kind of FAULTS) {
        for (let time = 0; time < TIMES; time++) {
          const broken = { ...machine, values: machine.values.map((row) => row.slice()) };
          const from = LEARNED + Math.floor(random() * (CREEP_WEEKS * ROWS_A_WEEK - 2 * ROWS_A_DAY));
          const sensor = Math.floor(random() * SENSORS.length);
          injectFault(broken.values, { kind, sensor, from, rows: ROWS_A_DAY }, usuals, random);
          const worst = Math.max(...scorer(broken, from, from + ROWS_A_DAY).map(({ score }) => score));
          found[name as keyof typeof found] += Number(worst > level);
          all += Number(name === 'clean');
        }
      }
    }
  }
  const share = (count: number): string => (count / all).toFixed(2);
  console.log('\nFaults of a day found beyond the level that was learned; 5 % of the history are faults\n');
  console.log('| clean history | dirty, not answered | dirty, answered with faults | machines that asked |');
  console.log('|---|---|---|---|');
  console.log(
    `| ${share(found.clean)} | ${share(found.kept)} | ${share(found.answered)} | ${asked} of ${machines} |`,
  );
}

function deadSensors(): void {
  let [expectedOff, lastOff, told, dead, inside] = [0, 0, 0, 0, 0];
  for (const seed of seeds) {
    const machine = simulatedMachine({ weeks: 3, seed });
    const { spread } = usualsOf(machine.values.slice(0, LEARNED));
    const from = taught(machine, LEARNED).detector;
    const random = seededRandom(seed);
    SENSORS.forEach((name, sensor) => {
      const detector = new Detector(SETTINGS, structuredClone(from.keep()));
      const died = LEARNED + Math.floor(random() * ROWS_A_DAY);
      const last = machine.values[died - 1]![sensor]!;
      dead++;
      let counted = false;
      for (let row = LEARNED; row < died + 2 * ROWS_A_DAY; row++) {
        const cells = mapOf(machine, row);
        if (row >= died) {
          cells.delete(name);
        }
        const { expected } = detector.take(BEGINS + row * STEP_MS, cells);
        const value = machine.values[row]![sensor]!;
        if (expected[name] !== undefined && row >= died + ROWS_A_DAY) {
          expectedOff += Math.abs(expected[name] - value) / spread[sensor]!;
          lastOff += Math.abs(last - value) / spread[sensor]!;
          counted = true;
        }
      }
      told += Number(counted);
      if (counted) {
        const { low, high } = detector.recent!.sensor(detector.recent!.sensors.indexOf(name));
        const day = machine.values.slice(died + ROWS_A_DAY, died + 2 * ROWS_A_DAY);
        const [lows, highs] = [low.slice(-ROWS_A_DAY), high.slice(-ROWS_A_DAY)];
        inside += day.filter((row, i) => row[sensor]! >= lows[i]! && row[sensor]! <= highs[i]!).length;
      }
    });
  }
  console.log('\nDead sensors: mean absolute error in usual spreads, over the second day\n');
  console.log(
    '| sensors with an expected value | its error | of the last value | ratio | within the band of 90 % |',
  );
  console.log('|---|---|---|---|---|');
  const rows = told * ROWS_A_DAY;
  console.log(
    `| ${told} of ${dead} | ${(expectedOff / rows).toFixed(2)} | ${(lastOff / rows).toFixed(2)} | ${(expectedOff / lastOff).toFixed(2)} | ${(inside / rows).toFixed(2)} |`,
  );
}

function missingCells(): void {
  const found = { whole: 0, holed: 0 };
  const alarms = {
    'all sensors': 0,
    'one cell in ten is missing': 0,
    'power vanishes': 0,
    'power is ignored': 0,
    'a new one comes': 0,
  };
  let all = 0;
  for (const seed of seeds) {
    const machine = simulatedMachine({ weeks: 2 + CREEP_WEEKS, seed });
    const { detector: from, learned } = taught(machine, LEARNED);
    const usuals = usualsOf(machine.values.slice(0, LEARNED));
    const level = valueOfRarity(learned.usual.total, Math.log10(ROWS_A_WEEK));
    const random = seededRandom(seed + 5);
    const holes = seededRandom(seed + 6);
    const scorers = { whole: ours(learned), holed: ours(learned, () => holes() < HOLES) };
    for (const kind of FAULTS) {
      for (let time = 0; time < TIMES; time++) {
        const broken = { ...machine, values: machine.values.map((row) => row.slice()) };
        const begins = LEARNED + Math.floor(random() * (CREEP_WEEKS * ROWS_A_WEEK - 2 * ROWS_A_DAY));
        const sensor = Math.floor(random() * SENSORS.length);
        injectFault(broken.values, { kind, sensor, from: begins, rows: ROWS_A_DAY }, usuals, random);
        all++;
        for (const [name, scorer] of Object.entries(scorers)) {
          const scores = scorer(broken, begins, begins + ROWS_A_DAY).map(({ score }) => score);
          found[name as keyof typeof found] += Number(Math.max(...scores) > level);
        }
      }
    }
    for (const name of Object.keys(alarms)) {
      const ignored = new Set(name === 'power is ignored' ? ['power'] : []);
      const detector = new Detector({ ...SETTINGS, ignored }, structuredClone(from.keep()));
      const more = seededRandom(seed + 7);
      for (let row = LEARNED; row < machine.values.length; row++) {
        const cells = mapOf(machine, row);
        if (name === 'one cell in ten is missing') {
          SENSORS.forEach((sensor) => more() < HOLES && cells.delete(sensor));
        } else if (name === 'power vanishes' || ignored.size > 0) {
          cells.delete('power');
        } else if (name === 'a new one comes') {
          cells.set('oil', 2 * machine.values[row]![0]! + more());
        }
        const { changes } = detector.take(BEGINS + row * STEP_MS, cells);
        alarms[name as keyof typeof alarms] += changes.filter(({ kind }) => kind === 'alarm').length;
        fitIfDue(detector);
      }
    }
  }
  const share = (count: number): string => (count / all).toFixed(2);
  console.log('\nMissing cells and other columns, after two weeks that were whole\n');
  console.log(
    `| faults of a day found | one cell in ten missing | ${Object.keys(alarms)
      .map((name) => `alarms a week: ${name}`)
      .join(' | ')} |`,
  );
  console.log('|---|---|---|---|---|---|---|');
  const aWeek = Object.values(alarms).map((count) => (count / machines / CREEP_WEEKS).toFixed(2));
  console.log(`| ${share(found.whole)} | ${share(found.holed)} | ${aWeek.join(' | ')} |`);
}

const parts = { longFaults, deadSensors, dirtyHistories, creepingFaults, missingCells };
const wanted = process.argv.slice(4);
const unknown = wanted.find((name) => !Object.hasOwn(parts, name));
if (unknown !== undefined) {
  throw new Error(`There is no part "${unknown}". The parts are ${Object.keys(parts).join(', ')}.`);
}
for (const [name, part] of Object.entries(parts)) {
  if (wanted.length === 0 || wanted.includes(name)) {
    part();
  }
}
