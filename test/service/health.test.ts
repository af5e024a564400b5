import assert from 'node:assert/strict';

import { waitFor } from '../helpers/wait';
import { commandsOfTests, end } from './command';
import { answerOf, Harness } from './harness';
import { sharedService } from './shared';

/** So many that it takes a while to explain them. */
const ROWS = 60;

/* What those who run the service as a process of its own ask it: /healthz and /readyz, and how it ends. */
describe('Service: health, readiness and the end', function () {
  this.timeout(120_000);
  const { folder, cli } = commandsOfTests();

  it('answers /healthz and /readyz to anybody, and to GET and HEAD alone', async () => {
    const h = await sharedService();
    for (const [route, body] of [
      ['/healthz', { status: 'ok' }],
      ['/readyz', { status: 'ready' }],
    ] as const) {
      for (const headers of [{}, { authorization: 'Bearer wrong' }] as Record<string, string>[]) {
        const answer = await answerOf(await fetch(h.url(route), { headers }));
        assert.deepEqual([answer.status, answer.body], [200, body]);
      }
      assert.equal((await fetch(h.url(route), { method: 'HEAD' })).status, 200);
      assert.equal((await fetch(h.url(route), { method: 'POST' })).status, 401);
      assert.equal((await fetch(h.url(route), { method: 'POST', headers: h.bearer() })).status, 405);
    }
  });

  it('is not ready from SIGTERM on, takes nothing new, ends the predict under way and keeps a submitted fit', async () => {
    const data = await folder();
    const start = async () => {
      const started = await cli(['--port', '0', '--data', data, '--token', 'mine']);
      return { ...started, h: Harness.of({ url: started.url, token: 'mine' }) };
    };
    const { child, h } = await start();
    const { x, y } = wide(ROWS);
    const fitted = await h.fit(x, y, 'classification');
    const upload = await h.uploadTrain(x, y, { force_reupload: true });
    const test = await h.uploadTest(fitted, x);
    const predict = h.post('predict', {
      test_set_upload_id: test,
      fitted_train_set_id: fitted,
      task_config: { task: 'classification', svc_config: { inference_config: { EXPLAIN: true } } },
    });
    await waitFor('the predict', async () => {
      const { body } = await h.get('get_service_status');
      return body.predicts.running > 0;
    });
    const submitted = await h.post('submit_fit_job', {
      train_set_upload_id: upload,
      task: 'classification',
      svc_config: { random_state: 7, n_estimators: 2 },
    });
    const ended = end(child, 'SIGTERM');
    const ready = async () => answerOf(await fetch(h.url('/readyz')));
    const closing = await waitFor('503', async () => {
      const answer = await ready();
      return answer.status === 503 && answer;
    });
    assert.deepEqual(closing.body, { status: 'closing' });
    assert.equal((await fetch(h.url('/healthz'))).status, 200);
    const refused = await h.post('fit', { train_set_upload_id: upload, task: 'classification' });
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.retryable],
      [503, 'service.unavailable', true],
    );
    assert.equal((await h.get('get_model_limits', { authorization: 'Bearer wrong' })).status, 401);
    const answer = await predict;
    assert.equal(answer.status, 200, answer.text);
    assert.equal(answer.body.metadata.explanation.rows.length, ROWS);
    assert.equal(await ended, 0);
    const again = await start();
    const fit = await waitFor(
      'the submitted fit',
      async () => {
        const { body } = await again.h.post('get_fit_status', {
          fitted_train_set_id: submitted.body.fitted_train_set_id,
        });
        return body.status !== 'pending' && body;
      },
      90_000,
    );
    assert.equal(fit.status, 'completed');
  });
});

/** Rows whose causes take a while to tell apart. */
function wide(rows: number): { x: string; y: string } {
  const columns = Array.from({ length: 24 }, (_, i) => `c${i}`);
  const value = (row: number, column: number): number =>
    ((Math.imul(row * 31 + column * 17 + 1, 2_654_435_761) >>> 8) % 1_000) / 10;
  const table = Array.from({ length: rows }, (_, row) => columns.map((_, column) => value(row, column)));
  const label = (cells: number[]): string =>
    cells[0]! + cells[1]! - cells[2]! + cells[3]! / 2 > 75 ? 'high' : 'normal';
  return {
    x: [columns, ...table].map((cells) => cells.join(',')).join('\n'),
    y: ['load', ...table.map(label)].join('\n'),
  };
}
