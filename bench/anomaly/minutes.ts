/*
 * npm run bench -- minutes [machines] [first seed] [readings in 5 minutes, with j joined to a row…]: the anomaly node as it runs, on the simulated
 * machines of the bench `anomaly`, with a reading each five minutes and with more.
 *
 * Each machine runs for eight weeks without a fault, learned from the 300th reading on, with the fits as they fall due:
 * alarms a week, one asked for. From the end of the third week on it also runs on with a fault of a day, nine kinds, each
 * so often, at a random time of the two weeks that follow: whether an alarm is sent during that day, and whether the sensor
 * that it names first is the faulty one. Readings that come more often are also joined to a row each five minutes.
 */
import { Detector, JoinedRows } from '../../test/doors/anomaly';
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
import { mapOf, SETTINGS } from './scored';

const WEEKS = 8;
const KNOWN_WEEKS = 3;
/** Days on which a fault may begin, after these weeks. */
const DAYS = 14;
/** Of each kind on each machine. */
const TIMES = 2;

const machines = Number(process.argv[2] ?? 4);
const firstSeed = Number(process.argv[3] ?? 7300);
const wanted = process.argv.slice(4);

interface Counts {
  /** Alarms in each week, of each machine. */
  alarms: number[][];
  unusual: number;
  rows: number;
  faults: number;
  found: number;
  right: number;
  seen: number;
  /** Of each kind, those that were found. */
  kinds: Map<string, { seen: number; found: number; all: number }>;
}

type Row = ReturnType<Detector['take']>;

/** How a machine is read: so many readings in five minutes, maybe joined to rows. */
interface Reading {
  often: number;
  isJoined: boolean;
}

function run(
  detector: Detector,
  machine: Machine,
  { often, isJoined }: Reading,
  from: number,
  to: number,
  each: (row: number, taken: Row) => void,
): void {
  const joined = isJoined ? new JoinedRows(STEP_MS) : undefined;
  for (let row = from; row < to; row++) {
    const time = BEGINS + (row * STEP_MS) / often;
    const cells = mapOf(machine, row);
    const whole = joined === undefined ? { time, cells } : joined.add(null, time, cells);
    if (whole !== undefined) {
      each(row, detector.take(whole.time, whole.cells));
      fitIfDue(detector);
    }
  }
}

function measure(seed: number, how: Reading, counts: Counts): void {
  const { often } = how;
  const machine = simulatedMachine({ weeks: WEEKS, seed, often });
  const [day, week] = [ROWS_A_DAY * often, ROWS_A_WEEK * often];
  const random = seededRandom(seed + 5);
  const known = KNOWN_WEEKS * week;
  const usuals = usualsOf(machine.values.slice(0, known));
  const faults = FAULTS.flatMap((kind) =>
    Array.from({ length: TIMES }, () => ({
      kind,
      sensor: Math.floor(random() * SENSORS.length),
      from: known + Math.floor(random() * DAYS * day),
      rows: day,
    })),
  ).toSorted((a, b) => a.from - b.from);
  const detector = new Detector(SETTINGS);
  const alarms = new Array<number>(WEEKS).fill(0);
  counts.alarms.push(alarms);
  const clean = (row: number, { state, changes }: Row): void => {
    alarms[Math.floor(row / week)]! += changes.filter(({ kind }) => kind === 'alarm').length;
    counts.rows += Number(row >= 2 * week);
    counts.unusual += Number(row >= 2 * week && state === 'unusual');
  };
  let at = 0;
  for (const fault of faults) {
    run(detector, machine, how, at, fault.from, clean);
    at = fault.from;
    const broken = { ...machine, values: machine.values.map((row) => row.slice()) };
    const wrong = injectFault(broken.values, fault, usuals, random).map((sensor) => SENSORS[sensor]);
    const copy = new Detector(SETTINGS, structuredClone(detector.keep()));
    let first: string | undefined;
    let isSeen = false;
    run(copy, broken, how, fault.from, fault.from + day, (_, { state, changes }) => {
      isSeen ||= state === 'unusual';
      for (const change of changes) {
        first ??= change.kind === 'alarm' ? (change.sensors[0]?.column ?? '') : undefined;
      }
    });
    counts.faults++;
    counts.seen += Number(isSeen);
    counts.found += Number(first !== undefined);
    const kind = counts.kinds.get(fault.kind) ?? { seen: 0, found: 0, all: 0 };
    counts.kinds.set(fault.kind, kind);
    kind.all++;
    kind.seen += Number(isSeen);
    kind.found += Number(first !== undefined);
    counts.right += Number(first !== undefined && wrong.some((name) => name === first));
  }
  run(detector, machine, how, at, machine.values.length, clean);
}

console.log(`\nAs it runs, one alarm a week asked for: ${machines} machines from seed ${firstSeed} on\n`);
console.log(
  '| a reading each | week 1 | week 2 | weeks 3–8 | worst machine, weeks 3–8 | rows unusual | faults of a day | with an unusual row | with an alarm | of these the right sensor |',
);
console.log('|---|---|---|---|---|---|---|---|---|---|');
const readings = (wanted.length === 0 ? ['1', '5', '5j'] : wanted).map((how) => ({
  often: Number.parseInt(how),
  isJoined: how.endsWith('j'),
}));
const ofKinds: string[] = [];
for (const how of readings) {
  const counts: Counts = {
    alarms: [],
    unusual: 0,
    rows: 0,
    faults: 0,
    found: 0,
    right: 0,
    seen: 0,
    kinds: new Map(),
  };
  for (let i = 0; i < machines; i++) {
    measure(firstSeed + i, how, counts);
  }
  const a = (from: number, to: number): number[] =>
    counts.alarms.map((weeks) => weeks.slice(from, to).reduce((sum, one) => sum + one, 0) / (to - from));
  const mean = (values: number[]): string =>
    (values.reduce((sum, one) => sum + one, 0) / values.length).toFixed(1);
  const share = (part: number, of: number): string => (part / Math.max(1, of)).toFixed(2);
  console.log(
    `| ${5 / how.often} min${how.isJoined ? ', a row each 5 min' : ''} | ${mean(a(0, 1))} | ${mean(a(1, 2))} | ${mean(a(2, WEEKS))} | ${Math.max(...a(2, WEEKS)).toFixed(1)} | ${share(counts.unusual, counts.rows)} | ${counts.faults} | ${share(counts.seen, counts.faults)} | ${share(counts.found, counts.faults)} | ${share(counts.right, counts.found)} |`,
  );
  const each = FAULTS.map((kind) => counts.kinds.get(kind)!);
  ofKinds.push(
    `| ${5 / how.often} min${how.isJoined ? ', a row each 5 min' : ''} | ${each.map(({ seen, found, all }) => `${share(seen, all)}, ${share(found, all)}`).join(' | ')} |`,
  );
}
console.log('\nOf each kind: with an unusual row, with an alarm\n');
console.log(`| a reading each | ${FAULTS.join(' | ')} |\n|---|${FAULTS.map(() => '---|').join('')}`);
console.log(ofKinds.join('\n'));
