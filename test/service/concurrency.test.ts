import assert from 'node:assert/strict';
import { readdir, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Answer, flowers, Harness, line } from './harness';
import { givenModel } from './shared';

/** The same rows over and over, until they are too many bytes for the memory. */
function longer(csv: string): string {
  const [header, ...rows] = csv.trimEnd().split('\n');
  return `${header}\n${`${rows.join('\n')}\n`.repeat(Math.ceil(70_000 / csv.length))}`;
}

describe('Service: many at once', () => {
  let h: Harness;
  before(async () => {
    h = await Harness.start({ fitThreads: 2, predictThreads: 2 });
  });
  after(() => h.stop());

  it('goes on predicting while fits keep every fit thread busy, and ends them all', async function () {
    this.timeout(120_000);
    const { x, y } = flowers();
    const small = await givenModel(h, { x, y }, 'classification');
    const big = line(150);
    const upload = await h.uploadTrain(big.x, big.y);
    let fitting = 4;
    const fits = Array.from({ length: fitting }, (_, seed) =>
      h
        .post('fit', {
          train_set_upload_id: upload,
          task: 'regression',
          svc_config: { random_state: seed, n_estimators: 2 },
        })
        .finally(() => (fitting -= 1)),
    );
    let predicted = 0;
    let most = 0;
    while (fitting > 0) {
      const answer = await h.predict(small, x, 'classification');
      assert.equal(answer.status, 200);
      if (fitting > 0) {
        predicted += 1;
      }
      const status = (await h.get('get_service_status')).body;
      most = Math.max(most, status.fits.length);
      // Fits give way to predicts: without a pause they would hardly move.
      await sleep(20);
    }
    const answers = await Promise.all(fits);
    assert.ok(answers.every((answer) => answer.status === 200));
    assert.equal(new Set(answers.map((answer) => answer.body.fitted_train_set_id)).size, 4);
    assert.ok(most > 2 && most <= 4, `${most} fits were seen`);
    assert.ok(predicted >= 10, `${predicted} predicts while fits ran`);
  });

  it('gives every one of many predicts its own rows', async () => {
    const { x, y } = line(200);
    const fitted = await givenModel(h, { x, y }, 'regression');
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, i) =>
        h.predict(fitted, `a,b\n${`${i % 50},1\n`.repeat((i % 7) + 1)}`, 'regression'),
      ),
    );
    const each = Array.from({ length: 50 }, (_, i) => `${i},1\n`);
    const { prediction } = (await h.predict(fitted, `a,b\n${each.join('')}`, 'regression')).body;
    assert.equal(new Set(prediction as number[]).size, 50);
    answers.forEach((answer: Answer, i) => {
      assert.deepEqual(answer.body.prediction, Array((i % 7) + 1).fill(prediction[i % 50]));
    });
  });

  it('fits the same whether threads help or not', async function () {
    this.timeout(60_000);
    // Many bytes of few rows: enough for helpers. One of the two services has no thread to spare.
    const { x: short, y } = line(300);
    const x = short.replaceAll(/^\d+(?=,)/gm, (digits) => `${digits}.${'0'.repeat(700)}`);
    assert.ok(x.length > 200_000);
    const alone = await Harness.start({ fitThreads: 1 });
    try {
      const predictions = [];
      for (const service of [alone, h]) {
        const id = await service.fit(x, y, 'regression', {
          task_config: { task: 'regression', svc_config: { n_estimators: 2 } },
        });
        predictions.push((await service.predict(id, line(100).x, 'regression')).body.prediction);
      }
      assert.deepEqual(predictions[1], predictions[0]);
    } finally {
      await alone.stop();
    }
  });

  it('answers after a restart as before it, from the same ids', async () => {
    const { x, y } = flowers();
    const first = await Harness.start();
    const train = await first.uploadTrain(x, y);
    const ask = { train_set_upload_id: train, task: 'classification', svc_config: { n_estimators: 2 } };
    const fitted = (await first.post('fit', ask)).body.fitted_train_set_id as string;
    const predict = (test: string) => ({
      test_set_upload_id: test,
      fitted_train_set_id: fitted,
      task_config: { task: 'classification' },
    });
    const large = predict(await first.uploadTest(fitted, longer(x)));
    const small = predict(await first.uploadTest(fitted, x));
    const before = await first.post('predict', large);
    assert.equal((await first.post('predict', small)).status, 200);
    await first.stop(true);
    const second = await Harness.start({ dataDir: first.folder });
    try {
      const after = await second.post('predict', large);
      assert.deepEqual(after.body, before.body);
      const gone = await second.post('predict', small);
      assert.equal(gone.status, 404, 'small test sets live in memory');
      assert.match(gone.body.message, /no test set upload .* upload it again/);
      const again = await second.post('fit', ask);
      assert.deepEqual([again.body.fitted_train_set_id, again.body.reused], [fitted, true]);
      const forced = await second.post('fit', { ...ask, force_refit: true });
      assert.equal(forced.status, 200, 'the train set is still there');
    } finally {
      await second.stop();
    }
  });

  it('sets damaged files aside when they are asked for, and says what to do again', async () => {
    const { x, y } = flowers();
    const log: string[] = [];
    const options = { log: (level: string, text: string) => void log.push(`${level} ${text}`) };
    const first = await Harness.start(options);
    const train = await first.uploadTrain(x, y);
    const fitted = await givenModel(first, line(), 'regression');
    const sound = await givenModel(first, { x, y }, 'classification');
    const test = await first.uploadTest(sound, longer(x));
    await first.stop(true);
    const spoil = async (...parts: string[]) => {
      const file = path.join(first.folder, ...parts);
      await writeFile(file, Buffer.alloc((await stat(file)).size, 1));
    };
    await spoil('models', fitted, 'model.bin');
    await spoil('uploads', train, 'y.csv');
    await spoil('uploads', test, 'x.csv');
    const second = await Harness.start({ ...options, dataDir: first.folder });
    try {
      const model = await second.predict(fitted, line().x, 'regression');
      assert.equal(model.status, 404);
      assert.match(model.body.message, /fit it again/);
      const upload = await second.post('fit', {
        train_set_upload_id: train,
        task: 'classification',
        force_refit: true,
      });
      assert.equal(upload.status, 404);
      assert.match(upload.body.message, /upload it again/);
      const rows = await second.post('predict', {
        test_set_upload_id: test,
        fitted_train_set_id: sound,
        task_config: { task: 'classification' },
      });
      assert.equal(rows.status, 404);
      assert.equal((await second.predict(sound, x, 'classification')).status, 200);
      assert.equal(log.filter((text) => text.startsWith('warn Set aside as damaged')).length, 3);
      const names = await Promise.all(
        ['models', 'uploads'].map((kind) => readdir(path.join(first.folder, kind))),
      );
      assert.equal(names.flat().filter((name) => name.endsWith('.corrupt')).length, 3);
    } finally {
      await second.stop();
    }
  });

  for (const [what, limits] of [
    ['fits', {}],
    ['fits of train sets that are large for the memory', { train_set_max_cells: 10_000 }],
  ] as const) {
    it(`answers 429 when too many ${what} wait`, async function () {
      this.timeout(60_000);
      const one = await Harness.start({ fitThreads: 1, limits, times: { fitGraceMs: 0 } });
      try {
        const { x, y } = line(3_000);
        const upload = await one.uploadTrain(x, y);
        const fits = Array.from({ length: 80 }, (_, seed) =>
          one.post('fit', {
            train_set_upload_id: upload,
            task: 'regression',
            svc_config: { random_state: seed },
          }),
        );
        const refused = await Promise.race(
          fits.map(async (fit) =>
            (await fit).status === 429 ? fit : sleep(60_000, undefined, { ref: false }),
          ),
        );
        assert.ok(refused !== undefined);
        assert.equal(refused.headers.get('retry-after'), '1');
        assert.equal(refused.body.code, 'rate.limit.exceeded');
        await one.stop();
        const rest = await Promise.allSettled(fits);
        assert.equal(rest.length, 80, 'all of them are answered or cut off at close');
      } finally {
        await one.stop();
      }
    });
  }
});
