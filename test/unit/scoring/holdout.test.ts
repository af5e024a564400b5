import { strict as assert } from 'node:assert';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';

import { type Bench, bench, codeOf, embeddedBench, history } from './stand-in';

describe('holdout on a metered service', () => {
  let at: Bench;
  afterEach(() => at.close());

  it('fits on the rest, says what scoring will cost, and scores the rows kept back', async () => {
    at = await bench();
    const warnings: string[] = [];
    const { card } = await at.connection.train(
      { table: { value: history(20) }, target: 'species', model: 'pets', holdout: 20 },
      { onWarning: (text) => warnings.push(text) },
    );
    const y = await at.service.rowsOf(card.train_set_upload_id, 'y');
    assert.equal(y.length, 16);
    assert.equal(y.filter(({ species }) => species === 'cat').length, 8, 'by class');
    assert.equal(card.rows, 16);
    assert.deepEqual(card.classes, ['cat', 'dog']);
    const x = await at.service.rowsOf(card.train_set_upload_id, 'x');
    x.forEach(({ id, species }, i) => {
      assert.equal(species, undefined);
      assert.equal(y[i]!.species, Number(id) % 2 === 0 ? 'cat' : 'dog', 'X and y belong together');
    });
    assert.deepEqual(warnings, ['Scoring the 4 rows kept back is estimated to cost 20.']);
    const seen = at.service.requests.map(({ route }) => route);
    assert.ok(seen.indexOf('estimate_cost') < seen.indexOf('prepare_train_set_upload'), 'asked first');
    assert.equal(at.service.seen('predict').length, 1);
    const scored = await at.service.rowsOf(
      (at.service.seen('predict')[0]!.body as { test_set_upload_id: string }).test_set_upload_id,
      'x',
    );
    const ids = [...scored, ...x].map(({ id }) => Number(id)).sort((a, b) => a - b);
    assert.deepEqual(
      ids,
      history(20).map(({ id }) => id),
      'each row is either fitted or scored',
    );
    assert.equal(card.scores?.from, 'holdout');
    assert.equal(card.scores.rows, 4);
    assert.ok(card.scores.accuracy! >= 0 && card.scores.accuracy! <= 1);
    assert.equal(card.scores.baseline.rows, 4);
    assert.ok(Math.abs(card.scores.baseline.log_loss! - Math.LN2) < 1e-9, 'two classes, evenly');
    assert.deepEqual(at.cards.get('pets')?.scores, card.scores);
    assert.deepEqual(at.service.breaches, []);
  });

  it('regression: mean and quantiles, beside mean and quantiles of the rest', async () => {
    at = await bench();
    const warnings: string[] = [];
    const { card } = await at.connection.train(
      { table: { value: history(40) }, target: 'size', model: 'sizes', holdout: 25 },
      { onWarning: (text) => warnings.push(text) },
    );
    assert.match(warnings.join(), /10 rows kept back is estimated to cost 80\./);
    const { scores } = card;
    assert.equal(scores?.rows, 10);
    for (const name of ['rmse', 'mae', 'pinball', 'coverage_80'] as const) {
      assert.ok(Number.isFinite(scores[name]), name);
      assert.ok(Number.isFinite(scores.baseline[name]), `baseline ${name}`);
    }
    assert.equal(at.service.seen('predict').length, 2);
  });

  it('an unchanged train set is neither fitted nor scored again; another percentage is', async () => {
    at = await bench();
    const train = (holdout?: number) =>
      at.connection.train({ table: { value: history(20) }, target: 'species', model: 'pets', holdout });
    const first = await train(20);
    const again = await train(20);
    assert.equal(again.reused, true);
    assert.deepEqual(again.card.scores, first.card.scores);
    assert.equal(at.service.seen('predict').length, 1);
    assert.equal((await train(30)).reused, false);
    const whole = await train();
    assert.equal(whole.reused, false);
    assert.equal(whole.card.rows, 20);
    assert.equal(whole.card.scores, undefined);
  });

  it('neither sends nor scores copies of rows, and says how many there were', async () => {
    at = await bench();
    const warnings: string[] = [];
    const rows = history(40);
    const train = (holdout?: number) =>
      at.connection.train(
        { table: { value: [...rows, ...rows] }, target: 'species', model: 'pets', holdout },
        { onWarning: (text) => warnings.push(text) },
      );
    const { card } = await train(20);
    assert.deepEqual([card.rows + card.scores!.rows <= 40, card.repeated_rows], [true, 40]);
    const fitted = await at.service.rowsOf(card.train_set_upload_id, 'x');
    const { body } = at.service.seen('predict')[0]!;
    const scored = await at.service.rowsOf((body as { test_set_upload_id: string }).test_set_upload_id, 'x');
    const ids = [...fitted, ...scored].map(({ id }) => id);
    assert.equal(new Set(ids).size, ids.length, 'each row once');
    assert.match(warnings.join('\n'), /40 rows of the train set of "pets" are copies of other rows/);
    assert.equal((await train()).card.rows, 40);
  });

  const CLOCKS: Record<string, (row: number) => unknown> = {
    'a date': (row) => new Date(row * 60_000).toISOString(),
    'a whole number that rises': (row) => 1_700_000_000_000 + row * 60_000,
    'a fraction that rises': (row) => row / 10,
    'a long number that rises': (row) => 1_700_000_000_000_000_000n + BigInt(row) * 60_000_000_000n,
  };
  for (const [name, clock] of Object.entries(CLOCKS)) {
    it(`neither sends nor scores a reading that fills a day while ${name} tells the time, more than once`, async () => {
      at = await bench();
      const warnings: string[] = [];
      const still = (row: number): boolean => row >= 40 && row < 80;
      const rows = Array.from({ length: 120 }, (_, row) => {
        const i = still(row) ? 40 : row;
        const species = i % 3 === 0 ? 'cat' : 'dog';
        return { time: clock(row), heat: (i * 37) % 101, load: (i * 53) % 97, species };
      });
      const { card } = await at.connection.train(
        { table: { value: rows }, target: 'species', model: 'pets', holdout: 20, order: 'time' },
        { onWarning: (text) => warnings.push(text) },
      );
      assert.deepEqual([card.rows + card.scores!.rows, card.repeated_rows], [81, 39]);
      assert.match(warnings.join('\n'), /39 rows of the train set of "pets" are copies of other rows/);
    });
  }

  it('keeps rows that differ in a number which does not only rise', async () => {
    at = await bench();
    const rows = Array.from({ length: 120 }, (_, row) => {
      const i = row >= 40 && row < 80 ? 40 : row;
      const species = i % 3 === 0 ? 'cat' : 'dog';
      return { tick: row === 100 ? 99 : row, heat: (i * 37) % 101, load: (i * 53) % 97, species };
    });
    const { card } = await at.connection.train({
      ...{ table: { value: rows }, target: 'species', model: 'pets', holdout: 20, order: 'none' },
    });
    assert.equal(card.repeated_rows, undefined);
  });

  it('keeps rows that differ in a number which rises for long, and then rests with the machine', async () => {
    at = await bench();
    const [rests, before] = [20_400, 5];
    const rows = Array.from({ length: rests + 100 }, (_, row) => {
      const i = row >= rests - before ? rests : row;
      const species = i % 3 === 0 ? 'cat' : 'dog';
      return { tick: Math.min(row, rests), heat: (i * 37) % 101, load: (i * 53) % 97, species };
    });
    const { card } = await at.connection.train({
      ...{ table: { value: rows }, target: 'species', model: 'pets', holdout: 20, order: 'none' },
    });
    assert.equal(card.repeated_rows, 99);
  });

  it('keeps the model where scoring fails, and says why', async () => {
    at = await bench();
    at.service.fault('predict', () => ({ status: 422, body: { detail: 'no such thing' } }));
    const warnings: string[] = [];
    const { card } = await at.connection.train(
      { table: { value: history(20) }, target: 'species', model: 'pets', holdout: 20 },
      { onWarning: (text) => warnings.push(text) },
    );
    assert.equal(card.scores, undefined);
    assert.equal(at.cards.get('pets')?.fitted_train_set_id, card.fitted_train_set_id);
    assert.match(warnings.at(-1)!, /^The model is fitted, but the rows kept back could not be scored: /);
  });

  it('says where no row can be kept back, and where the train set was uploaded before', async () => {
    at = await bench();
    const warnings: string[] = [];
    const onWarning = (text: string): number => warnings.push(text);
    const few = await at.connection.train(
      { table: { value: history(4) }, target: 'species', model: 'few', holdout: 10 },
      { onWarning },
    );
    assert.equal(few.card.rows, 4);
    const sent = await at.connection.upload({
      set: 'train',
      table: { value: history(8) },
      target: 'species',
    });
    const { card } = await at.connection.train(
      { trainSetUploadId: sent.id, model: 'sent', holdout: 50 },
      { onWarning },
    );
    assert.equal(card.rows, 8);
    assert.deepEqual(
      warnings.map((text) =>
        /^(No row can be kept back: 10 % of 4 rows|.*too few|.*uploaded before)/.exec(text)?.[1]!.slice(-8),
      ),
      ['f 4 rows', ' too few', 'd before', ' too few'],
    );
    assert.equal(at.service.seen('predict').length, 0);
  });

  it('ends with the code closed when cancelled', async () => {
    at = await bench({ predictMs: 5000 });
    const controller = new AbortController();
    const training = at.connection.train(
      { table: { value: history(20) }, target: 'species', model: 'pets', holdout: 20 },
      {
        signal: controller.signal,
        onStatus: ({ key }) => key === 'predicting' && setTimeout(() => controller.abort(), 50),
      },
    );
    assert.equal(await codeOf(training), 'closed');
  });
});

describe('scores and importance on the embedded service', () => {
  const at = embeddedBench();

  const rows = Array.from({ length: 300 }, (_, i) => ({
    load: (i * 37) % 101,
    noise: (i * 53) % 17,
    kind: i % 3 === 0 ? 'a' : 'b',
    state: (i * 37) % 101 > 60 ? 'hot' : 'fine',
    power: ((i * 37) % 101) * 2 + ((i * 53) % 17) / 10,
  }));

  it('without holdout the scores are out-of-fold, and the column that decides leads', async function () {
    this.timeout(60_000);
    const warnings: string[] = [];
    const { card, curves } = await at.connection.train(
      { table: { value: rows }, target: 'state', ignore: ['power'], model: 'oof' },
      { onWarning: (text) => warnings.push(text) },
    );
    assert.equal(card.scores?.from, 'out-of-fold');
    assert.ok(curves?.kind === 'classes' && curves.rows === 300 && curves.by_threshold?.positive === 'hot');
    const [[a, b], [c, d]] = curves.confusion as [[number, number], [number, number]];
    assert.deepEqual([a + b + c + d, (a + d) / 300], [300, card.scores.accuracy], 'as the scores say');
    assert.ok(card.scores.accuracy! > 0.95 && card.scores.accuracy! > card.scores.baseline.accuracy!);
    assert.equal(card.importance?.[0]?.column, 'load');
    assert.ok(card.importance[0].permutation > 0.1);
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /^The column "load" alone predicts the target almost perfectly/);
  });

  it('with holdout they are of rows that the fit did not see, and free', async function () {
    this.timeout(60_000);
    const warnings: string[] = [];
    const { card } = await at.connection.train(
      {
        ...{ table: { value: rows }, target: 'state', ignore: ['power'], model: 'held', holdout: 20 },
        options: { n_estimators: 2 },
      },
      { onWarning: (text) => warnings.push(text) },
    );
    assert.equal(card.scores?.from, 'holdout');
    assert.equal(card.scores.rows, 60);
    assert.ok(card.scores.accuracy! > 0.9 && card.scores.roc_auc! > 0.95);
    assert.ok(card.scores.log_loss! < card.scores.baseline.log_loss! / 2);
    assert.equal(card.importance?.[0]?.column, 'load');
    assert.deepEqual(
      warnings.filter((text) => text.includes('cost')),
      [],
    );
  });

  it('a file on disk, a regression: the same way', async function () {
    this.timeout(60_000);
    const file = path.join(at.folder, 'power.csv');
    const lines = rows.map(({ load, noise, kind, power }) => [load, noise, kind, power].join());
    await writeFile(file, ['load,noise,kind,power', ...lines, ''].join('\n'));
    const { card, curves } = await at.connection.train({
      table: { path: file },
      target: 'power',
      model: 'power',
      holdout: 10,
      options: { n_estimators: 2 },
    });
    assert.equal(card.rows, 270);
    assert.ok(curves?.kind === 'numbers' && curves.actual.length === 30);
    const errors = curves.actual.map((truth, i) => Math.abs(truth - curves.predicted[i]!));
    const mae = errors.reduce((sum, error) => sum + error / 30, 0);
    assert.ok(Math.abs(mae - card.scores!.mae!) < 1e-4, 'of the rows kept back');
    assert.equal(card.scores?.rows, 30);
    assert.ok(card.scores.r2! > 0.9, `R² ${card.scores.r2}`);
    assert.ok(card.scores.pinball! < card.scores.baseline.pinball!);
    assert.ok(Math.abs(card.scores.baseline.r2!) < 0.3);
    assert.ok(card.scores.coverage_80! > 0.5);
  });
});
