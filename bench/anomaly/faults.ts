/* Faults of nine kinds, found by one method or another at equal false alarms. Shared by the benches of the anomaly node. */
import { HOLD_ROWS } from '../../test/doors/anomaly';
import { seededRandom } from '../../test/doors/util';
import { FAULTS, injectFault, type Machine, usualsOf } from '../../test/helpers/simulated-machine';
import type { Scorer } from './scored';

interface Found {
  all: number;
  found: number;
  /** Of those found: with a sensor in front, and with one that is faulty. */
  told: number;
  right: number;
}

export type FaultsFound = Map<string, Map<string, Found>>;

/** The level that so many episodes of the clean rows are beyond. */
function levelOf(scores: readonly number[], episodes: number): number {
  const levels = [...scores].sort((a, b) => b - a);
  let level = levels[0]!;
  for (const next of levels.slice(1)) {
    if (episodesBeyond(scores, next) > episodes) {
      return level;
    }
    level = next;
  }
  return level;
}

function episodesBeyond(scores: readonly number[], level: number): number {
  let count = 0;
  let last = -Infinity;
  scores.forEach((score, row) => {
    if (score > level) {
      count += Number(row - last > HOLD_ROWS);
      last = row;
    }
  });
  return count;
}

/**
 * Puts faults of each kind into a machine, at a random time after those that were learned and in a random sensor, and adds
 * what each method finds of them: beyond the level that as many episodes of the rows without a fault exceed.
 *
 * @param rows learned, of a fault, and clean ones to one false alarm
 * @param times faults of each kind
 */
export function addFaults(
  found: FaultsFound,
  machine: Machine,
  methods: Record<string, Scorer>,
  rows: { learned: number; fault: number; alarm: number },
  times: number,
  seed: number,
): void {
  const { values } = machine;
  const usuals = usualsOf(values.slice(0, rows.learned));
  const sensors = [...usuals.spread.keys()].filter((j) => usuals.spread[j]! > 0);
  const tested = values.length - rows.learned;
  for (const [name, scorer] of Object.entries(methods)) {
    const clean = scorer(machine, rows.learned, values.length).map(({ score }) => score);
    const level = levelOf(clean, Math.floor(tested / rows.alarm));
    const kinds = found.get(name) ?? new Map<string, Found>();
    found.set(name, kinds);
    const random = seededRandom(seed);
    for (const kind of FAULTS) {
      const counts = kinds.get(kind) ?? { found: 0, right: 0, told: 0, all: 0 };
      kinds.set(kind, counts);
      for (let time = 0; time < times; time++) {
        const broken = { ...machine, values: values.map((row) => row.slice()) };
        const from = rows.learned + Math.floor(random() * (tested - 2 * rows.fault));
        const sensor = sensors[Math.floor(random() * sensors.length)]!;
        const wrong = injectFault(broken.values, { kind, sensor, from, rows: rows.fault }, usuals, random);
        const scored = scorer(broken, from, from + rows.fault);
        const worst = scored.reduce((most, one) => (one.score > most.score ? one : most));
        const isFound = worst.score > level;
        counts.all++;
        counts.found += Number(isFound);
        counts.told += Number(isFound && worst.sensor !== undefined);
        counts.right += Number(isFound && worst.sensor !== undefined && wrong.includes(worst.sensor));
      }
    }
  }
}

/** Of each method the share found, and the share of the found whose sensor in front is faulty. */
export function printFaults(found: FaultsFound): void {
  console.log(`| method | all | ${FAULTS.join(' | ')} |`);
  console.log(`|---|---|${FAULTS.map(() => '---|').join('')}`);
  for (const [name, kinds] of found) {
    const each = FAULTS.map((kind) => kinds.get(kind)!);
    const whole = each.reduce((sum, one) => ({
      all: sum.all + one.all,
      found: sum.found + one.found,
      told: sum.told + one.told,
      right: sum.right + one.right,
    }));
    console.log(`| ${name} | ${[whole, ...each].map(shares).join(' | ')} |`);
  }
}

function shares({ all, found, told, right }: Found): string {
  const share = (part: number, of: number): string => (part / of).toFixed(2);
  return told === 0 ? share(found, all) : `${share(found, all)}, ${share(right, told)}`;
}
