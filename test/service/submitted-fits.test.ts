import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../helpers/wait';
import { end, startCli } from './command';
import {
  type Answer,
  answerOf,
  Harness,
  infoOf,
  line,
  nobody,
  putFile,
  temporaryFolder,
  UUID,
} from './harness';

/** So many rows that their fit lasts while it is asked about. */
const LONG = 2_000;
/** Enough of a fit whose scores do not matter. */
const TWO_FOLDS = { task_config: { task: 'regression', svc_config: { n_estimators: 2 } } };

/**
 * A target without noise of ten columns: all that is tried for it takes half a second on one thread, many
 * times what as many rows of a line take.
 */
function waves(rows = 120): { x: string; y: string } {
  const places = Array.from({ length: 10 }, (_, k) => k + 3);
  const cells = Array.from({ length: rows }, (_, i) =>
    places.map((k) => (((i + 1) * k * 7919) % 10_007) / 10_007),
  );
  const targets = cells.map(([a, b, c]) => Math.sin(8 * a!) * b! + c! * c!);
  return {
    x: `${[places.map((k) => `c${k}`), ...cells].map((row) => row.join(',')).join('\n')}\n`,
    y: `${['target', ...targets].join('\n')}\n`,
  };
}

type Ask = (method: string, route: string, body?: object) => Promise<Answer>;

function asker(url: string, token: string): Ask {
  return async (method, route, body) =>
    answerOf(
      await fetch(`${url}/svc/${route}`, {
        method,
        headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: body === undefined ? undefined : JSON.stringify(body),
      }),
    );
}

/** What became of a fit, asked as often as its answers allow, but quicker. */
async function outcome(ask: Ask, id: string): Promise<Answer> {
  for (let i = 0; i < 1_200; i++) {
    const answer = await ask('POST', 'get_fit_status', { fitted_train_set_id: id });
    assert.equal(answer.status, 200, answer.text);
    if (answer.body.status !== 'pending') {
      return answer;
    }
    await sleep(50);
  }
  throw new Error('the fit does not end');
}

/** The records in a folder once there are so many: one goes a moment after its model can be used. */
async function records(folder: string, count: number): Promise<string[]> {
  const names = await waitFor(`${count} records`, async () => {
    const found = await readdir(path.join(folder, 'fits'));
    return found.length === count && found;
  });
  return names.sort();
}

describe('Service: fits answered by their id before they have ended', function () {
  this.timeout(90_000);
  let h: Harness;
  let ask: Ask;
  before(async () => {
    h = await Harness.start({ fitThreads: 1 });
    ask = asker(h.service.url, h.service.token);
  });
  after(() => h.stop());

  const shapeB = (upload: string, extra: object = {}) => ({
    train_set_upload_id: upload,
    task_config: { task: 'regression' },
    ...extra,
  });

  it('promises an id, tells of the progress, and serves the model under it', async () => {
    const { x, y } = line(LONG);
    const upload = await h.uploadTrain(x, y);
    const { status, body } = await ask('POST', 'submit_fit_job', shapeB(upload, TWO_FOLDS));
    assert.deepEqual([status, body.status], [200, 'pending']);
    const id = body.fitted_train_set_id as string;
    assert.match(id, UUID);
    const pending = (await ask('POST', 'get_fit_status', { fitted_train_set_id: id })).body;
    assert.deepEqual([pending.fitted_train_set_id, pending.status], [id, 'pending']);
    assert.ok(pending.retry_in_secs >= 1 && pending.retry_in_secs <= 5);
    assert.ok(pending.progress >= 0 && pending.progress < 1);
    assert.deepEqual(
      (await ask('GET', `fit/${id.toUpperCase()}`)).body.fitted_train_set_id,
      id,
      'the other way to ask',
    );
    assert.deepEqual(await readdir(path.join(h.folder, 'fits')), [`${id}.json`]);
    const again = await ask('POST', 'submit_fit_job', shapeB(upload, TWO_FOLDS));
    assert.equal(again.body.fitted_train_set_id, id, 'the same request joins it');
    const sync = await ask('POST', 'fit', shapeB(upload, TWO_FOLDS));
    assert.deepEqual([sync.body.fitted_train_set_id, sync.body.reused], [id, true]);
    const { body: done } = await outcome(ask, id);
    assert.deepEqual([done.fitted_train_set_id, done.status], [id, 'completed']);
    assert.ok(done.report.scores.r2 > 0.9);
    assert.deepEqual((await ask('GET', `fit/${id}`)).body, done);
    assert.deepEqual(await records(h.folder, 0), [], 'its record is not needed any more');
    const predicted = await h.predict(id, 'a,b\n10,1\n', 'regression');
    assert.equal(predicted.status, 200, predicted.text);
    const known = await ask('POST', 'submit_fit_job', shapeB(upload, TWO_FOLDS));
    assert.deepEqual([known.body.fitted_train_set_id, known.body.status], [id, 'completed']);
  });

  it('does the same for a fit with async_mode, in either shape', async () => {
    const { x, y } = line(200);
    const upload = await h.uploadTrain(x, y);
    const flat = { train_set_upload_id: upload, task: 'regression', async_mode: true, colour: 1 };
    const { body } = await ask('POST', 'fit', flat);
    assert.ok(['pending', 'completed'].includes(body.status as string));
    assert.deepEqual(body.ignored_options, ['colour']);
    assert.equal((await outcome(ask, body.fitted_train_set_id as string)).body.status, 'completed');
    const nested = await ask('POST', 'fit', shapeB(upload, { async_mode: true }));
    assert.equal(nested.body.fitted_train_set_id, body.fitted_train_set_id);
    const waiting = await ask('POST', 'fit', shapeB(upload, { async_mode: false }));
    assert.deepEqual([waiting.body.status, waiting.body.reused], ['completed', true]);
  });

  it('answers 200 with status failed for a fit that failed, after a restart too', async () => {
    const folder = await temporaryFolder();
    // With one thread the fit is sure to last longer than the service.
    const options = { dataDir: folder, fitThreads: 1 };
    let own = await Harness.start(options);
    try {
      const upload = await own.uploadTrain('a\n1\n2\n', 'y\nred\nblue\n');
      const own1 = asker(own.service.url, own.service.token);
      const { body } = await own1('POST', 'submit_fit_job', shapeB(upload));
      const id = body.fitted_train_set_id as string;
      const { body: failed } = await outcome(own1, id);
      assert.equal(failed.status, 'failed');
      assert.match(failed.error, /holds text: regression needs numbers.*[^.]$/);
      assert.equal(failed.error_code, 'VALIDATION_ERROR');
      await own.stop(true);
      own = await Harness.start({ dataDir: folder });
      assert.deepEqual((await outcome(asker(own.service.url, own.service.token), id)).body, failed);
    } finally {
      await own.stop();
    }
  });

  it('refuses at once what cannot be fitted: 404, 422', async () => {
    assert.equal((await ask('POST', 'submit_fit_job', shapeB(nobody))).status, 404);
    const { x, y } = line(50);
    const { body } = await h.post('prepare_train_set_upload', {
      x_train_info: infoOf(x),
      y_train_info: infoOf(y),
    });
    const waiting = await ask('POST', 'submit_fit_job', shapeB(body.train_set_upload_id as string));
    assert.deepEqual([waiting.status, waiting.body.error_code], [422, 'UPLOAD_INCOMPLETE']);
    assert.equal((await ask('POST', 'submit_fit_job', {})).status, 422);
    assert.deepEqual(await records(h.folder, 0), []);
  });

  it('knows no fit but its own', async () => {
    assert.equal((await ask('POST', 'get_fit_status', { fitted_train_set_id: nobody })).status, 404);
    assert.equal((await ask('POST', 'get_fit_status', { fitted_train_set_id: 'x' })).status, 422);
    assert.equal((await ask('POST', 'get_fit_status', {})).status, 422);
    for (const id of [nobody, 'x', '']) {
      assert.equal((await ask('GET', `fit/${id}`)).status, 404, id);
    }
    const wrong = await ask('POST', `fit/${nobody}`, {});
    assert.deepEqual([wrong.status, wrong.headers.get('allow')], [405, 'GET, HEAD']);
    assert.equal((await ask('GET', 'get_fit_status')).status, 405);
  });

  it('begins again after a planned end, which counts for nothing', async () => {
    const folder = await temporaryFolder();
    // All folds on one thread: the fit lasts many times what this service waits for it.
    const options = { dataDir: folder, fitThreads: 1, times: { fitGraceMs: 20 } };
    let own = await Harness.start(options);
    try {
      const { x, y } = waves();
      const upload = await own.uploadTrain(x, y);
      const { body } = await asker(own.service.url, own.service.token)(
        'POST',
        'submit_fit_job',
        shapeB(upload),
      );
      const id = body.fitted_train_set_id as string;
      await waitFor('the fit', async () => (await own.get('get_service_status')).body.fits.length === 1);
      await own.stop(true);
      const record = JSON.parse(await readFile(path.join(folder, 'fits', `${id}.json`), 'utf8'));
      assert.deepEqual([record.id, record.starts, record.failure], [id, 0, undefined]);
      own = await Harness.start(options);
      const after = asker(own.service.url, own.service.token);
      assert.equal((await outcome(after, id)).body.status, 'completed');
    } finally {
      await own.stop();
    }
  });

  describe('where the service is killed', () => {
    let folder: string;
    let child: ChildProcess;
    before(async () => {
      folder = await temporaryFolder();
    });
    after(async () => {
      await end(child, 'SIGKILL');
      await rm(folder, { recursive: true, force: true });
    });

    async function start(): Promise<Ask> {
      const started = await startCli(['--port', '0', '--data', folder, '--token', 'mine']);
      child = started.child;
      return asker(started.url, 'mine');
    }

    const upload = async (post: Ask, rows: number): Promise<string> => {
      const { x, y } = line(rows);
      const { body } = await post('POST', 'prepare_train_set_upload', {
        x_train_info: infoOf(x),
        y_train_info: infoOf(y),
      });
      await putFile(body.x_train_info, x);
      await putFile(body.y_train_info, y);
      return body.train_set_upload_id as string;
    };

    it('keeps every promise, running or waiting, under the same id', async () => {
      const first = await start();
      const train = await upload(first, 60);
      const ids: string[] = [];
      for (const seed of [1, 2, 3, 4]) {
        const config = { task: 'regression', svc_config: { random_state: seed, n_estimators: 1 } };
        const { body } = await first('POST', 'submit_fit_job', shapeB(train, { task_config: config }));
        ids.push(body.fitted_train_set_id as string);
      }
      await end(child, 'SIGKILL');
      const second = await start();
      for (const id of ids) {
        assert.equal((await outcome(second, id)).body.status, 'completed');
      }
      assert.deepEqual(await records(folder, 0), []);
      await end(child, 'SIGKILL');
    });

    it('gives up a fit that has not outlived three starts, and forgets one whose model is there', async () => {
      const [known] = await readdir(path.join(folder, 'models'));
      const record = (id: string, starts: number) =>
        writeFile(
          path.join(folder, 'fits', `${id}.json`),
          JSON.stringify({
            version: 1,
            id,
            request: { train_set_upload_id: nobody, task: 'regression' },
            submittedAt: Date.now(),
            starts,
          }),
        );
      const [tired, orphan] = [randomUUID(), randomUUID()];
      await record(tired, 3);
      await record(orphan, 2);
      await record(known!, 1);
      await writeFile(path.join(folder, 'fits', `${randomUUID()}.json`), '{');
      const post = await start();
      const { body } = await outcome(post, tired);
      assert.deepEqual([body.status, body.error_code], ['failed', 'FIT_INTERRUPTED']);
      assert.match(body.error, /ended 3 times/);
      const gone = (await outcome(post, orphan)).body;
      assert.deepEqual([gone.status, gone.error_code], ['failed', 'NOT_FOUND']);
      assert.match(gone.error, /no train set upload/);
      assert.equal((await outcome(post, known!)).body.status, 'completed');
      assert.deepEqual(await records(folder, 2), [`${tired}.json`, `${orphan}.json`].sort());
    });
  });
});
