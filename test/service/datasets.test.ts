import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { cpuWatch } from '../helpers/clock';
import { waitFor } from '../helpers/wait';
import { type Answer, answerOf, Harness, infoOf, line, nobody, putFile } from './harness';
import { filesOfZip } from './zip-reader';

describe('Service: what it keeps, and having it removed', function () {
  this.timeout(60_000);
  let h: Harness;
  before(async () => {
    h = await Harness.start({ fitThreads: 1 });
  });
  after(() => h.stop());
  afterEach(() => h.empty());

  const call = async (method: string, route: string): Promise<Answer> =>
    answerOf(await fetch(h.url(route), { method, headers: h.bearer() }));
  const remove = (id: string): Promise<Answer> => call('DELETE', `/delete_dataset/?dataset_uid=${id}`);
  const onDisk = async (): Promise<string[]> => {
    const folders = ['uploads', 'models', 'fits'];
    const names = await Promise.all(folders.map((folder) => readdir(path.join(h.folder, folder))));
    return names.flat().sort();
  };
  /** A train set with a model and two test sets of it, one of them on disk. */
  async function family(seed: number) {
    const { x, y } = line(120 + seed);
    const upload = await h.uploadTrain(x, y, { description: `family ${seed}` });
    const fit = await h.post('fit', {
      train_set_upload_id: upload,
      task: 'regression',
      svc_config: { n_estimators: 2 },
    });
    const model = fit.body.fitted_train_set_id as string;
    const tests = [await h.uploadTest(model, 'a,b\n1,2\n'), await h.uploadTest(model, line(14_000).x)];
    return { upload, model, tests };
  }
  const predict = (model: string, test: string): Promise<Answer> =>
    h.post('predict', {
      test_set_upload_id: test,
      fitted_train_set_id: model,
      task_config: { task: 'regression' },
    });

  it('lists uploads and models with their kin', async () => {
    const { upload, model, tests } = await family(0);
    const { body } = await h.get('/get_data_summary/');
    const [train] = body.train_sets;
    assert.deepEqual(
      [train.dataset_uid, train.description, train.format, train.fitted_train_set_ids],
      [upload, 'family 0', 'csv', [model]],
    );
    assert.ok(train.bytes > train.target_bytes && train.target_bytes > 0);
    assert.deepEqual(
      body.test_sets.map((test: Record<string, unknown>) => [test.dataset_uid, test.fitted_train_set_id]),
      tests.map((test) => [test, model]),
    );
    const [fitted] = body.fitted_train_sets;
    assert.deepEqual(
      [fitted.fitted_train_set_id, fitted.train_set_upload_id, fitted.target, fitted.columns, fitted.rows],
      [model, upload, 'target', ['a', 'b'], 120],
    );
    assert.equal(new Date(fitted.created_at as string).toISOString(), fitted.created_at);
    assert.ok(body.stored_bytes > 0 && body.memory_bytes > 0);
  });

  it('removes a train set from the disk with its models and their test sets, and nothing else', async () => {
    const kept = await family(1);
    const before = await onDisk();
    const gone = await family(2);
    const { status, body } = await remove(gone.upload.toUpperCase());
    assert.equal(status, 200);
    assert.deepEqual(body.deleted_dataset_uids.sort(), [gone.upload, ...gone.tests].sort());
    assert.deepEqual(body.deleted_fitted_train_set_ids, [gone.model]);
    assert.deepEqual(await onDisk(), before);
    assert.equal((await predict(gone.model, gone.tests[0]!)).status, 404);
    assert.equal((await h.post('fit', { train_set_upload_id: gone.upload, task: 'regression' })).status, 404);
    assert.equal((await predict(kept.model, kept.tests[1]!)).status, 200);
    assert.equal((await remove(gone.upload)).status, 404, 'there is nothing left to remove');
    const { x, y } = line(122);
    assert.notEqual(await h.uploadTrain(x, y), gone.upload, 'its content is known no more');
  });

  it('removes a test set or a model alone', async () => {
    const { upload, model, tests } = await family(3);
    assert.deepEqual((await remove(tests[0]!)).body, {
      deleted_dataset_uids: [tests[0]],
      deleted_fitted_train_set_ids: [],
    });
    assert.equal((await predict(model, tests[0]!)).status, 404);
    assert.equal((await predict(model, tests[1]!)).status, 200);
    assert.deepEqual((await remove(model)).body, {
      deleted_dataset_uids: [tests[1]],
      deleted_fitted_train_set_ids: [model],
    });
    assert.deepEqual(await onDisk(), [upload]);
    const again = await h.post('fit', {
      train_set_upload_id: upload,
      task: 'regression',
      svc_config: { n_estimators: 2 },
    });
    assert.deepEqual([again.status, again.body.reused], [200, false]);
  });

  it('keeps nothing in memory of a model that is removed: another one that comes with its id answers for itself', async () => {
    const exported = async (id: string) => {
      const from = h.url(`/export_fitted_train_set/?fitted_train_set_id=${id}`);
      const bytes = Buffer.from(await (await fetch(from, { headers: h.bearer() })).arrayBuffer());
      const end = bytes.indexOf('\n');
      return { entry: JSON.parse(bytes.toString('utf8', 0, end)) as object, model: bytes.subarray(end + 1) };
    };
    const fitOf = (factor: number) => {
      const { x } = line();
      const y = x
        .split('\n')
        .slice(1, -1)
        .map((row) => factor * Number(row.split(',')[0]));
      return h.fit(x, `target\n${y.join('\n')}\n`, 'regression');
    };
    const [removed, other] = [await fitOf(1), await fitOf(-1)];
    const predicted = async () =>
      (await h.predict(removed, 'a,b\n40,1\n', 'regression')).body.prediction[0] as number;
    const { entry, model } = await exported(other);
    assert.ok((await predicted()) > 30);
    await remove(removed);
    const body = Buffer.concat([Buffer.from(`${JSON.stringify({ ...entry, id: removed })}\n`), model]);
    const put = await fetch(h.url('/import_fitted_train_set/'), {
      method: 'POST',
      headers: h.bearer(),
      body,
    });
    assert.deepEqual((await answerOf(put)).body.fitted_train_set_id, removed);
    assert.ok((await predicted()) < -30);
  });

  it('removes an upload that has not arrived, and voids its URLs', async () => {
    const { x, y } = line();
    const { body } = await h.post('prepare_train_set_upload', {
      x_train_info: infoOf(x),
      y_train_info: infoOf(y),
    });
    await putFile(body.x_train_info, x);
    assert.equal((await remove(body.train_set_upload_id as string)).status, 200);
    assert.deepEqual(await onDisk(), []);
    assert.equal((await putFile(body.y_train_info, y)).status, 403);
  });

  it('ends a fit of the train set, running or waiting, and says why', async () => {
    const { x, y } = line(60_000);
    const upload = await h.uploadTrain(x, y);
    const fit = (seed: number) =>
      h.post('fit', { train_set_upload_id: upload, task: 'regression', svc_config: { random_state: seed } });
    const [first, second] = [fit(1), fit(2)];
    const submitted = await h.post('submit_fit_job', {
      train_set_upload_id: upload,
      task: 'regression',
      svc_config: { random_state: 3 },
    });
    await waitFor('three fits, one of them under way', async () => {
      const { fits } = (await h.get('get_service_status')).body;
      return fits.length === 3 && fits.some(({ progress }: { progress: number }) => progress > 0);
    });
    const spent = cpuWatch();
    assert.equal((await remove(upload)).status, 200);
    for (const answer of [await first, await second]) {
      const { status_code: streamed } = answer.body;
      assert.equal(streamed ?? answer.status, 404);
      assert.equal(answer.body.error_code, 'DATASET_DELETED');
      assert.match(answer.body.message, /was deleted while it was fitted/);
    }
    assert.ok(spent() < 3_000, 'nothing runs to its end');
    const { fitted_train_set_id } = submitted.body;
    const { body } = await waitFor('the end of the submitted fit', async () => {
      const answer = await h.post('get_fit_status', { fitted_train_set_id });
      return answer.body.status !== 'pending' && answer;
    });
    assert.deepEqual([body.status, body.error_code], ['failed', 'DATASET_DELETED']);
    assert.deepEqual(await readdir(path.join(h.folder, 'uploads')), []);
    assert.deepEqual(await readdir(path.join(h.folder, 'models')), []);
    assert.equal((await family(4)).tests.length, 2, 'the next fit finds a thread');
  });

  it('removes everything, what was set aside as damaged too, but nothing that is not its own', async () => {
    await family(5);
    await family(6);
    await h.post('prepare_train_set_upload', {
      x_train_info: { format: 'csv' },
      y_train_info: { format: 'csv' },
    });
    const failing = await h.uploadTrain('a\n1\n2\n', 'y\nred\nblue\n');
    const submitted = await h.post('submit_fit_job', { train_set_upload_id: failing, task: 'regression' });
    const { fitted_train_set_id } = submitted.body;
    while ((await h.post('get_fit_status', { fitted_train_set_id })).body.status === 'pending') {
      await sleep(20);
    }
    const corrupt = path.join(h.folder, 'uploads', `${randomUUID()}.0123abcd.corrupt`);
    await mkdir(corrupt);
    await writeFile(path.join(corrupt, 'x.csv'), 'a\n1\n');
    await writeFile(path.join(h.folder, 'models', 'notes.txt'), 'mine');
    const { body } = await call('DELETE', '/delete_all_datasets/');
    assert.equal(body.deleted_dataset_uids.length, 2 * 3 + 3);
    assert.equal(body.deleted_fitted_train_set_ids.length, 2);
    const left = (await onDisk()).filter((name) => !name.endsWith('.json'));
    assert.deepEqual(left, ['notes.txt']);
    await rm(path.join(h.folder, 'models', 'notes.txt'));
    const summary = (await h.get('/get_data_summary/')).body;
    assert.deepEqual(
      [summary.train_sets, summary.test_sets, summary.fitted_train_sets, summary.stored_bytes],
      [[], [], [], 0],
    );
    assert.equal(summary.memory_bytes, 0);
    assert.deepEqual((await call('DELETE', '/delete_all_datasets/')).body, {
      deleted_dataset_uids: [],
      deleted_fitted_train_set_ids: [],
    });
    await family(7);
  });

  it('lets predicts that are under way end with 200 or 404', async () => {
    const { upload, model, tests } = await family(8);
    const answers = Array.from({ length: 20 }, (_, i) => predict(model, tests[i % 2]!));
    await sleep(5);
    assert.equal((await remove(upload)).status, 200);
    for (const { status, text } of await Promise.all(answers)) {
      assert.ok(status === 200 || status === 404, `${status} ${text}`);
    }
  });

  it('asks for the token, the method and an id', async () => {
    for (const route of [
      '/get_data_summary/',
      '/download_all_data/',
      '/delete_all_datasets/',
      '/delete_dataset/',
    ]) {
      assert.equal((await fetch(h.url(route))).status, 401, route);
    }
    const wrong = await h.get('/delete_all_datasets/');
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'DELETE']);
    for (const id of ['', nobody, '..', '%2e%2e%2fmodels']) {
      assert.equal((await remove(id)).status, 404, id);
    }
    assert.equal((await call('DELETE', '/delete_dataset/')).status, 404);
  });

  it('sends all of it as one archive', async () => {
    const { upload, model, tests } = await family(9);
    const response = await fetch(h.url('/download_all_data/'), { headers: h.bearer() });
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('content-type'), 'application/zip');
    assert.equal(response.headers.get('content-disposition'), 'attachment; filename=tabular-data.zip');
    const bytes = Buffer.from(await response.arrayBuffer());
    assert.equal(String(bytes.length), response.headers.get('content-length'));
    const files = filesOfZip(bytes);
    const { x, y } = line(129);
    assert.equal(files.get(`train_sets/${upload}/x.csv`)?.toString(), x);
    assert.equal(files.get(`train_sets/${upload}/y.csv`)?.toString(), y);
    assert.equal(files.get(`test_sets/${tests[0]}/x.csv`)?.toString(), 'a,b\n1,2\n');
    assert.equal(files.get(`test_sets/${tests[1]}/x.csv`)?.toString(), line(14_000).x);
    assert.equal(JSON.parse(String(files.get(`train_sets/${upload}/upload.json`))).description, 'family 9');
    assert.equal(JSON.parse(String(files.get(`fitted_train_sets/${model}/model.json`))).id, model);
    assert.ok(files.get(`fitted_train_sets/${model}/model.bin`)!.length > 100);
    assert.equal(files.size, 3 + 2 * 2 + 2);
    const head = await fetch(h.url('/download_all_data/'), { method: 'HEAD', headers: h.bearer() });
    assert.deepEqual([head.status, head.headers.get('content-length')], [200, String(bytes.length)]);
    assert.equal((await remove(upload)).status, 200);
    const empty = await fetch(h.url('/download_all_data/'), { headers: h.bearer() });
    assert.equal(filesOfZip(Buffer.from(await empty.arrayBuffer())).size, 0);
  });
});
