/*
 * npm run bench -- hour [motors] [first seed]: the first hour of an anomaly node with a reading a second, on simulated motors
 * whose load changes in several ways; learned from the 300th reading on, with the fits as they fall due, one alarm a week
 * asked for. Alarms of that hour, in which nothing is wrong; and faults of a minute, after 10, 20 and 50 minutes: whether an
 * alarm is sent, and whether it names the faulty sensor first.
 */
import { Detector } from '../../test/doors/anomaly';
import { fitIfDue } from '../../test/helpers/simulated-machine';
import { type Load, LOADS, MOTOR_BEGINS, SECOND, simulatedMotor } from '../../test/helpers/simulated-motor';
import { SETTINGS } from './scored';

type Cells = Record<string, number>;

const HOUR = 3600;
const FAULT = 60;
const AT_MINUTES = [10, 20, 50];
const FAULTS = { 'current doubled': ['current', 2], 'vibration halved': ['vibration', 0.5] } as const;

const motors = Number(process.argv[2] ?? 10);
const firstSeed = Number(process.argv[3] ?? 1);

/** Takes readings. @returns for each alarm the sensor that it names first */
function take(detector: Detector, from: number, readings: readonly Cells[]): (string | undefined)[] {
  return readings.flatMap((cells, i) => {
    const time = MOTOR_BEGINS + (from + i) * SECOND;
    const { changes } = detector.take(time, new Map(Object.entries(cells)));
    fitIfDue(detector);
    return changes.flatMap((change) => (change.kind === 'alarm' ? [change.sensors[0]?.column] : []));
  });
}

function measure(load: Load): string {
  const names = Object.keys(FAULTS) as (keyof typeof FAULTS)[];
  const found = names.map(() => ({ found: 0, right: 0 }));
  let [alarms, most] = [0, 0];
  for (let seed = firstSeed; seed < firstSeed + motors; seed++) {
    const readings = simulatedMotor(load, seed, HOUR);
    const detector = new Detector(SETTINGS);
    let [at, own] = [0, 0];
    for (const from of AT_MINUTES.map((minutes) => minutes * 60)) {
      own += take(detector, at, readings.slice(at, from)).length;
      at = from;
      names.forEach((name, i) => {
        const [sensor, times] = FAULTS[name];
        const copy = new Detector(SETTINGS, structuredClone(detector.keep()));
        const broken = readings
          .slice(from, from + FAULT)
          .map((cells) => ({ ...cells, [sensor]: cells[sensor]! * times }));
        const told = take(copy, from, broken);
        found[i]!.found += Number(told.length > 0);
        found[i]!.right += Number(told[0] === sensor);
      });
    }
    own += take(detector, at, readings.slice(at)).length;
    alarms += own;
    most = Math.max(most, own);
  }
  const all = motors * AT_MINUTES.length;
  const shares = found.map((one) => `${(one.found / all).toFixed(2)}, ${(one.right / all).toFixed(2)}`);
  return `| ${load} | ${(alarms / motors).toFixed(1)} | ${most} | ${shares.join(' | ')} |`;
}

console.log(`\nThe first hour with a reading a second: ${motors} motors from seed ${firstSeed} on\n`);
console.log(`| load | alarms | most | ${Object.keys(FAULTS).join(' | ')} |\n|---|---|---|---|---|`);
for (const load of LOADS) {
  console.log(measure(load));
}
