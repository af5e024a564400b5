import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { waitFor } from '../helpers/wait';
import { commandsOfTests, end } from './command';
import { infoOf, line } from './harness';

/** Only Linux can change the limits of a process that runs, and show its open files. */
function canLimit(): boolean {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
    return process.platform === 'linux';
  } catch {
    return false;
  }
}

interface Answer {
  status: number;
  body: Record<string, unknown>;
  retryAfter: string | undefined;
}

describe('Service: too many open files', function () {
  this.timeout(60_000);
  const { folder, cli } = commandsOfTests();
  // One connection for all, since a new one would need another open file.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  before(function () {
    if (!canLimit()) {
      this.skip();
    }
  });
  after(() => agent.destroy());

  async function send(
    url: string,
    method: string,
    headers: Record<string, string>,
    body: string,
    over: Agent | false,
  ) {
    const sent = { ...headers, 'content-length': String(Buffer.byteLength(body)) };
    return new Promise<Answer>((resolve, reject) => {
      const req = request(url, { method, agent: over, headers: sent }, (res) => {
        let text = '';
        res.on('data', (data: Buffer) => (text += data.toString()));
        res.on('error', reject);
        res.on('end', () =>
          resolve({
            status: res.statusCode!,
            body: JSON.parse(text) as Record<string, unknown>,
            retryAfter: res.headers['retry-after'],
          }),
        );
      });
      req.on('error', reject);
      req.end(body);
    });
  }
  const post = (url: string, route: string, body: object, over: Agent | false = agent) =>
    send(
      `${url}/svc/${route}`,
      'POST',
      { authorization: 'Bearer mine', 'content-type': 'application/json' },
      JSON.stringify(body),
      over,
    );
  type Info = { signed_urls: string[]; required_headers: Record<string, string> };
  const put = async (info: unknown, text: string, over: Agent | false = agent) => {
    const { signed_urls, required_headers } = info as Info;
    return send(signed_urls[0]!, 'PUT', required_headers, text, over);
  };
  async function uploadTrain(url: string): Promise<unknown> {
    const { x, y } = line();
    const info = { x_train_info: infoOf(x), y_train_info: infoOf(y) };
    const { body } = await post(url, 'prepare_train_set_upload', info);
    assert.equal((await put(body.x_train_info, x)).status, 200);
    assert.equal((await put(body.y_train_info, y)).status, 200);
    return body.train_set_upload_id;
  }
  const fitOf = (train_set_upload_id: unknown, more: object = {}) => ({
    train_set_upload_id,
    task: 'regression',
    svc_config: { n_estimators: 2, ...more },
  });
  const openFiles = (child: ChildProcess): number[] =>
    readdirSync(`/proc/${child.pid}/fd`)
      .map(Number)
      .sort((a, b) => a - b);

  it('are a passing error for fits and predicts, cost no model, and none stays open', async () => {
    const data = await folder();
    const args = ['--port', '0', '--data', data, '--token', 'mine'];
    const first = await cli(args);
    const upload = await uploadTrain(first.url);
    const fitted = await post(first.url, 'fit', fitOf(upload));
    const id = fitted.body.fitted_train_set_id as string;
    await end(first.child, 'SIGTERM');

    const { url, child } = await cli(args);
    const test = (
      await post(url, 'prepare_test_set_upload', { fitted_train_set_id: id, x_test_info: { format: 'csv' } })
    ).body;
    await put(test.x_test_info, 'a,b\n1,2\n');
    const predict = () =>
      post(url, 'predict', {
        test_set_upload_id: test.test_set_upload_id,
        fitted_train_set_id: id,
        task_config: { task: 'regression' },
      });
    const fit = () => post(url, 'fit', fitOf(upload, { random_state: 1 }));
    const free = await firstFree(child);
    allowFiles(child, free);
    const refused = await predict();
    assert.deepEqual([refused.status, refused.body.code], [503, 'storage.failed'], JSON.stringify(refused));
    assert.match(String(refused.body.detail), /EMFILE/);
    assert.ok(refused.retryAfter !== undefined);
    const before = openFiles(child);
    // One more is too few for a thread, which fails in the middle of its start.
    for (const more of [0, 1, 2, 3, 4, 5, 1, 2, 3]) {
      allowFiles(child, free + more);
      const { status, body, retryAfter } = await fit();
      assert.deepEqual([status, body.code, body.retryable], [503, 'service.unavailable', true]);
      assert.match(String(body.detail), /No thread could be started for this fit \(EMFILE\)/);
      assert.equal(retryAfter, '1');
    }
    assert.deepEqual(openFiles(child), before, 'none is left behind');
    allowFiles(child, 1000);
    const again = await predict();
    assert.equal(again.status, 200, JSON.stringify(again.body));
    const late = await fit();
    assert.equal(late.status, 200, JSON.stringify(late.body));
    assert.deepEqual(
      (await readdir(path.join(data, 'models'))).sort(),
      [id, late.body.fitted_train_set_id as string].sort(),
    );
  });

  it('do not fail a fit that was promised', async () => {
    const data = await folder();
    const { url, child } = await cli(['--port', '0', '--data', data, '--token', 'mine']);
    const upload = await uploadTrain(url);
    // Its record takes one, a thread more.
    const free = await firstFree(child);
    allowFiles(child, free + 3);
    const { status, body } = await post(url, 'submit_fit_job', fitOf(upload));
    assert.deepEqual([status, body.status], [200, 'pending'], JSON.stringify(body));
    const state = async () =>
      (await post(url, 'get_fit_status', { fitted_train_set_id: body.fitted_train_set_id })).body;
    await sleep(200);
    assert.equal((await state()).status, 'pending');
    allowFiles(child, 1000);
    await waitFor('its end', async () => (await state()).status !== 'pending');
    assert.equal((await state()).status, 'completed');
  });

  it('let every one of 80 clients at once predict, as long as each does what it is told', async () => {
    const data = await folder();
    const args = ['--port', '0', '--data', data, '--token', 'mine'];
    const first = await cli(args);
    const fitted = await post(first.url, 'fit', fitOf(await uploadTrain(first.url)));
    await end(first.child, 'SIGTERM');
    const id = fitted.body.fitted_train_set_id;
    const { url, child } = await cli(args);
    allowFiles(child, Math.max(48, (await firstFree(child)) + 12));
    /** Sends it until it is taken: again after `Retry-After`, and after a connection that was closed at once. */
    const taken = async (sends: () => Promise<Answer>): Promise<Answer> => {
      for (;;) {
        const answer = await sends().catch((error: unknown) => error as NodeJS.ErrnoException);
        if (answer instanceof Error) {
          assert.match(answer.code ?? '', /^(?:ECONNRESET|EPIPE)$/, answer.message);
          await sleep(50);
        } else if (answer.status === 200) {
          return answer;
        } else {
          assert.equal(answer.status, 503, JSON.stringify(answer.body));
          assert.equal(answer.body.retryable, true, JSON.stringify(answer.body));
          await sleep(1000 * Number(answer.retryAfter));
        }
      }
    };
    await Promise.all(
      Array.from({ length: 80 }, async () => {
        const info = { fitted_train_set_id: id, x_test_info: { format: 'csv' } };
        const { body } = await taken(() => post(url, 'prepare_test_set_upload', info, false));
        await taken(() => put(body.x_test_info, 'a,b\n1,2\n', false));
        const asked = {
          test_set_upload_id: body.test_set_upload_id,
          fitted_train_set_id: id,
          task_config: { task: 'regression' },
        };
        const predicted = await taken(() => post(url, 'predict', asked, false));
        assert.equal(typeof (predicted.body.prediction as number[])[0], 'number');
      }),
    );
  });

  /** Whether all its threads wait: one that starts runs, or would if it had a core. */
  function isIdle(child: ChildProcess): boolean {
    const tasks = `/proc/${child.pid}/task`;
    return readdirSync(tasks).every((task) => {
      const stat = readFileSync(path.join(tasks, task, 'stat'), 'utf8');
      return stat.slice(stat.lastIndexOf(')') + 2).startsWith('S');
    });
  }

  /** The number that the next file would get, once no thread opens files that it closes again. */
  async function firstFree(child: ChildProcess): Promise<number> {
    let least = Infinity;
    for (let looks = 0; looks < 15; looks = isIdle(child) ? looks + 1 : 0) {
      const open = new Set(openFiles(child));
      let free = 0;
      while (open.has(free)) {
        free += 1;
      }
      least = Math.min(least, free);
      await sleep(20);
    }
    return least;
  }

  function allowFiles(child: ChildProcess, count: number): void {
    execFileSync('prlimit', ['--pid', String(child.pid), `--nofile=${count}:`]);
  }
});
