import assert from 'node:assert/strict';

import fc from 'fast-check';

import { describeNumber, describeState, difference, EXACT, LEGIBLE, Track } from '../../doors/series';

const NAMES = ['change', 'mean', 'spread'];

type Readings = [time: number, value: number][];

/** Windows by their definition: the step function of the readings, integrated piece by piece. */
function byDefinition(readings: Readings, time: number, windows: number[]): number[] {
  const own = readings.filter(([at]) => at <= time);
  const longest = windows.at(-1)!;
  const cells = new Array<number>(3 + 3 * windows.length).fill(NaN);
  if (own.length === 0 || time - own.at(-1)![0] > longest) {
    return cells;
  }
  const now = own.at(-1)![1];
  cells[0] = now;
  windows.forEach((window, k) => {
    const edge = time - window;
    const first = own.findLastIndex(([at]) => at <= edge);
    const next = own[first + 1]?.[0] ?? time;
    if (first < 0 || next - own[first]![0] > window) {
      return;
    }
    let [integral, squares] = [0, 0];
    const pieces = own.slice(first).map(([at, value], i, all) => {
      const end = all[i + 1]?.[0] ?? time;
      return { length: end - Math.max(at, edge), value };
    });
    pieces.forEach(({ length, value }) => (integral += length * value));
    const mean = integral / window;
    pieces.forEach(({ length, value }) => (squares += length * (value - mean) ** 2));
    cells.splice(1 + 3 * k, 3, now - own[first]![1], mean - now, Math.sqrt(squares / window));
    if (k === windows.length - 1) {
      const values = pieces.map(({ value }) => value);
      cells.splice(4 + 3 * k, 2, Math.min(...values) - now, Math.max(...values) - now);
    }
  });
  return cells;
}

function trackOf(readings: Readings, longest: number): Track {
  const track = new Track(longest);
  for (const [time, value] of readings) {
    track.put(time, value);
  }
  return track;
}

function cellsOf(track: Track, time: number, windows: number[]): number[] {
  const out = new Float64Array(3 + 3 * windows.length).fill(NaN);
  describeNumber(track, time, out, { windows, ...EXACT });
  return [...out];
}

function assertClose(actual: number[], expected: number[], relative: number): void {
  actual.forEach((value, i) => {
    const wanted = expected[i]!;
    const same = Number.isNaN(wanted) ? Number.isNaN(value) : Math.abs(value - wanted) <= relative;
    assert.ok(same, `${NAMES[(i - 1) % 3]} (cell ${i}): ${value}, by definition ${wanted}`);
  });
}

const steps = fc.array(
  fc.tuple(fc.integer({ min: 1, max: 600_000 }), fc.double({ min: -1000, max: 1000, noNaN: true })),
  { minLength: 1, maxLength: 120 },
);

function readingsOf(gaps: Readings): Readings {
  let time = 1_700_000_000_000;
  return gaps.map(([gap, value]) => [(time += gap), value]);
}

describe('windows of a number', () => {
  const windows = [600_000, 3_600_000];

  it('are the integral of a value that holds until the next reading, to 1e-9 (report by exception)', () => {
    fc.assert(
      fc.property(steps, fc.nat(1000), (gaps, pick) => {
        const readings = readingsOf(gaps);
        const time = readings[pick % readings.length]![0];
        const track = trackOf(readings, 3_600_000);
        assertClose(cellsOf(track, time, windows), byDefinition(readings, time, windows), 1e-9 * 1000);
      }),
    );
  });

  it('are the same whatever order the readings came in, after pruning too', () => {
    fc.assert(
      fc.property(steps, fc.infiniteStream(fc.nat()), (gaps, random) => {
        const readings = readingsOf(gaps);
        const shuffled = readings
          .map((reading) => ({ reading, at: random.next().value as number }))
          .sort((a, b) => a.at - b.at)
          .map(({ reading }) => reading);
        const pruned = trackOf(readings, 3_600_000);
        const time = readings.at(-1)![0];
        pruned.prune(time);
        const cells = cellsOf(trackOf(readings, 3_600_000), time, windows);
        assert.deepEqual(cellsOf(trackOf(shuffled, 3_600_000), time, windows), cells);
        assert.deepEqual(cellsOf(pruned, time, windows), cells);
      }),
    );
  });

  it('of more readings than are held one by one are right within a hundredth of their spread', () => {
    const readings: Readings = Array.from({ length: 20_000 }, (_, i) => [
      1_700_000_000_000 + i * 500 + ((i * 7919) % 311),
      50 + 10 * Math.sin(i / 900) + ((i * 104_729) % 97) / 97,
    ]);
    const long = [600_000, 3_600_000, 7_200_000];
    const all = trackOf(readings, 7_200_000);
    const pruned = new Track(7_200_000);
    let held = 0;
    for (const [i, [time, value]] of readings.entries()) {
      pruned.put(time, value);
      if (i % 64 === 0) {
        pruned.prune(time - 60_000);
        held = Math.max(held, pruned.numbers);
      }
      if (i % 1777 === 0 || i === readings.length - 1) {
        const cells = cellsOf(pruned, time, long);
        assert.deepEqual(cells, cellsOf(all, time, long), `reading ${i}`);
        const wanted = byDefinition(readings, time, long);
        // A change is that from a single reading, of which a block knows the mean.
        assertClose(cells, wanted.with(4, cells[4]!).with(7, cells[7]!).with(1, cells[1]!), 0.1);
      }
    }
    assert.ok(held < 6000, `${held} numbers are held of 20,000 readings`);
    const [time] = readings.at(-3)!;
    all.put(time + 1, 77);
    const again = trackOf([...readings.slice(0, -2), [time + 1, 77], ...readings.slice(-2)], 7_200_000);
    const last = readings.at(-1)![0];
    assert.deepEqual(cellsOf(all, last, long), cellsOf(again, last, long), 'a late reading');
  });

  it('are missing where they begin before the first reading or in a longer silence, never bridged', () => {
    const minute = 60_000;
    const start = 1_700_000_000_000;
    const before: Readings = Array.from({ length: 90 }, (_, i) => [start + i * minute, i]);
    const resumed = start + 89 * minute + 120 * minute;
    const after: Readings = Array.from({ length: 90 }, (_, i) => [resumed + i * minute, i]);
    const track = trackOf([...before, ...after], 3_600_000);
    const missing = (time: number): string =>
      cellsOf(track, time, windows)
        .map((value) => (Number.isNaN(value) ? '-' : 'x'))
        .join('');
    assert.equal(missing(start), 'x--------');
    assert.equal(missing(start + 10 * minute), 'xxxx-----');
    assert.equal(missing(start + 60 * minute), 'xxxxxxxxx');
    assert.equal(missing(resumed), 'x--------');
    assert.equal(missing(resumed + 9 * minute), 'x--------');
    assert.equal(missing(resumed + 10 * minute), 'xxxx-----');
    assert.equal(missing(resumed + 59 * minute), 'xxxx-----');
    assert.equal(missing(resumed + 60 * minute), 'xxxxxxxxx');
    assert.equal(missing(start + 89 * minute + 61 * minute), '---------', 'now is too old as well');
  });
});

describe('the difference of two values', () => {
  it('of decimal numbers is the decimal number', () => {
    assert.equal(difference(18.28, 20.1), -1.82);
    assert.notEqual(18.28 - 20.1, -1.82);
    const cents = fc.integer({ min: -10_000_000, max: 10_000_000 });
    fc.assert(
      fc.property(cents, cents, fc.integer({ min: 0, max: 6 }), (a, b, decimals) => {
        const power = 10 ** decimals;
        assert.equal(difference(a / power, b / power), (a - b) / power);
      }),
    );
  });

  it('of any numbers is right to twelve digits of the larger, and nothing where one is missing', () => {
    const any = fc.double({ noNaN: true, noDefaultInfinity: true });
    fc.assert(
      fc.property(any, any, (a, b) => {
        const found = difference(a, b);
        assert.ok(Math.abs(found - (a - b)) <= 5e-12 * Math.max(Math.abs(a), Math.abs(b)) || found === a - b);
      }),
    );
    assert.equal(difference(61 / 3, 18.2), 2.1333333333);
    assert.ok(Number.isNaN(difference(NaN, 1)));
    assert.ok(Number.isNaN(difference(1, NaN)));
  });
});

describe('the mean of readings, as it is written', () => {
  it('has six digits of its own, and whole numbers at least', () => {
    const { mean, less } = LEGIBLE;
    assert.equal(mean(194.07401222786697), 194.074);
    assert.equal(mean(less(20.40791666667, 20)), 0.407917);
    assert.equal(mean(0.5510594278801113), 0.551059);
    assert.equal(mean(-12_345_678.4), -12_345_678);
    assert.equal(mean(0), 0);
    assert.ok(Number.isNaN(mean(NaN)));
    assert.equal(EXACT.mean(0.5510594278801113), 0.5510594278801113);
  });
});

describe('windows of a state', () => {
  const longest = 3_600_000;
  const stateOf = (track: Track, time: number): number[] => {
    const out = new Float64Array(3).fill(NaN);
    describeState(track, time, out, longest);
    return [...out];
  };

  it('say for how long it has been so and how often it changed', () => {
    const minute = 60_000;
    const track = trackOf(
      [
        [0, 1],
        [minute, 1],
        [2 * minute, 2],
        [3 * minute, 2],
        [10 * minute, 1],
        [11 * minute, 1],
      ],
      longest,
    );
    assert.deepEqual(stateOf(track, 11 * minute), [1, 60, 2]);
    assert.deepEqual(stateOf(track, 3 * minute), [2, 60, 1]);
    assert.deepEqual(stateOf(track, 63 * minute), [1, 3180, 1], 'the first change has left the hour');
    assert.deepEqual(stateOf(track, 71 * minute), [1, 3600, 0]);
    assert.deepEqual(stateOf(track, 72 * minute), [NaN, NaN, NaN]);
  });

  it('count the same of many readings as of the few that change something', () => {
    const readings: Readings = Array.from({ length: 8000 }, (_, i) => [i * 1000, Math.floor(i / 700) % 2]);
    const time = readings.at(-1)![0];
    const track = trackOf(readings, longest);
    assert.deepEqual(stateOf(track, time), [1, 299, 5]);
    track.prune(time);
    assert.deepEqual(stateOf(track, time), [1, 299, 5]);
    const constant = trackOf(
      readings.map(([at]) => [at, 1]),
      longest,
    );
    assert.deepEqual(stateOf(constant, time), [1, 3600, 0]);
  });
});
