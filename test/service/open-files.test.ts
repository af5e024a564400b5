import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { Agent, request } from 'node:http';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

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

describe('Service: too many open files', function () {
  this.timeout(30_000);
  const { folder, cli } = commandsOfTests();
  // One connection for all, since a new one would need another open file.
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  after(() => agent.destroy());

  async function send(url: string, method: string, headers: Record<string, string>, body: string) {
    const sent = { ...headers, 'content-length': String(Buffer.byteLength(body)) };
    return new Promise<{ status: number; body: Record<string, unknown>; headers: object }>(
      (resolve, reject) => {
        const req = request(url, { method, agent, headers: sent }, (res) => {
          let text = '';
          res.on('data', (data: Buffer) => (text += data.toString()));
          res.on('end', () =>
            resolve({ status: res.statusCode!, body: JSON.parse(text) as never, headers: res.headers }),
          );
        });
        req.on('error', reject);
        req.end(body);
      },
    );
  }

  it('are a passing error for predicts, and cost no model', async function () {
    if (!canLimit()) {
      this.skip();
    }
    const data = await folder();
    const args = ['--port', '0', '--data', data, '--token', 'mine'];
    const post = (url: string, route: string, body: object) =>
      send(
        `${url}/svc/${route}`,
        'POST',
        { authorization: 'Bearer mine', 'content-type': 'application/json' },
        JSON.stringify(body),
      );
    type Info = { signed_urls: string[]; required_headers: Record<string, string> };
    const put = async (info: unknown, text: string): Promise<void> => {
      const { signed_urls, required_headers } = info as Info;
      assert.equal((await send(signed_urls[0]!, 'PUT', required_headers, text)).status, 200);
    };
    const { x, y } = line();
    const first = await cli(args);
    const train = (
      await post(first.url, 'prepare_train_set_upload', { x_train_info: infoOf(x), y_train_info: infoOf(y) })
    ).body;
    await put(train.x_train_info, x);
    await put(train.y_train_info, y);
    const fitted = await post(first.url, 'fit', {
      train_set_upload_id: train.train_set_upload_id,
      task: 'regression',
    });
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
    allowFiles(child, await firstFree(child));
    const refused = await predict();
    assert.deepEqual([refused.status, refused.body.code], [503, 'storage.failed'], JSON.stringify(refused));
    assert.match(String(refused.body.detail), /EMFILE/);
    assert.ok('retry-after' in refused.headers);
    allowFiles(child, 1000);
    const again = await predict();
    assert.equal(again.status, 200, JSON.stringify(again.body));
    assert.deepEqual(await readdir(path.join(data, 'models')), [id]);
  });

  /** The number that the next file would get, once no thread opens files that it closes again. */
  async function firstFree(child: ChildProcess): Promise<number> {
    let least = Infinity;
    for (let look = 0; look < 30; look++) {
      const open = new Set(readdirSync(`/proc/${child.pid}/fd`).map(Number));
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
