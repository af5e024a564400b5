import { strict as assert } from 'node:assert';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import { LEVELS, ModelCards, quantileOf, type Reference } from '../../doors/scoring';
import { seededRandom } from '../../doors/util';
import { type Bench, bench } from './stand-in';

/** More than quantiles and windows are made of. */
const ROWS = 10_500;

/** A machine's readings, one a minute, that wander. */
function readings(): Record<string, unknown>[] {
  const random = seededRandom(3);
  let heat = 0;
  return Array.from({ length: ROWS }, (_, row) => {
    heat = 0.95 * heat + random() - 0.5;
    return {
      time: new Date(Date.UTC(2026, 0, 1, 0, row)).toISOString(),
      heat: row === 7 ? 1e6 : row % 10 === 3 ? null : heat,
      // Beyond 2^53.
      serial: row === 5 ? '900719925474099' + '3' : String(row),
      fluid: row === ROWS - 1 ? 'water' : row % 3 === 0 ? 'oil' : 'glycol',
      on: row % 4 !== 0,
      wear: row === 20 ? null : row / 100,
    };
  });
}

describe('the reference of a fit', () => {
  let at: Bench;
  let reference: Reference;

  before(async () => {
    at = await bench();
    const value = readings();
    const { card } = await at.connection.train({ table: { value }, target: 'wear', model: 'pump' });
    assert.equal(card.order, 'time');
    reference = (await at.cards.references.get(card.fitted_train_set_id))!;
    assert.deepEqual(reference.columns, card.columns);
  });

  after(() => at.close());

  const column = (name: string): number => reference.columns.findIndex((one) => one.name === name);

  it('holds 400 rows spread evenly over the train set, in its order', () => {
    assert.equal(reference.rows.length, 400);
    const times = reference.rows.map((row) => row[column('time')] as number);
    const steps = times.slice(1).map((time, i) => (time - times[i]!) / 60_000);
    assert.ok(
      steps.every((step) => step >= 26 && step <= 27),
      `steps of ${Math.min(...steps)} to ${Math.max(...steps)}`,
    );
    assert.ok(reference.rows.some((row) => row[column('heat')] === null));
    assert.equal(typeof reference.rows[0]![column('on')], 'boolean');
  });

  it('says what is usual: quantiles of many rows, extremes and categories of all', () => {
    const heat = reference.usual[column('heat')]!;
    assert.equal(heat.kind, 'number');
    const { q05, q10, median, q90, q95, max, missing } = heat;
    assert.ok(q05 < q10 && q10 < median && median < q90 && q90 < q95 && q95 < 5);
    assert.equal(max, 1e6);
    assert.ok(Math.abs(missing - 0.1) < 1e-3);
    assert.deepEqual(reference.usual[column('fluid')], {
      kind: 'category',
      categories: ['glycol', 'oil', 'water'],
      complete: true,
      missing: 0,
    });
    const serial = reference.usual[column('serial')]!;
    assert.ok(serial.kind === 'category' && !serial.complete && serial.categories.length <= 20, 'ids');
  });

  it('says how much a column moves by itself, where rows follow each other in time', () => {
    const heat = reference.drift[column('heat')]!;
    assert.equal(heat.edges?.length, 9);
    assert.ok(Math.abs(heat.shares.reduce((sum, share) => sum + share, 0) - 1) < 1e-9);
    // Of windows of 200 with such neighbours 0.25, the usual bound, would be passed all the time.
    assert.ok(heat.threshold! > 0.5 && heat.threshold! < 8, String(heat.threshold));
    assert.deepEqual(reference.drift[column('on')]!.categories, [true, false]);
  });

  it('is of the rows that were learned from alone, of a file too, and has no thresholds where rows have no order', async () => {
    const rows = Array.from(
      { length: 3000 },
      (_, row) => `${row % 500},${row % 2 === 0 ? 'a' : 'b'},${row % 7}`,
    );
    const folder = await mkdtemp(path.join(os.tmpdir(), 'reference-'));
    const file = path.join(folder, 'rows.csv');
    await writeFile(file, ['x,kind,y', ...rows].join('\n'));
    const fit = { table: { path: file }, target: 'y', model: 'file' };
    for (const holdout of [0, 20]) {
      const { card } = await at.connection.train({ ...fit, holdout });
      const { usual, drift, rows: kept, target } = (await at.cards.references.get(card.fitted_train_set_id))!;
      assert.equal(kept.length, 400);
      assert.deepEqual(
        target?.kind === 'classes' && target.counts.reduce((sum, count) => sum + count, 0),
        holdout === 0 ? 3000 : 2400,
      );
      assert.deepEqual(usual[0], { ...usual[0], min: 0, max: 499, missing: 0 });
      assert.ok(drift.every(({ threshold }) => threshold === undefined));
    }
    await rm(folder, { recursive: true });
  });

  it('says what the target usually is: its level, where the change is learned; labels as the card has them', async () => {
    const value = Array.from({ length: 90 }, (_, i) => ({
      was: i,
      is: i + (i % 3),
      kind: i % 3 === 0 ? 'a' : 'b',
      digits: `${i % 2 === 0 ? '900719925474099' : '900719925474098'}3`,
      day: new Date(Date.UTC(2026, 0, 1 + (i % 2))),
    }));
    const usual = async (target: string, more: object = {}): Promise<Reference['target']> => {
      const { card } = await at.connection.train({ table: { value }, target, model: target, ...more });
      return (await at.cards.references.get(card.fitted_train_set_id))?.target;
    };
    const sorted = value.map(({ is }) => is).sort((a, b) => a - b);
    const numbers = { kind: 'numbers', mean: 45.5, quantiles: LEVELS.map((q) => quantileOf(sorted, q)) };
    for (const relativeTo of [undefined, 'was']) {
      const own = (await usual('is', { task: 'regression', relativeTo }))!;
      assert.deepEqual({ ...own, mean: own.kind === 'numbers' && Number(own.mean.toFixed(9)) }, numbers);
    }
    assert.deepEqual(await usual('kind'), { kind: 'classes', labels: ['a', 'b'], counts: [30, 60] });
    const digits = { kind: 'classes', labels: ['9007199254740993', '9007199254740983'], counts: [45, 45] };
    assert.deepEqual(await usual('digits', { task: 'classification', types: { digits: 'bigint' } }), digits);
    assert.equal(await usual('day', { task: 'classification' }), undefined);
  });

  it('is made again where it was lost, and is not known of a train set that was uploaded before', async () => {
    const folder = await mkdtemp(path.join(os.tmpdir(), 'reference-'));
    const value = Array.from({ length: 30 }, (_, id) => ({ id, name: `n${id % 3}`, size: id + 0.5 }));
    const fit = { table: { value }, target: 'size', model: 'm' };
    const kept: (number | undefined)[] = [];
    for (const reused of [false, true]) {
      const cards = ModelCards.open({ service: at.service.url, path: path.join(folder, 'models.json') });
      const connection = at.connect({ cards });
      const { card, ...result } = await connection.train(fit);
      assert.equal(result.reused, reused);
      kept.push((await cards.references.get(card.fitted_train_set_id))?.rows.length);
      await cards.close();
      await rm(path.join(folder, 'references'), { recursive: true });
    }
    assert.deepEqual(kept, [30, 30]);
    const upload = await at.connection.upload({ set: 'train', table: { value }, target: 'name' });
    const { card } = await at.connection.train({ trainSetUploadId: upload.id, model: 'n' });
    assert.equal(await at.cards.references.get(card.fitted_train_set_id), undefined);
    await rm(folder, { recursive: true });
  });
});
