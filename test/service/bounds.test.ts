import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../helpers/wait';
import { flowers, Harness, line } from './harness';
import { givenModel, sharedService } from './shared';

/** As docs/embedded-service.md says. */
const CONNECTIONS = 2_000;
const WAITING_PREDICTS = 1_000;
/** Predicts that keep the only thread busy while others come: some of them may end meanwhile, on a slow machine. */
const LONG_PREDICTS = 5;

describe('Service: how much it takes at once', function () {
  this.timeout(60_000);

  it(`holds ${CONNECTIONS} connections, closes one more at once, and takes others when there is room`, async () => {
    const h = await Harness.start();
    const sockets: { socket: Socket; closed: boolean }[] = [];
    const open = async (): Promise<{ socket: Socket; closed: boolean }> => {
      const one = { socket: connect(h.service.port, '127.0.0.1'), closed: false };
      one.socket.on('error', () => undefined).on('close', () => (one.closed = true));
      sockets.push(one);
      await new Promise<void>((resolve) => {
        one.socket.once('connect', resolve).once('close', resolve);
      });
      return one;
    };
    const limits = (socket: Socket): Promise<string> => {
      socket.write(
        `GET /svc/get_model_limits HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${h.service.token}\r\n\r\n`,
      );
      return new Promise((resolve) => {
        socket.once('data', (data) => resolve(data.toString('latin1').slice(0, 12)));
        socket.once('close', () => resolve('closed'));
      });
    };
    try {
      for (let i = 0; i < CONNECTIONS; i += 100) {
        await Promise.all(Array.from({ length: 100 }, open));
      }
      // Each has been taken by the service itself, not only by the system's queue.
      assert.equal(await limits(sockets.at(-1)!.socket), 'HTTP/1.1 200');
      assert.equal(sockets.filter(({ closed }) => closed).length, 0);
      const oneMore = await open();
      assert.equal(await limits(oneMore.socket), 'closed');
      assert.equal(await limits(sockets[0]!.socket), 'HTTP/1.1 200', 'the others are served');
      sockets[1]!.socket.destroy();
      let answer = 'closed';
      for (let i = 0; i < 50 && answer === 'closed'; i++) {
        await sleep(20);
        answer = await limits((await open()).socket);
      }
      assert.equal(answer, 'HTTP/1.1 200', 'there is room again');
    } finally {
      for (const { socket } of sockets) {
        socket.destroy();
      }
      await h.stop();
    }
  });

  it(`lets ${WAITING_PREDICTS} predicts wait, answers 429 to what is more, and answers every one that waits`, async () => {
    const h = await Harness.start({ predictThreads: 1 });
    const agent = new Agent({ keepAlive: true, maxSockets: 1_500 });
    try {
      // Of as many models as it may have: a predict must last.
      const fitted = await givenModel(h, line(200), 'regression', { task_config: { task: 'regression' } });
      const long = await h.uploadTest(fitted, line(100_000).x);
      const short = await h.uploadTest(fitted, line(3).x);
      const body = (test: string): string =>
        JSON.stringify({
          test_set_upload_id: test,
          fitted_train_set_id: fitted,
          task_config: { task: 'regression' },
        });
      const predict = (text: string, signal?: AbortSignal) =>
        new Promise<{ status: number; retryAfter?: string; text: string }>((resolve, reject) => {
          const headers = {
            ...h.bearer(),
            'content-type': 'application/json',
            'content-length': text.length,
          };
          const req = request(h.url('predict'), { method: 'POST', headers, agent, signal }, (res) => {
            let said = '';
            res.on('data', (data: Buffer) => (said += data.toString()));
            res.on('end', () =>
              resolve({ status: res.statusCode!, retryAfter: res.headers['retry-after'], text: said }),
            );
          });
          req.on('error', reject);
          req.end(text);
        });
      const waiting = async (): Promise<number> =>
        (await h.get('get_service_status')).body.predicts.waiting as number;
      const over = new AbortController();
      const first = Array.from({ length: LONG_PREDICTS }, () =>
        predict(body(long), over.signal).catch(() => undefined),
      );
      while ((await waiting()) < LONG_PREDICTS / 2) {
        await sleep(10);
      }
      const others = Array.from({ length: WAITING_PREDICTS + 100 }, () => predict(body(short)));
      let refusals = 0;
      const refusal = await Promise.any(
        others.map(async (answer) => {
          const { status } = await answer;
          refusals += Number(status === 429);
          return status === 429 ? answer : Promise.reject(new Error(String(status)));
        }),
      );
      assert.equal(refusal.retryAfter, '1');
      const { code, retryable, detail } = JSON.parse(refusal.text) as Record<string, unknown>;
      assert.deepEqual([code, retryable], ['rate.limit.exceeded', true]);
      assert.match(String(detail), /Too many predict requests wait/);
      const wait = await waiting();
      assert.ok(wait <= WAITING_PREDICTS && wait > WAITING_PREDICTS - LONG_PREDICTS, `${wait} wait`);
      assert.equal((await h.get('get_model_limits')).status, 200, 'what does not wait is answered');
      // As many as may wait do, beside the long ones but the one that runs; one more for each that has ended meanwhile.
      const most = others.length + LONG_PREDICTS - 1 - WAITING_PREDICTS;
      await waitFor('the last to be refused', () => refusals > most - LONG_PREDICTS);
      // What is left of the long ones has done its work, and need not be computed.
      over.abort();
      await Promise.all(first);
      const answers = await Promise.all(others);
      const refused = answers.filter(({ status }) => status === 429).length;
      assert.ok(refused <= most && refused > most - LONG_PREDICTS, `${refused} of ${answers.length} refused`);
      for (const answer of answers) {
        if (answer.status !== 429) {
          assert.equal(answer.status, 200, answer.text);
        }
      }
      assert.equal((await predict(body(short))).status, 200, 'there is room again');
    } finally {
      agent.destroy();
      await h.stop();
    }
  });

  it('fits once for many who ask the same at the same time, and tells each the same', async () => {
    const h = await sharedService();
    const { x, y } = flowers();
    const train_set_upload_id = await h.uploadTrain(x, y);
    const shapes = [
      { train_set_upload_id, task: 'classification', svc_config: { random_state: 5, n_estimators: 2 } },
      {
        train_set_upload_id: train_set_upload_id.toUpperCase(),
        task_config: { task: 'classification', svc_config: { random_state: 5, n_estimators: 2 } },
        svc_systems: ['text', 'preprocessing'],
      },
    ];
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => h.post('fit', shapes[i % 2])));
    assert.ok(answers.every(({ status }) => status === 200));
    assert.equal(new Set(answers.map(({ body }) => body.fitted_train_set_id)).size, 1);
    assert.equal(answers.filter(({ body }) => body.reused === false).length, 1);
    const reports = new Set(answers.map(({ body }) => JSON.stringify(body.report)));
    assert.equal(reports.size, 1);
    assert.equal((await h.get('get_service_status')).body.fitted_train_sets, 1);
  });
});
