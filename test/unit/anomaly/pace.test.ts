import assert from 'node:assert/strict';

import {
  AlarmPromise,
  Detector,
  fitTail,
  HOLD_ROWS,
  learn,
  type RowVerdict,
  valueOfRarity,
} from '../../doors/anomaly';
import { seededRandom } from '../../doors/util';
import { BEGINS, cellsOf, fitIfDue, simulatedMachine } from '../../helpers/simulated-machine';
import { MOTOR_BEGINS, SECOND, simulatedMotor } from '../../helpers/simulated-motor';

type Cells = Record<string, number | string>;

const MINUTE = 60_000;
const SETTINGS = { perWeek: 1, learn: 300, key: undefined, ignored: new Set<string>() };

/** Five sensors of a compressor. The power is told with each second reading only. */
function readings(count: number): Cells[] {
  const machine = simulatedMachine({ weeks: 1.2, seed: 8301, often: 5 });
  return Array.from({ length: count }, (_, i) => {
    const { current, speed, flow, pressure, power, mode } = cellsOf(machine, i) as Record<string, number>;
    return { ...{ current, speed, flow, pressure, mode }, ...(i % 2 === 0 && { power }) } as Cells;
  });
}

function take(detector: Detector, all: readonly Cells[], from: number, to = all.length): RowVerdict[] {
  return all.slice(from, to).map((cells, i) => {
    const verdict = detector.take(BEGINS + (from + i) * MINUTE, new Map(Object.entries(cells)));
    fitIfDue(detector);
    return verdict;
  });
}

const timesOf = (detector: Detector): number[] =>
  [...detector.keep().history.times].map((time) => (time - BEGINS) / MINUTE);

describe('a machine with a reading each minute', function () {
  this.timeout(120_000);
  const all = readings(8_000);
  const LEARNED = 7_500;
  /** The next fit makes its rows fewer. */
  const MOST = 5_900;
  let most: ReturnType<Detector['keep']>;
  let kept: ReturnType<Detector['keep']>;
  let verdicts: RowVerdict[];

  before(() => {
    const detector = new Detector(SETTINGS);
    verdicts = take(detector, all, 0, MOST);
    most = structuredClone(detector.keep());
    verdicts.push(...take(detector, all, MOST, LEARNED));
    kept = structuredClone(detector.keep());
  });

  const known = (): Detector => new Detector(SETTINGS, structuredClone(kept));

  it('keeps a row each five minutes once there are more than it can keep, from all that it has seen', () => {
    const times = timesOf(known());
    assert.ok(
      times[0]! < 10 && times.length <= LEARNED / 5 + 10,
      `${times.length} rows from minute ${times[0]} on`,
    );
    assert.ok(times.slice(1).every((time, i) => time - times[i]! === 5));
    assert.equal(known().knows, (LEARNED - 1) * MINUTE);
    const { pace, columns } = kept.history;
    assert.deepEqual(pace, { every: 5 * MINUTE, reading: MINUTE });
    // What comes with each second reading is in every row.
    assert.ok(columns.power!.numbers.every((number) => !Number.isNaN(number)));
  });

  it('is judged with every reading, before and after', () => {
    const judged = verdicts.slice(300).filter(({ state }) => state !== 'new');
    assert.ok(judged.length > 0.9 * verdicts.length);
    assert.ok(judged.every(({ onceIn }) => onceIn !== undefined));
    const unusual = judged.slice(2000).filter(({ state }) => state === 'unusual').length;
    assert.ok(unusual < 0.02 * judged.length, `${unusual} unusual`);
  });

  it('alarms on a reading that comes between two rows, which leaves nothing behind', () => {
    const detector = known();
    take(detector, all, LEARNED, LEARNED + 3);
    const rows = detector.rows;
    const spike = { ...all[LEARNED + 3]!, flow: 4 };
    const [verdict] = take(detector, [...all.slice(0, LEARNED + 3), spike], LEARNED + 3);
    assert.equal(detector.rows, rows, 'it is no row');
    assert.equal(verdict!.state, 'unusual');
    assert.deepEqual(
      verdict!.changes.map((change) => change.kind === 'alarm' && change.sensors[0]!.column),
      ['flow'],
    );
    const after = take(detector, all, LEARNED + 4, LEARNED + 60);
    assert.ok(after.every(({ state }) => state === 'usual'));
    const { numbers } = detector.keep().history.columns.flow!;
    assert.ok(Math.max(...numbers) < 3, 'the next row has the newest value');
  });

  it('goes on at its pace after a restart, and tells of a new word at once', () => {
    const detector = known();
    const one = take(detector, all, LEARNED, LEARNED + 50);
    const restarted = new Detector(SETTINGS, structuredClone(detector.keep()));
    take(restarted, all, LEARNED + 50, LEARNED + 100);
    const steps = timesOf(restarted).slice(-18);
    assert.ok(steps.slice(1).every((time, i) => time - steps[i]! === 5));
    assert.ok(one.every(({ state }) => state === 'usual'));
    const word = { ...all[LEARNED + 101]!, mode: 'cleaning' };
    const [told] = take(restarted, [...all.slice(0, LEARNED + 101), word], LEARNED + 101);
    assert.deepEqual(
      told!.changes.map((change) => change.kind === 'new_state' && change.value),
      ['cleaning'],
    );
  });

  it('marks the rows of an alarm that began before they became fewer', () => {
    const detector = new Detector(SETTINGS, structuredClone(most));
    assert.equal(detector.keep().history.pace, undefined);
    const broken = all.map((cells, i) => (i >= MOST && i < 5940 ? { ...cells, pressure: 60 } : cells));
    take(detector, broken, MOST, 5950);
    const { id } = detector.episodes.at(-1)!;
    // The fit that is due makes the rows fewer.
    take(detector, all, 5950, 6500);
    assert.notEqual(detector.keep().history.pace, undefined);
    detector.confirm(id, 'real');
    const { marks } = detector.keep().history;
    const marked = timesOf(detector).filter((_, i) => marks[i] === 2);
    const { start, end } = detector.episodes.find((episode) => episode.id === id)!;
    const [first, last] = [start, end].map((time) => (time - BEGINS) / MINUTE) as [number, number];
    assert.ok(first >= MOST && last - first >= 35 && last < 6100, `from ${first} to ${last}`);
    assert.ok(Math.abs(marked[0]! - first) <= 5 && Math.abs(marked.at(-1)! - last) <= 5, marked.join());
  });

  it('takes over what a version without a pace has kept, and makes its rows fewer with the next fit', () => {
    const old = taughtWithoutPace();
    assert.ok(!('pace' in old.history));
    const detector = new Detector(SETTINGS, structuredClone(old));
    assert.equal(detector.rows, 6100);
    take(detector, all, 6100, 6500);
    assert.deepEqual(detector.keep().history.pace, { every: 5 * MINUTE, reading: MINUTE });
    assert.ok(detector.keep().history.times.length < 2000);
  });

  function taughtWithoutPace(): ReturnType<Detector['keep']> {
    const detector = new Detector(SETTINGS);
    all
      .slice(0, 6100)
      .forEach((cells, i) => detector.teach(BEGINS + i * MINUTE, new Map(Object.entries(cells))));
    return detector.keep();
  }
});

describe('a machine with ten readings a second', () => {
  it('spans what it has seen, at a pace that becomes slower', () => {
    const detector = new Detector({ ...SETTINGS, learn: 3000 });
    const random = seededRandom(5);
    // Its rows become fewer after 6,000 readings, and after 30,000.
    const count = 31_000;
    for (let i = 0; i < count; i++) {
      const load = Math.sin(i / 997);
      const cells = new Map(Object.entries({ load, heat: load + 0.1 * random() }));
      detector.take(BEGINS + i * 100, cells);
      fitIfDue(detector);
    }
    const { times, pace } = detector.keep().history;
    assert.ok(times.length <= 6000);
    assert.ok((times[0]! - BEGINS) / 100 < 50, 'from the first minute on');
    assert.deepEqual(pace, { every: 2500, reading: 100 });
  });
});

describe('an episode of which another sensor comes to the front', () => {
  const often = fitTail(Float64Array.from({ length: 1000 }, seededRandom(6)));
  const take = (one: AlarmPromise, row: number, front: string, named = [front], far = 9): void => {
    const off = named.map((column) => ({ column, off: far }));
    one.take({ row, time: BEGINS + row * 5 * MINUTE, rarity: 20, front, off }, () => `of ${row}`);
  };
  /** One of which the flow is off for long. */
  const promise = (off = ['flow']): AlarmPromise => {
    const one = new AlarmPromise(1);
    one.learned(often, 5 * MINUTE);
    for (let row = -HOLD_ROWS; row <= 0; row++) {
      take(one, row, 'flow', off);
    }
    return one;
  };

  it('is another one after 30 rows, however many readings come between two', () => {
    const one = promise();
    for (let reading = 0; reading < 100; reading++) {
      take(one, 1, 'speed');
    }
    assert.equal(one.current!.front, 'flow');
    for (let row = 2; row < HOLD_ROWS; row++) {
      take(one, row, 'speed');
    }
    assert.equal(one.current!.front, 'flow');
    take(one, HOLD_ROWS, 'speed');
    assert.equal(one.current!.front, 'speed');
  });

  it('goes on where unusual rows are few', () => {
    const one = promise();
    take(one, 1, 'speed');
    take(one, HOLD_ROWS, 'speed');
    assert.equal(one.current!.front, 'flow');
  });

  it('goes on where that sensor went off with the first one, also over a restart', () => {
    const one = promise(['flow', 'speed']);
    const restarted = new AlarmPromise(1, structuredClone(one.keep()));
    restarted.learned(often, 5 * MINUTE);
    for (let row = 1; row < 10 * HOLD_ROWS; row++) {
      take(one, row, 'speed');
      take(restarted, row, 'speed');
    }
    assert.equal(one.current!.front, 'flow');
    assert.equal(restarted.current!.front, 'flow');
  });

  it('is another one where that sensor is off twice as far as any was before', () => {
    const one = promise(['flow', 'speed']);
    for (let row = 1; row < 2 * HOLD_ROWS; row++) {
      take(one, row, 'speed', ['speed'], 17);
    }
    assert.equal(one.current!.front, 'flow');
    for (let row = 2 * HOLD_ROWS; row < 4 * HOLD_ROWS; row++) {
      take(one, row, 'speed', ['speed'], 35);
    }
    assert.equal(one.current!.front, 'speed');
  });

  it('is another one where that sensor went off only later', () => {
    const one = promise();
    take(one, 1, 'flow', ['flow', 'speed']);
    for (let row = 2; row < 2 * HOLD_ROWS; row++) {
      take(one, row, 'speed');
    }
    assert.equal(one.current!.front, 'speed');
  });
});

describe('the first hour of a machine with a reading a second', function () {
  this.timeout(60_000);

  /** Takes seconds of a motor. @returns for each alarm the sensor that it names first */
  function alarms(
    detector: Detector,
    from: number,
    readings: readonly Record<string, number>[],
  ): (string | undefined)[] {
    return readings.flatMap((cells, i) => {
      const time = MOTOR_BEGINS + (from + i) * SECOND;
      const { changes } = detector.take(time, new Map(Object.entries(cells)));
      fitIfDue(detector);
      return changes.flatMap((change) => (change.kind === 'alarm' ? [change.sensors[0]?.column] : []));
    });
  }

  const doubled = (readings: readonly Record<string, number>[]): Record<string, number>[] =>
    readings.map((cells) => ({ ...cells, current: 2 * cells.current! }));

  it('has no alarm where its load goes slowly where it has not been, and one where the current doubles', () => {
    const detector = new Detector(SETTINGS);
    const motor = simulatedMotor('swings in an hour', 1, 1800);
    assert.deepEqual(alarms(detector, 0, motor), []);
    assert.deepEqual(alarms(detector, motor.length, doubled(motor.slice(-30))), ['current']);
  });

  it('has an alarm where the current doubles after minutes of constant load', () => {
    for (const [seed, after] of [
      [67, 3000],
      [69, 3000],
      [56, 600],
    ] as const) {
      const detector = new Detector(SETTINGS);
      const motor = simulatedMotor('constant', seed, after + 60);
      assert.deepEqual(alarms(detector, 0, motor.slice(0, after)), []);
      assert.deepEqual(alarms(detector, after, doubled(motor.slice(after))), ['current'], `motor ${seed}`);
    }
  });
});

describe('the first day of machines with a reading each minute', function () {
  this.timeout(60_000);

  // With fits at 1.25 times the rows of the last, these three send six.
  it('has hardly an alarm, though they run for the first time after the first verdict', () => {
    const dayRows = 1440;
    let alarms = 0;
    for (const seed of [8202, 8204, 8205]) {
      const machine = simulatedMachine({ weeks: 1 / 7, seed, often: 5 });
      const detector = new Detector(SETTINGS);
      for (let row = 0; row < dayRows; row++) {
        const cells = new Map(Object.entries(cellsOf(machine, row)));
        const { changes } = detector.take(BEGINS + row * MINUTE, cells);
        alarms += changes.filter(({ kind }) => kind === 'alarm').length;
        fitIfDue(detector);
      }
    }
    assert.ok(alarms <= 4, `${alarms} alarms`);
  });
});

describe('fits of the first hour', function () {
  this.timeout(60_000);

  it('wait while an alarm is under way, and are told of after a quarter more readings', () => {
    const detector = new Detector(SETTINGS);
    const motor = simulatedMotor('constant', 67, 1300);
    const fits: number[] = [];
    const told: number[] = [];
    let isUnusualAtLast = false;
    for (let i = 0; i < 1300; i++) {
      const cells = i < 800 ? motor[i]! : { ...motor[i], current: 2 * motor[i]!.current! };
      const { state } = detector.take(MOTOR_BEGINS + i * SECOND, new Map(Object.entries(cells)));
      isUnusualAtLast = state === 'unusual';
      const task = detector.claim() ? detector.task() : undefined;
      if (task !== undefined) {
        fits.push(task.taken);
        const learned = detector.learned(learn(task)).filter(({ kind }) => kind === 'learned');
        told.push(...learned.map(() => task.taken));
      }
    }
    assert.ok(
      fits.filter((rows) => rows < 800).length >= 9 && fits.at(-1)! < 800,
      `fits at ${fits.join(', ')}`,
    );
    assert.deepEqual(told, [300, 401, 536, 714]);
    assert.ok(isUnusualAtLast);
  });
});

describe('episodes of the first days', () => {
  const HOUR_ROWS = 12;
  const hour = 12 * 5 * MINUTE;
  const often = fitTail(Float64Array.from({ length: 1000 }, seededRandom(6)));

  /** Alarms a week after each other, as large as the first fits took them for. */
  function promise(): AlarmPromise {
    const one = new AlarmPromise(1);
    one.learned(often, 5 * MINUTE);
    for (const [row, rarity] of [
      [0, 50],
      [10 * HOUR_ROWS, 60],
      [20 * HOUR_ROWS, 70],
    ] as const) {
      one.take({ row, time: BEGINS + (row / HOUR_ROWS) * hour, rarity, front: 'flow' }, () => `at ${row}`);
    }
    return one;
  }
  const later = (one: AlarmPromise, day: number, rarity: number): boolean => {
    const row = day * 24 * HOUR_ROWS;
    return (
      one.take({ row, time: BEGINS + day * 24 * hour, rarity, front: 'speed' }, () => 'later').alarm !==
      undefined
    );
  };
  /** What the first fit that knows two weeks says: hardly unusual. */
  const rarities = new Float64Array(16 * 24 * HOUR_ROWS).fill(20);

  it('stand in the way of alarms as far as the first fit that knows two weeks finds them rare', () => {
    assert.equal(later(promise(), 17, 30), false);
    const one = promise();
    one.measureAnew(0, rarities);
    assert.equal(later(one, 17, 30), true);
  });

  it('are measured anew once, also over a restart', () => {
    const one = promise();
    one.measureAnew(0, rarities.subarray(0, 11));
    const restarted = new AlarmPromise(1, structuredClone(one.keep()));
    restarted.learned(often, 5 * MINUTE);
    restarted.measureAnew(0, rarities);
    assert.equal(later(restarted, 17, 30), false);
  });
});

describe('how rare an alarm must be', () => {
  const often = fitTail(Float64Array.from({ length: 1000 }, seededRandom(6)));
  const onceIn = (rows: number): number => valueOfRarity(often, Math.log10(rows));
  const level = (step: number, rows: number): number => {
    const one = new AlarmPromise(1);
    one.learned(often, step, rows);
    return one.level;
  };

  it('is at most a hundred times what is known: 150 s do not tell what comes once in a week', () => {
    assert.equal(level(100, 1500), onceIn(150_000));
    assert.equal(level(1000, 300), onceIn(30_000));
  });

  it('is what was asked for as soon as a hundredth of it is known', () => {
    assert.equal(level(MINUTE, 300), onceIn(10_080));
    assert.equal(level(5 * MINUTE, 300), onceIn(2016));
  });
});
