import { strict as assert } from 'node:assert';

import type { PredictOutcome, TrainRequest } from '../../../dist/src/connection';
import { type Bench, bench, codeOf } from './stand-in';

/** A year of hourly readings, some of them without a value. */
function readings(rows: number): Record<string, unknown>[] {
  return Array.from({ length: rows }, (_, row) => ({
    t: new Date(Date.UTC(2024, 0, 1, row)).toISOString(),
    state: row % 10 === 3 ? 'unavailable' : 20 + (row % 7) / 2,
    kwh: row % 8 === 5 ? null : 1.5 * (row % 24) + row / 1000,
  }));
}

describe('A train set with gaps', () => {
  let at: Bench;
  let warnings: string[];
  beforeEach(async () => {
    at = await bench();
    warnings = [];
  });
  afterEach(() => at.close());

  const train = (table: unknown, request: Partial<TrainRequest> = {}) =>
    at.connection.train(
      { table: { value: table }, target: 'kwh', model: 'meter', timezone: 'UTC', ...request },
      { onWarning: (text) => warnings.push(text) },
    );
  const sent = (id: string, part: 'x' | 'y') => at.service.rowsOf(id, part);

  it('is fitted without the rows that have no target, and says so once', async () => {
    const { card } = await train(readings(80), { missingWords: ['unavailable'] });
    assert.equal(card.rows, 70);
    assert.deepEqual(card.cleaned, {
      rows_left_out: 10,
      cells_missing: { state: 8 },
      types: { t: 'date', state: 'number', kwh: 'number' },
    });
    assert.deepEqual(warnings, [
      '10 of 80 rows have no target "kwh" and were left out.',
      'Cells taken as missing: "state" 8.',
    ]);
    assert.equal((await sent(card.train_set_upload_id, 'x')).length, 70);
    const y = await sent(card.train_set_upload_id, 'y');
    assert.ok(y.every((row) => typeof row.kwh === 'number'));
    assert.equal(card.doubts, undefined);
  });

  it('names a number that seems to mean that a value is missing, and none that was measured', async () => {
    const next = (row: number, of: number): number => ((row * 7919) % of) / 10;
    // The air quality of UCI has -200 in each column, some of them with wide ranges.
    const rows = Array.from({ length: 300 }, (_, row) => ({
      ...{ CO: row % 6 === 1 ? -200 : next(row, 119), NOx: row % 6 === 1 ? -200 : 20 * next(row, 739) },
      ...{ outside: -30 + next(row, 550), code: row % 5 === 0 ? -1 : row % 3, depth: -10 * (row % 7) },
      kwh: row / 10,
    }));
    const { card } = await train(rows, { order: 'none', target: 'kwh' });
    const told = warnings.filter((warning) => warning.includes('Missing words'));
    assert.equal(told.length, 1, told.join('\n'));
    assert.match(
      told[0]!,
      /^The columns "CO", "NOx" hold -200, in some 17 % of the rows of "CO", far from .* \(0 to 11\.8\)\./,
    );
    assert.ok(!card.doubts?.includes(told[0]!));
    const doubts = (await train(rows, { order: 'none', target: 'CO', task: 'regression' })).card.doubts ?? [];
    assert.ok(doubts.includes(told[0]!.replace('"CO", "NOx"', '"NOx", "CO"')), doubts.join('\n'));
    warnings = [];
    await train(rows, { order: 'none', missingWords: ['-200'] });
    assert.ok(warnings.every((warning) => !warning.includes('hold')));
    const days = rows.map(({ kwh }, row) => ({ pdays: row % 10 > 0 ? 999 : row % 22, kwh }));
    await train(days, { order: 'none' });
    assert.match(warnings.join('\n'), /The column "pdays" holds 999, in some 90 % of the rows, far from /);
  });

  it('keeps X, y and the rows held back together', async () => {
    const rows = readings(200).map(({ kwh }, n) => ({ n, kwh: kwh === null ? null : n * 2 }));
    const { card } = await train(rows, { holdout: 20, order: 'none' });
    assert.equal(card.cleaned?.rows_left_out, 25);
    assert.equal(card.rows, 140);
    const [x, y] = [await sent(card.train_set_upload_id, 'x'), await sent(card.train_set_upload_id, 'y')];
    assert.deepEqual(
      x.map((row) => Number(row.n) * 2),
      y.map((row) => Number(row.kwh)),
    );
  });

  it('is refused where rows without a target are an error, and where no row has one', async () => {
    assert.equal(await codeOf(train(readings(80), { missingTarget: 'error' })), 'table.invalid');
    const none = readings(20).map((row) => ({ ...row, kwh: null }));
    await assert.rejects(train(none), /The target "kwh" is missing in all 20 rows/);
  });

  it('is refused for a target that cannot be read too, whatever becomes of other cells', async () => {
    const rows = readings(80).map(({ kwh }, n) => ({ n: n === 9 ? 'broken' : n, kwh: kwh ?? 1 }));
    const choices = { unreadable: 'missing', types: { n: 'number', kwh: 'number' } } as const;
    const broken = rows.map((row, n) => (n === 5 ? { ...row, kwh: 'no signal' } : row));
    await assert.rejects(train(broken, { ...choices, missingTarget: 'error' }), {
      code: 'table.invalid',
      message: /Column "kwh", row 6: "no signal"/,
    });
    const { card } = await train(rows, { ...choices, missingTarget: 'error' });
    assert.deepEqual(card.cleaned?.cells_missing, { n: 1 });
    const left = await train(broken, choices);
    assert.deepEqual([left.card.rows, left.card.cleaned?.rows_left_out], [79, 1]);
    for (const cell of [{ deep: 1 }, Object.create(null)]) {
      const nested = rows.map((row, n) => (n === 5 ? { ...row, kwh: cell } : row));
      assert.equal(
        await codeOf(train(nested, { unreadable: 'missing', missingTarget: 'error' })),
        'table.invalid',
      );
      assert.equal((await train(nested, { unreadable: 'missing' })).card.rows, 79);
    }
  });

  it('names the words that make its target classes beyond the limit', async () => {
    await at.close();
    at = await bench({
      limits: {
        max_model_limit: { max_classes: 10 },
        model_limits: {},
        dataset_max_size_bytes: 1e9,
      },
    });
    const rows = Array.from({ length: 600 }, (_, n) => ({ n, kwh: n === 76 ? 'no signal' : n * 1.25 }));
    await assert.rejects(
      train(rows),
      /at most 10 classes, and this has 600.*1 of its 600 cells does not read as numbers: "no signal" \(row 77\).*Missing words/,
    );
    const { card } = await train(rows, { missingWords: ['no signal'] });
    assert.deepEqual([card.task, card.rows], ['regression', 599]);
  });

  it('tells of few rows, and of a target that looks like an id', async () => {
    const { card } = await train([
      { n: 1, kwh: 'ten' },
      { n: 2, kwh: '9' },
      { n: 3, kwh: '7' },
      { n: 4, kwh: '4' },
    ]);
    assert.equal(card.doubts?.length, 2);
    assert.match(card.doubts[0]!, /"kwh" has 4 different values in 4 rows, so it looks like an id/);
    assert.match(card.doubts[1]!, /4 rows, too few/);
    assert.deepEqual(warnings.slice(-2), card.doubts);
  });

  it('tells of a target of numbers that is text', async () => {
    const text = Array.from({ length: 60 }, (_, n) => ({ n, kwh: `${n % 20}.50` }));
    assert.match((await train(text)).card.doubts?.[0] ?? '', /"kwh" is text that reads as numbers/);
    const words = text.map(({ n, kwh }) => ({ n, kwh: n % 30 === 0 ? 'no signal' : Number(kwh) }));
    assert.match((await train(words)).card.doubts?.[0] ?? '', /"kwh" is text because of a few words/);
    assert.equal((await train(words, { missingWords: ['no signal'] })).card.task, 'regression');
    const grades = text.map(({ n }) => ({ n, kwh: String((n % 5) + 1) }));
    assert.equal((await train(grades)).card.doubts, undefined);
  });

  it('tells of a history in the long form, and how it becomes columns', async () => {
    const history = Array.from({ length: 60 }, (_, n) => ({
      entity_id: `sensor.${['power', 'outside'][n % 2]}`,
      kwh: n * 1.25,
      last_changed: new Date(Date.UTC(2024, 0, 1, n)),
    }));
    const long = history.map(({ kwh, ...rest }) => ({ ...rest, state: kwh }));
    const { card } = await train(long, { target: 'state' });
    assert.match(
      card.doubts?.[0] ?? '',
      /reading of the sensor that "entity_id" names.*\{"time": row.last_changed, \[row.entity_id\]: row.state\}/,
    );
    // A value of its own is no long form.
    assert.equal((await train(history)).card.doubts, undefined);
  });

  it('is read alike by predict, which tells each message of its own cells', async () => {
    const { card } = await train(readings(80), { missingWords: ['unavailable'], timezone: 'Europe/Berlin' });
    assert.deepEqual(
      card.columns.map(({ name, zone, missing }) => ({ name, zone, missing })),
      [
        { name: 't', zone: 'Europe/Berlin', missing: ['unavailable'] },
        { name: 'state', zone: undefined, missing: ['unavailable'] },
      ],
    );
    const predictor = at.connection.predictor();
    const ask = (state: unknown, more = {}): Promise<PredictOutcome> =>
      predictor.predict({
        table: { value: { t: '2024-07-01 12:00', state } },
        model: JSON.parse(JSON.stringify(card)) as typeof card,
        ...more,
      });
    const outcomes = await Promise.all([ask(1), ask('Unavailable'), ask(2)]);
    assert.deepEqual(
      outcomes.map(({ cleaned }) => cleaned),
      [undefined, { cells_missing: { state: 1 } }, undefined],
    );
    assert.equal(await codeOf(ask('no signal')), 'table.invalid');
    assert.deepEqual((await ask('no signal', { missingWords: ['no signal'] })).cleaned, {
      cells_missing: { state: 1 },
    });
    assert.deepEqual((await ask('broken', { unreadable: 'missing' })).cleaned, {
      cells_missing: { state: 1 },
    });
    assert.equal(await codeOf(ask(1, { timezone: 'Nowhere' })), 'config.invalid');
    const foreign = { ...card, columns: [{ name: 't', type: 'date' as const, zone: 'Nowhere' }] };
    assert.equal(await codeOf(ask(1, { model: foreign })), 'validation.failed');
  });
});
