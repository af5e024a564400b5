import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import http, { type IncomingMessage } from 'node:http';
import path from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { ServiceClient } from '../../dist/src/client';
import { resolveOptions } from '../../dist/src/service/options';
import { runService } from '../../dist/src/service/service';
import { holding } from '../helpers/failing-files';
import { waitFor } from '../helpers/wait';
import { type Answer, bytesOf, Harness, hashOf, line, temporaryFolder } from './harness';
import { givenModel } from './shared';

/** So many rows that a test set of them is kept on disk and survives a restart. */
const ROWS = 14_000;

/** What is under way when the service closes is answered, so that whoever asked knows to ask again. */
describe('Service: closing', function () {
  this.timeout(60_000);
  let data: string;
  before(async () => {
    data = await temporaryFolder();
  });

  const start = (port = 0, fitGraceMs = 100): Promise<Harness> =>
    Harness.start({
      ...{ dataDir: data, port, keepaliveMs: 50, predictThreads: 1, fitThreads: 1 },
      times: { fitGraceMs },
    });
  type Status = { fits: { progress: number }[]; predicts: { waiting: number } };
  const until = async (h: Harness, holds: (status: Status) => boolean): Promise<void> => {
    await waitFor('work under way', async () => holds((await h.get('get_service_status')).body as Status));
  };

  it('answers predicts and fits that it cannot finish with 503', async () => {
    const h = await start();
    const fitted = await givenModel(h, line(200), 'regression');
    const many = line(ROWS * 2);
    const train = await h.uploadTrain(many.x, many.y);
    const fit = (random_state: number): Promise<Answer> =>
      h.post('fit', { train_set_upload_id: train, task: 'regression', svc_config: { random_state } });
    const test = await h.uploadTest(fitted, line(ROWS).x);
    const predict = (): Promise<Answer> =>
      h.post('predict', {
        test_set_upload_id: test,
        fitted_train_set_id: fitted,
        task_config: { task: 'regression', predict_params: { output_type: 'quantiles' } },
      });
    const fits = [fit(1), fit(2)];
    // On a busy machine the predicts would be done before the first fold is.
    await until(h, ({ fits: running }) => running.some(({ progress }) => progress > 0));
    const predicts = Array.from({ length: 40 }, predict);
    // Once fewer wait than before, all of them have come.
    let most = 0;
    await until(h, ({ predicts: { waiting } }) => {
      most = Math.max(most, waiting);
      return waiting > 5 && waiting < most;
    });
    const closing = h.service.close();
    const answers = await Promise.all(predicts);
    const refused = answers.filter(({ status }) => status === 503);
    assert.ok(refused.length >= 5, `${refused.length} of ${answers.length} were refused`);
    for (const { status, body, headers } of answers) {
      if (status === 200) {
        assert.equal(body.prediction[0].length, ROWS);
        continue;
      }
      assert.equal(status, 503);
      assert.equal(headers.get('content-type'), 'application/json');
      // A kept connection would be closed while the next request is sent, whose outcome nobody knows then.
      assert.equal(headers.get('connection'), 'close');
      assert.deepEqual(Object.keys(body).sort(), ['code', 'detail', 'retryable', 'support']);
      assert.deepEqual([body.code, body.retryable], ['service.unavailable', true]);
    }
    for (const { status, body } of await Promise.all(fits)) {
      assert.equal(status, 200, 'its whitespace had begun');
      assert.deepEqual(
        [body._streamed_error, body.status_code, body.code, body.retryable],
        [true, 503, 'service.unavailable', true],
      );
    }
    await closing;
    await assert.rejects(h.get('get_model_limits'));
  });

  it('lets a fit end that is done within its time', async () => {
    const h = await start(0, 30_000);
    // The first fit of a thread compiles the learner: it lasts while it is asked for.
    const { x, y } = line(300);
    const train_set_upload_id = await h.uploadTrain(x, y);
    const fit = h.post('fit', { train_set_upload_id, task: 'regression', svc_config: { n_estimators: 2 } });
    await until(h, ({ fits }) => fits.length === 1);
    await h.service.close();
    const { status, body } = await fit;
    assert.deepEqual([status, body.status], [200, 'completed'], JSON.stringify(body));
    assert.ok((await readdir(path.join(data, 'models'))).includes(body.fitted_train_set_id as string));
  });

  it('answers a fit whose model takes long to be kept', async () => {
    // In this thread, so that its disk can be held.
    const options = resolveOptions({ dataDir: data, times: { fitGraceMs: 30_000 } }, 'mine');
    const service = await runService(
      options,
      () => undefined,
      () => undefined,
    );
    const h = Harness.of({ url: service.url, token: 'mine' });
    const { x, y } = line(40);
    const train_set_upload_id = await h.uploadTrain(x, y);
    const disk = holding('rename', /models.*tmp$/);
    const fit = h.post('fit', { train_set_upload_id, task: 'regression', svc_config: { n_estimators: 2 } });
    await disk.reached;
    const closing = service.close();
    // Longer than an answer may take to be sent.
    await sleep(1_200);
    disk.letGo();
    const { status, body } = await fit;
    assert.deepEqual([status, body.status], [200, 'completed'], JSON.stringify(body));
    await closing;
  });

  it('sends all of an answer that is being read', async () => {
    const h = await start();
    const fitted = await givenModel(h, line(200), 'regression');
    const test = await h.uploadTest(fitted, line(ROWS).x);
    const quantiles = Array.from({ length: 60 }, (_, at) => (at + 1) / 61);
    const ask = JSON.stringify({
      test_set_upload_id: test,
      fitted_train_set_id: fitted,
      task_config: { task: 'regression', predict_params: { output_type: 'quantiles', quantiles } },
    });
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const { port } = h.service;
      const headers = { ...h.bearer(), 'content-type': 'application/json' };
      http
        .request({ port, path: '/svc/predict', method: 'POST', headers }, resolve)
        .on('error', reject)
        .end(ask);
    });
    assert.equal(answer.statusCode, 200);
    const closing = h.service.close();
    // More than systems hold for a connection waits in the service, which has nothing else to do by then.
    await sleep(400);
    const whole = await text(answer);
    await closing;
    assert.equal(whole.length, Number(answer.headers['content-length']));
    assert.ok(whole.endsWith('}'));
  });

  it('lets our client predict over a restart without a word', async () => {
    const first = await start();
    const fitted_train_set_id = await givenModel(first, line(200), 'regression');
    const { port } = first.service;
    const client = new ServiceClient({
      baseUrl: first.service.url,
      token: first.service.token,
      // As for each service of this package. A connection that breaks under a predict does not say whether it was carried
      // out: one that may be metered is not repeated then.
      free: true,
      concurrency: 8,
      // The back-off is random: four of them may by chance be shorter than the restart.
      retries: 8,
    });
    const rows = bytesOf(line(ROWS).x);
    try {
      const { test_set_upload_id } = await client.uploadTestSet({
        fitted_train_set_id,
        x: {
          format: 'csv',
          bytes: rows.length,
          hash: hashOf(rows),
          open: (from = 0, to = rows.length) => Readable.from([Buffer.from(rows.subarray(from, to))]),
        },
      });
      const predicts = Array.from({ length: 4 }, () =>
        client.predict({
          test_set_upload_id,
          fitted_train_set_id,
          task: 'regression',
          output_type: 'mean',
        }),
      );
      const all = Promise.all(predicts);
      all.catch(() => undefined);
      for (let waiting = 0; waiting === 0;) {
        waiting = (await first.get('get_service_status')).body.predicts.waiting as number;
      }
      await first.stop(true);
      const second = await start(port);
      try {
        for (const { prediction, rows: count } of await all) {
          assert.equal(prediction.kind, 'numbers');
          assert.equal(count, ROWS);
        }
      } finally {
        await second.stop();
      }
    } finally {
      await client.close();
    }
  });
});
