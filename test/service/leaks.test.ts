import assert from 'node:assert/strict';

import type { ModelCard, Tabular } from '../../dist/src';
import { connectShared } from './shared';

type Row = Record<string, string | number | boolean>;

/** The same numbers from 0 to 1 each time. */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return state / 2147483648;
  };
}

/** A milling machine as in a well-known table: it fails where one of four rules says so, each in a column of its own. */
function milling(count: number): Row[] {
  const next = numbers(7);
  return Array.from({ length: count }, (_, i) => {
    const air = 295 + 10 * next();
    const process = air + 8 + 4 * next();
    const speed = Math.round(1200 + 1500 * next() ** 2);
    const torque = 15 + 50 * next();
    const wear = Math.round(240 * next());
    const power = (torque * speed * 2 * Math.PI) / 60;
    const twf = wear > 215 && next() < 0.15;
    const hdf = process - air < 8.6 && speed < 1380 && next() < 0.6;
    const pwf = (power < 3000 || power > 11000) && next() < 0.3;
    const osf = wear * torque > 12000 && next() < 0.6;
    const random = next() < 0.001;
    return {
      UDI: i + 1,
      'Product ID': `${'LMH'[i % 3]!}${14860 + i}`,
      Type: 'LMH'[i % 3]!,
      Air_temperature: Math.round(air * 10) / 10,
      Process_temperature: Math.round(process * 10) / 10,
      Rotational_speed: speed,
      Torque: Math.round(torque * 10) / 10,
      Tool_wear: wear,
      Machine_failure: twf || hdf || pwf || osf || next() < 0.0005 ? 1 : 0,
      TWF: twf ? 1 : 0,
      HDF: hdf ? 1 : 0,
      PWF: pwf ? 1 : 0,
      OSF: osf ? 1 : 0,
      RNF: random ? 1 : 0,
    };
  });
}

describe('doubts about columns that tell the target', function () {
  this.timeout(120_000);
  let tabular: Tabular;

  before(async () => {
    tabular = await connectShared();
  });

  after(() => tabular.close());

  const fit = async (
    table: Row[],
    target: string,
    ignore: string[] = [],
    relativeTo?: string,
  ): Promise<ModelCard> => {
    const warnings: string[] = [];
    const card = await tabular.train({
      ...{ table, target, ignore, relativeTo, model: `${target} without ${ignore.join()}` },
      task:
        typeof table[0]![target] === 'number' && target !== 'Machine_failure'
          ? 'regression'
          : 'classification',
      options: { n_estimators: 3 },
      onWarning: (text) => warnings.push(text),
    });
    for (const doubt of card.doubts ?? []) {
      assert.ok(warnings.includes(doubt), doubt);
    }
    return card;
  };

  it('names the few columns that are the answer together, and those that number the rows', async () => {
    const rows = milling(2000);
    const card = await fit(rows, 'Machine_failure');
    const [together, ids] = card.doubts!;
    assert.match(
      together!,
      /^The columns (?:"[A-Z]{3}"(?:, | and )?){4} together predict the target almost perfectly/,
    );
    assert.match(ids!, /^The columns "UDI" and "Product ID" number or name the rows/);
    assert.deepEqual(card.doubted_columns!.toSorted(), ['HDF', 'OSF', 'PWF', 'Product ID', 'TWF', 'UDI']);
    assert.equal(card.versions[0]!.doubted, true);

    const honest = await fit(rows, 'Machine_failure', card.doubted_columns);
    assert.equal(honest.doubted_columns, undefined);
    assert.equal(
      honest.doubts?.some((doubt) => doubt.includes('target')) ?? false,
      false,
      honest.doubts?.join(),
    );
  });

  it('does not say of a number of the rows that it tells nothing where the model rests on it', async () => {
    const next = numbers(17);
    const numbersTaken = Array.from({ length: 3000 }, (_, i) => i + 1).sort(() => next() - 0.5);
    const rows = numbersTaken.slice(0, 300).map((id): Row => {
      const size = next();
      return { customer_id: id, size, other: next(), years: 10 - id / 1500 + 2 * size + next() };
    });
    const [doubt] = (await fit(rows, 'years')).doubts!;
    assert.match(doubt!, /^The column "customer_id" numbers or names the rows, and the model rests on it: /);
    const idle = rows.map((row) => ({ ...row, years: Number(row.size) + next() / 5 }));
    assert.match((await fit(idle, 'years')).doubts![0]!, /do not recur, so nothing in it holds for new rows/);
  });

  it('names a copy of the target beside noise, of numbers in another unit too', async () => {
    const next = numbers(3);
    const rows = Array.from({ length: 300 }, (): Row => {
      const power = Math.round(1000 * next()) / 10;
      return { a: next(), b: next(), c: next(), watts: power * 1000, power };
    });
    const card = await fit(rows, 'power');
    assert.match(card.doubts![0]!, /^The column "watts" holds the target in other words/);
    assert.deepEqual(card.doubted_columns, ['watts']);
    const labels = rows.map((row) => ({
      ...row,
      watts: 0,
      power: 0,
      state: Number(row.power) > 50 ? 'hot' : 'fine',
      on: Number(row.power) > 50 ? 1 : 0,
    }));
    assert.deepEqual((await fit(labels, 'state')).doubted_columns, ['on']);
  });

  it('names a column called like the target, but not what the target was before', async () => {
    const next = numbers(5);
    let before = 20;
    const rows = Array.from({ length: 400 }, (): Row => {
      const price = before * 0.8 + 10 * next();
      const row = { size: next(), price_per_piece: price / 3 + 0.6 * next(), price };
      before = price;
      return row;
    });
    assert.deepEqual((await fit(rows, 'price')).doubted_columns, ['price_per_piece']);
    const lagged = rows.map(({ price_per_piece: value, ...row }) => ({ ...row, price_yesterday: value! }));
    assert.equal((await fit(lagged, 'price')).doubted_columns, undefined);
  });

  it('says nothing of a sensor that goes on as it did', async () => {
    const next = numbers(13);
    const rows = Array.from({ length: 400 }, (): Row => {
      const [vibration, temperature, change] = [5 + next(), next(), next() - 0.5];
      const noise = { load: next(), room: next(), current: next() };
      const row = { vibration, temperature, 'vibration change 10m': change, ...noise };
      return { ...row, 'vibration in 10m': vibration + change + temperature + next() / 50 };
    });
    const card = await fit(rows, 'vibration in 10m', [], 'vibration');
    assert.ok(card.scores!.r2! > 0.99);
    assert.equal(card.doubts, undefined);
  });

  it('says nothing of an honest table', async () => {
    const next = numbers(11);
    const rows = Array.from({ length: 400 }, (): Row => {
      const [load, speed, heat] = [next(), next(), next()];
      return {
        load,
        speed,
        heat,
        room: next(),
        shift: next(),
        machine: `m${Math.floor(3 * next())}`,
        wear: load * speed + heat + next() / 3,
      };
    });
    assert.equal((await fit(rows, 'wear')).doubts, undefined);
  });
});
