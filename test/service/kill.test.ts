import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { OWN_FLAGS } from '../helpers/own-flags';
import { waitFor } from '../helpers/wait';
import { type Answer, answerOf, infoOf, putFile, temporaryFolder } from './harness';

const CLI = path.join(__dirname, '../../dist/src/service/cli.js');
const ROUNDS = 3;

/** Delays that are the same in every run. */
function* delays(): Generator<number> {
  let state = 20_260;
  for (;;) {
    state = (state * 1_103_515_245 + 12_345) % 2 ** 31;
    yield state % 400;
  }
}

/** What the service has said yes to; none of it may be lost. */
interface Promised {
  uploads: { x: string; y: string; id: string }[];
  fits: { upload: string; id: string }[];
}

class Client {
  constructor(readonly url: string) {}

  post(route: string, body: object): Promise<Answer> {
    const headers = { authorization: 'Bearer mine', 'content-type': 'application/json' };
    return fetch(`${this.url}/svc/${route}`, { method: 'POST', headers, body: JSON.stringify(body) }).then(
      answerOf,
    );
  }

  prepare(x: string, y: string): Promise<Answer> {
    return this.post('prepare_train_set_upload', { x_train_info: infoOf(x), y_train_info: infoOf(y) });
  }

  fit(upload: string): Promise<Answer> {
    return this.post('fit', {
      train_set_upload_id: upload,
      task: 'regression',
      svc_config: { n_estimators: 1 },
    });
  }

  /** Uploads and fits new tables without end, noting what was answered, until the service is gone. */
  async work(promised: Promised, round: number): Promise<void> {
    for (let i = 0; ; i++) {
      const x = `a\n${Array.from({ length: 40 }, (_, row) => row * (i + 1)).join('\n')}\n`;
      const y = `y${round}\n${Array.from({ length: 40 }, (_, row) => row * 2 + i).join('\n')}\n`;
      const { status, body } = await this.prepare(x, y);
      assert.equal(status, 200);
      const puts = await Promise.all([putFile(body.x_train_info, x), putFile(body.y_train_info, y)]);
      assert.deepEqual(
        puts.map((put) => put.status),
        [200, 200],
      );
      const id = body.train_set_upload_id as string;
      promised.uploads.push({ x, y, id });
      const fitted = await this.fit(id);
      assert.equal(fitted.status, 200);
      promised.fits.push({ upload: id, id: fitted.body.fitted_train_set_id as string });
    }
  }
}

describe('Service: killed at any moment', () => {
  let folder: string;
  let child: ChildProcess;
  before(async () => {
    folder = await temporaryFolder();
  });
  after(async () => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill('SIGKILL');
    }
    await rm(folder, { recursive: true, force: true });
  });

  async function start(): Promise<Client> {
    child = spawn(process.execPath, [...OWN_FLAGS, CLI, '--port', '0', '--data', folder, '--token', 'mine']);
    let out = '';
    child.stderr!.on('data', (data: Buffer) => (out += data.toString()));
    child.stdout!.on('data', (data: Buffer) => (out += data.toString()));
    while (!out.includes('Data: ')) {
      assert.equal(child.exitCode, null, out);
      await sleep(20);
    }
    assert.ok(!out.includes('Set aside'), out);
    return new Client(/http:\/\/\S+/.exec(out)![0]);
  }

  it('still has all that it said yes to', async function () {
    this.timeout(90_000);
    const promised: Promised = { uploads: [], fits: [] };
    const wait = delays();
    for (let round = 0; round < ROUNDS; round++) {
      const client = await start();
      const work = client.work(promised, round).catch((error: unknown) => error);
      const before = promised.fits.length;
      await waitFor('a fit', () => promised.fits.length > before);
      await sleep(wait.next().value);
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
      const end = await work;
      assert.ok(!(end instanceof assert.AssertionError), String(end));
    }
    assert.ok(promised.fits.length >= ROUNDS, `${promised.fits.length} fits were enough to tell`);
    const client = await start();
    for (const { x, y, id } of promised.uploads) {
      const { status, body } = await client.prepare(x, y);
      assert.deepEqual([status, body.train_set_upload_id], [409, id]);
    }
    for (const { upload, id } of promised.fits) {
      const again = await client.fit(upload);
      assert.deepEqual([again.body.fitted_train_set_id, again.body.reused], [id, true]);
      const prepared = await client.post('prepare_test_set_upload', {
        fitted_train_set_id: id,
        x_test_info: { format: 'csv' },
      });
      await putFile(prepared.body.x_test_info, 'a\n5\n');
      const predicted = await client.post('predict', {
        test_set_upload_id: prepared.body.test_set_upload_id,
        fitted_train_set_id: id,
        task_config: { task: 'regression' },
      });
      assert.equal(predicted.status, 200, predicted.text);
    }
    for (const kind of ['uploads', 'models']) {
      const names = await readdir(path.join(folder, kind));
      assert.deepEqual(
        names.filter((name) => name.includes('.')),
        [],
        'nothing half done is left',
      );
    }
  });
});
