import assert from 'node:assert/strict';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../helpers/wait';
import { commandsOfTests, end } from './command';
import { type Answer, Harness, infoOf, line, postTo, putFile, temporaryFolder } from './harness';

const { x: X, y: Y } = line();
const FIT = { task_config: { task: 'regression', svc_config: { n_estimators: 2 } } };

/** Somebody tidies up while the service runs: folders come back, and what was in them is said to be lost. */
describe('Service: what is deleted while it runs', function () {
  this.timeout(90_000);
  let h: Harness;
  const log: string[] = [];
  before(async () => {
    await start(await temporaryFolder());
  });
  afterEach(async () => {
    await h.empty();
    log.length = 0;
  });
  after(() => h.stop());

  async function start(dataDir: string): Promise<void> {
    h = await Harness.start({
      dataDir,
      fitThreads: 1,
      chunkBytes: 64,
      log: (level, text) => void log.push(`${level} ${text}`),
    });
  }
  const gone = (...names: string[]): Promise<void> =>
    rm(path.join(h.folder, ...names), { recursive: true, force: true });
  const predict = (fitted: string, test: string): Promise<Answer> =>
    h.post('predict', { test_set_upload_id: test, fitted_train_set_id: fitted, ...FIT });
  const fit = (upload: string, more: object = {}): Promise<Answer> =>
    h.post('fit', { train_set_upload_id: upload, ...FIT, ...more });
  const prepare = (x = X): Promise<Answer> =>
    h.post('prepare_train_set_upload', { x_train_info: infoOf(x), y_train_info: infoOf(Y) });
  const lost = (answer: Answer, what: RegExp): void => {
    assert.equal(answer.status, 404, answer.text);
    assert.match(answer.body.message, what);
    assert.match(answer.body.message, /is lost, because its folder was deleted: (?:fit it|upload it) again/);
  };
  async function outcome(id: string): Promise<Record<string, unknown>> {
    for (;;) {
      const { body } = await h.get(`fit/${id}`);
      if (body.status !== 'pending') {
        return body as Record<string, unknown>;
      }
      await sleep(50);
    }
  }

  it('says of models that they are lost, and fits them again', async () => {
    const fitted = await h.fit(X, Y, 'regression');
    const test = await h.uploadTest(fitted, X);
    // Its predict threads have it in memory.
    assert.equal((await predict(fitted, test)).status, 200);
    await h.stop(true);
    await start(h.folder);
    const again = await h.uploadTest(fitted, X);
    await gone('models');
    lost(await predict(fitted, again), /^The fitted train set/);
    lost(
      await h.post('prepare_test_set_upload', { fitted_train_set_id: fitted, x_test_info: infoOf(X) }),
      /^The f/,
    );
    lost(await h.get(`fit/${fitted}`), /^The fitted train set/);
    lost(await h.get(`/export_fitted_train_set/?fitted_train_set_id=${fitted}`), /^The fitted train set/);
    const { body } = await prepare();
    const refitted = await fit(body.train_set_upload_id as string);
    assert.deepEqual([refitted.status, refitted.body.reused], [200, false], refitted.text);
    assert.equal((await h.predict(refitted.body.fitted_train_set_id as string, X, 'regression')).status, 200);
    const said = log.filter((text) => text.includes('was deleted and is made anew'));
    assert.equal(said.length, 1, log.join('\n'));
    assert.match(said[0]!, /^warn The folder .*models was deleted .* Lost with it: 1 fitted train sets\.$/);
  });

  it('says it of a model that is exported, and imports it again', async () => {
    const fitted = await h.fit(X, Y, 'regression');
    const place = `/export_fitted_train_set/?fitted_train_set_id=${fitted}`;
    const file = await (await fetch(h.url(place), { headers: h.bearer() })).arrayBuffer();
    await gone('models');
    lost(await h.get(place), /^The fitted train set/);
    await gone('models');
    const imported = await fetch(h.url('/import_fitted_train_set/'), {
      method: 'POST',
      headers: h.bearer(),
      body: file,
    });
    assert.deepEqual([imported.status, await imported.json()], [200, { fitted_train_set_id: fitted }]);
    await gone('models', fitted);
    await fetch(h.url('/import_fitted_train_set/'), { method: 'POST', headers: h.bearer(), body: file });
    assert.equal((await h.predict(fitted, X, 'regression')).status, 200, 'written again');
  });

  it('says of uploads that they are lost, and takes them again', async () => {
    const upload = await h.uploadTrain(X, Y);
    const first = await fit(upload);
    const fitted = first.body.fitted_train_set_id as string;
    // Smaller ones are kept in memory.
    const test = await h.uploadTest(fitted, line(20_000).x);
    await gone('uploads');
    lost(await predict(fitted, test), /^The test set upload/);
    lost(await fit(upload, { force_refit: true }), /^The train set upload/);
    const small = await h.predict(fitted, 'a,b\n1,2\n', 'regression');
    assert.equal(small.status, 200, small.text);
    const { status, body } = await prepare();
    assert.deepEqual([status, body.train_set_upload_id === upload], [200, false], 'no duplicate any more');
    assert.equal((await fit(await h.uploadTrain(X, Y))).status, 200);
  });

  it('takes no file into a folder that is gone, and says that it has expired', async () => {
    const expired = (answer: Answer): void => {
      assert.equal(answer.status, 403, answer.text);
      assert.match(answer.text, /The folder of this upload was deleted: prepare it again/);
      assert.match(answer.text, /URL_EXPIRED|url\.expired/);
    };
    const cases: [what: string, names: (id: string) => string[]][] = [
      ['all uploads', () => ['uploads']],
      ['this one', (id) => ['uploads', id]],
    ];
    for (const [what, names] of cases) {
      const whole = (await prepare()).body;
      await gone(...names(whole.train_set_upload_id as string));
      expired(await putFile(whole.x_train_info, X));

      const begun = (await prepare()).body;
      const { signed_urls, required_headers } = begun.x_train_info as {
        signed_urls: [string];
        required_headers: Record<string, string>;
      };
      const headers = { ...required_headers, 'content-length': X.length };
      const put: ClientRequest = request(signed_urls[0], { method: 'PUT', headers });
      const answered = once(put, 'response') as Promise<[IncomingMessage]>;
      put.write(X.slice(0, 100));
      const folder = path.join(h.folder, 'uploads', begun.train_set_upload_id as string);
      while ((await readdir(folder)).length === 0) {
        await sleep(10);
      }
      await gone(...names(begun.train_set_upload_id as string));
      put.end(X.slice(100));
      const [response] = await answered;
      response.resume();
      assert.equal(response.statusCode, 403, what);

      const { body: chunked } = await h.post('prepare_train_set_upload', {
        x_train_info: { ...infoOf(X), use_chunks: true },
        y_train_info: infoOf(Y),
      });
      const urls = chunked.x_train_info.signed_urls as string[];
      const chunk = Math.floor(X.length / urls.length);
      const putChunk = (at: number): Promise<Answer> =>
        putFile({ ...chunked.x_train_info, signed_urls: [urls[at]!] }, X.slice(at * chunk, (at + 1) * chunk));
      assert.equal((await putChunk(0)).status, 200);
      await gone(...names(chunked.train_set_upload_id as string));
      expired(await putChunk(1));
      assert.equal((await putChunk(0)).status, 403, 'as a whole');
    }
    assert.equal((await fit(await h.uploadTrain(X, Y))).status, 200);
  });

  it('ends a promised fit whose train set is lost, and keeps one whose own place is', async () => {
    const long = line(1_200);
    const upload = await h.uploadTrain(long.x, long.y);
    const submit = async (random_state: number): Promise<string> => {
      const task_config = { task: 'regression', svc_config: { n_estimators: 2, random_state } };
      const { body } = await h.post('submit_fit_job', { train_set_upload_id: upload, task_config });
      assert.equal(body.status, 'pending');
      return body.fitted_train_set_id as string;
    };
    const running = await submit(1);
    while (!(((await h.get(`fit/${running}`)).body.progress as number) > 0)) {
      await sleep(10);
    }
    await gone('models');
    await gone('fits');
    assert.equal((await outcome(running)).status, 'completed');
    const first = await submit(2);
    while (!(((await h.get(`fit/${first}`)).body.progress as number) > 0)) {
      await sleep(10);
    }
    const waiting = await submit(3);
    await gone('uploads');
    await gone('fits');
    // What it needs is in memory.
    assert.equal((await outcome(first)).status, 'completed');
    const failed = await outcome(waiting);
    assert.deepEqual([failed.status, failed.error_code], ['failed', 'NOT_FOUND'], JSON.stringify(failed));
    assert.match(String(failed.error), /is lost, because its folder was deleted/);
    // Its record may be under way still.
    await waitFor('the record of the fit that failed', async () => {
      const names = await readdir(path.join(h.folder, 'fits'));
      return names.join() === `${waiting}.json`;
    });
  });

  it('promises nothing of which the files are gone', async () => {
    const upload = await h.uploadTrain(X, Y);
    const first = await fit(upload);
    assert.equal((await prepare()).status, 409);
    assert.equal((await fit(upload)).body.reused, true);
    await gone('models', first.body.fitted_train_set_id as string, 'model.bin');
    const again = await fit(upload);
    assert.deepEqual([again.status, again.body.reused], [200, false]);
    await gone('models', again.body.fitted_train_set_id as string);
    assert.equal((await fit(upload)).body.reused, false);
    await gone('uploads', upload);
    assert.equal((await prepare()).status, 200);
  });

  it('lists, packs and deletes what is left', async () => {
    const fitted = await h.fit(X, Y, 'regression');
    await gone('models');
    await gone('uploads');
    const packed = await fetch(h.url('/download_all_data/'), { headers: h.bearer() });
    assert.equal(packed.status, 200);
    await packed.arrayBuffer();
    const { body } = await h.get('/get_data_summary/');
    assert.deepEqual([body.train_sets, body.fitted_train_sets, body.stored_bytes], [[], [], 0]);
    const erased = await fetch(h.url(`/delete_dataset/?dataset_uid=${fitted}`), {
      method: 'DELETE',
      headers: h.bearer(),
    });
    assert.equal(erased.status, 404);
    await gone('models');
    await gone('uploads');
    await gone('fits');
    await h.empty();
    assert.deepEqual(
      (await readdir(h.folder)).filter((name) => name === 'models' || name === 'uploads').sort(),
      ['models', 'uploads'],
    );
  });
});

describe('Service: the whole folder of a command is deleted', () => {
  const { folder, cli } = commandsOfTests();

  it('and comes back, at the same address', async () => {
    const data = path.join(await folder(), 'inner');
    const { url, child, errors } = await cli(['--port', '0', '--data', data, '--token', 'mine']);
    await rm(data, { recursive: true });
    const info = { x_train_info: infoOf(X), y_train_info: infoOf(Y) };
    let answer: Answer | undefined;
    while (answer?.status !== 200) {
      answer = await postTo(url, 'prepare_train_set_upload', info).catch(() => undefined);
      assert.equal(child.exitCode, null, errors());
      assert.ok([undefined, 200, 503].includes(answer?.status), answer?.text);
      await sleep(50);
    }
    assert.match(errors(), /lost its folder/);
    assert.equal(await end(child, 'SIGTERM'), 0);
  }).timeout(30_000);
});
