import { strict as assert } from 'node:assert';

import { readBatches } from '../../../dist/src/program-table';
import { openTable } from '../../../dist/src/table';
import { stabilityIndex } from '../../doors/metrics';
import {
  driftBin,
  driftBins,
  driftOfNumbers,
  type Reference,
  TrainSetComparison,
  type Unlike,
} from '../../doors/scoring';
import { seededRandom } from '../../doors/util';

const TRAIN = 400;
const DAY = Date.UTC(2026, 0, 1);

/** A pump: its pressure follows its speed; two fluids; temperature now and then missing. */
function reference(): Reference {
  const random = seededRandom(5);
  const rows = Array.from({ length: TRAIN }, (_, row) => {
    const speed = 1000 + 500 * random();
    const heat = random() < 0.1 ? null : 40 + 10 * random();
    return [
      DAY + row * 60_000,
      speed,
      speed / 100 + 0.2 * random(),
      heat,
      row % 3 === 0 ? 'oil' : 'glycol',
      7,
    ];
  });
  const number = (at: number): Reference['usual'][0] => {
    const sorted = rows
      .map((row) => row[at] as number)
      .filter((value) => value !== null)
      .sort((a, b) => a - b);
    const q = (level: number): number => sorted[Math.floor(level * (sorted.length - 1))]!;
    const [min, max] = [q(0), q(1)];
    return {
      kind: 'number',
      q05: q(0.05),
      q10: q(0.1),
      median: q(0.5),
      q90: q(0.9),
      q95: q(0.95),
      min,
      max,
      missing: 0,
    };
  };
  return {
    columns: [
      { name: 'time', type: 'date' },
      { name: 'speed', type: 'number' },
      { name: 'pressure', type: 'number' },
      { name: 'heat', type: 'number' },
      { name: 'fluid', type: 'text' },
      { name: 'line', type: 'integer' },
    ],
    rows,
    usual: [
      number(0),
      number(1),
      number(2),
      number(3),
      { kind: 'category', categories: ['glycol', 'oil'], complete: true, missing: 0 },
      number(5),
    ],
    drift: [],
  };
}

const USUAL = { time: DAY + 1e9, speed: 1200, pressure: 12.1, heat: 45, fluid: 'oil', line: 7 };

describe('rows compared with the train set', () => {
  const pump = reference();
  const names = pump.columns.map(({ name }) => name);
  const compared = async (rows: object[]): Promise<Unlike[]> => {
    const comparison = (await TrainSetComparison.of(pump))!;
    const result: Unlike[] = [];
    const source = await openTable(rows);
    for await (const batch of readBatches(source, pump.columns, { missingColumns: 'fill' })) {
      result.push(...(await comparison.compare(names, batch)));
    }
    return result;
  };

  it('rank low when they are like it, though they are later than all of it', async () => {
    const [like] = await compared([USUAL]);
    assert.ok(like!.rank < 0.8, String(like!.rank));
    assert.deepEqual([like!.columns, like!.new], [[], []]);
  });

  it('rank high when columns do not go together, each in its range; the columns are named', async () => {
    const [parted] = await compared([{ ...USUAL, speed: 1450, pressure: 10.5 }]);
    assert.ok(parted!.rank > 0.95, String(parted!.rank));
    assert.deepEqual([...parted!.columns].sort(), ['pressure', 'speed']);
    assert.deepEqual(parted!.new, []);
  });

  it('have what was never seen named: categories, values out of range, another value of a constant', async () => {
    const [odd] = await compared([{ ...USUAL, fluid: 'sea water', heat: 90.5, line: 8 }]);
    assert.deepEqual(odd!.new, ['heat: 90.5', 'fluid: sea water', 'line: 8']);
    assert.ok(odd!.rank > 0.99);
    assert.deepEqual(new Set(odd!.columns), new Set(['heat', 'fluid', 'line']));
  });

  it('rank higher the further they are, without end, and missing values count as different from present ones', async () => {
    const [one, two, three, missing] = await compared([
      { ...USUAL, fluid: 'tar' },
      { ...USUAL, fluid: 'tar', line: 8 },
      { ...USUAL, fluid: 'tar', line: 8, heat: 1e9 },
      { ...USUAL, speed: null, pressure: null },
    ]);
    assert.ok(one!.rank < two!.rank && two!.rank < three!.rank && three!.rank < 1);
    assert.ok(missing!.rank > 0.99);
    assert.deepEqual(missing!.new, []);
  });

  it('rank higher where a column leaves what the others say of it than where all follow a load never seen', async () => {
    const random = seededRandom(11);
    const sensors = [1, -2, 0.5, 3, -1, 2];
    const rowAt = (load: number): number[] =>
      sensors.map((slope) => slope * load + 0.05 * Math.abs(slope) * (random() - 0.5));
    const train = Array.from({ length: TRAIN }, () => rowAt(random()));
    const own: Reference = {
      columns: sensors.map((_, at) => ({ name: `s${at}`, type: 'number' })),
      rows: train,
      usual: sensors.map((_, at) => {
        const sorted = train.map((row) => row[at]!).sort((a, b) => a - b);
        const q = (level: number): number => sorted[Math.floor(level * (TRAIN - 1))]!;
        return {
          kind: 'number',
          ...{ q05: q(0.05), q10: q(0.1), median: q(0.5), q90: q(0.9), q95: q(0.95) },
          ...{ min: q(0), max: q(1), missing: 0 },
        };
      }),
      drift: [],
    };
    const broken = rowAt(0.5);
    broken[3]! += 0.5;
    const [lone, follows, breaks] = await (async () => {
      const comparison = (await TrainSetComparison.of(own))!;
      const rows = [rowAt(0.5), rowAt(1.04), broken].map((row) =>
        Object.fromEntries(row.map((value, at) => [`s${at}`, value])),
      );
      for await (const batch of readBatches(await openTable(rows), own.columns)) {
        return comparison.compare(
          own.columns.map(({ name }) => name),
          batch,
        );
      }
      return [];
    })();
    assert.ok(lone!.rank < 0.9, String(lone!.rank));
    assert.ok(breaks!.rank > follows!.rank, `${breaks!.rank} is not above ${follows!.rank}`);
    assert.equal(breaks!.columns[0], 's3');
  });

  it('of the train set itself are spread evenly over the ranks', async () => {
    const rows = pump.rows.map((row) => Object.fromEntries(names.map((name, at) => [name, row[at]])));
    const ranks = (await compared(rows)).map(({ rank }) => rank);
    // A row is nearer to itself than to any other, so they rank a little lower than rows to come.
    const mean = ranks.reduce((sum, rank) => sum + rank / ranks.length, 0);
    assert.ok(mean > 0.2 && mean < 0.55, String(mean));
  });

  it('are compared with few rows too, and not at all with none', async () => {
    const few = (await TrainSetComparison.of({ ...pump, rows: pump.rows.slice(0, 3) }))!;
    const source = await openTable([USUAL]);
    for await (const batch of readBatches(source, pump.columns)) {
      const [row] = await few.compare(names, batch);
      assert.ok(row!.rank >= 0 && row!.rank <= 1);
    }
    assert.equal(await TrainSetComparison.of({ columns: [], rows: [], usual: [], drift: [] }), undefined);
  });
});

describe('thresholds of drift', () => {
  const driftOf = (values: Float64Array) => {
    const drift = driftOfNumbers(values, values.slice().sort(), 'whole');
    const indexOf = (window: Float64Array): number => {
      const counts = new Float64Array(driftBins(drift));
      for (const value of window) {
        counts[driftBin(drift, value)]!++;
      }
      return stabilityIndex(drift.shares, counts);
    };
    return { drift, indexOf };
  };

  const wander = (seed: number, alike: number): Float64Array => {
    const random = seededRandom(seed);
    let value = 0;
    return Float64Array.from({ length: 8000 }, () => {
      value = alike * value + Math.sqrt(1 - alike ** 2) * (random() + random() + random() - 1.5) * 2;
      return value;
    });
  };

  it('are passed by few windows of a series that goes on as it was, and by most after a shift of two spreads', () => {
    for (const alike of [0, 0.95]) {
      let [over, found, windows] = [0, 0, 0];
      for (let seed = 1; seed <= 20; seed++) {
        const values = wander(seed, alike);
        const { drift, indexOf } = driftOf(values.slice(0, 4000));
        for (let at = 4000; at < 8000; at += 200) {
          const window = values.slice(at, at + 200);
          windows++;
          over += indexOf(window) > drift.threshold! ? 1 : 0;
          found += indexOf(window.map((value) => value + 2)) > drift.threshold! ? 1 : 0;
        }
      }
      assert.ok(over / windows <= 0.04, `${over} of ${windows} without drift`);
      assert.ok(found / windows >= 0.93, `${found} of ${windows} after a shift`);
    }
  });

  it('notice that a constant has changed', () => {
    const { drift, indexOf } = driftOf(new Float64Array(4000).fill(7));
    assert.equal(indexOf(new Float64Array(200).fill(7)), 0);
    assert.ok(indexOf(new Float64Array(200).fill(7.5)) > drift.threshold!);
    assert.ok(indexOf(new Float64Array(200).fill(6)) > drift.threshold!);
  });
});
