import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { type Answer, flowers, infoOf, line, postTo, putFile, temporaryFolder } from './harness';

const CLI = path.join(__dirname, '../../dist/src/service/cli.js');

/** Only Linux can change the limits of a process that runs. */
function canLimit(): boolean {
  try {
    execFileSync('prlimit', ['--version'], { stdio: 'ignore' });
    return process.platform === 'linux';
  } catch {
    return false;
  }
}

/*
 * The kernel itself refuses to write, with EFBIG for what goes beyond a size that the test sets and lifts while the
 * service runs: like a full disk it takes the first part of a write, and it needs no rights and no other disk.
 */
describe('Service: no room on the disk', () => {
  let folder: string;
  let child: ChildProcess;
  let url: string;
  let log = '';

  before(async function () {
    if (!canLimit()) {
      console.log('      prlimit is not on this machine');
      this.skip();
    }
    folder = await temporaryFolder();
    await start();
  });
  after(async () => {
    if (folder === undefined) {
      return;
    }
    await end();
    await rm(folder, { recursive: true, force: true });
  });
  afterEach(() => {
    if (child.exitCode === null && child.signalCode === null) {
      allow('unlimited');
    }
  });

  async function start(bytes: number | 'unlimited' = 'unlimited'): Promise<void> {
    const args = [CLI, '--port', '0', '--data', folder, '--token', 'mine', '--verbose'];
    child = spawn('prlimit', [`--fsize=${bytes}:`, process.execPath, ...args]);
    let out = '';
    child.stdout!.on('data', (data: Buffer) => (out += data.toString()));
    child.stderr!.on('data', (data: Buffer) => (log += data.toString()));
    while (!out.includes('Data: ')) {
      assert.equal(child.exitCode, null, log);
      await sleep(20);
    }
    url = /http:\/\/\S+/.exec(out)![0];
  }

  async function end(): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) {
      return;
    }
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    await exited;
  }

  /** From now on no file of the service may grow beyond so many bytes. */
  const allow = (bytes: number | 'unlimited'): void => {
    execFileSync('prlimit', ['--pid', String(child.pid), `--fsize=${bytes}:`]);
  };

  const post = (route: string, body: object): Promise<Answer> => postTo(url, route, body);
  const prepare = async (x: string, y: string, extra: object = {}) =>
    (
      await post('prepare_train_set_upload', {
        x_train_info: { ...infoOf(x), ...extra },
        y_train_info: infoOf(y),
        force_reupload: true,
      })
    ).body;
  const stored = async (): Promise<string[]> => {
    const names = await Promise.all(['uploads', 'models'].map((name) => readdir(path.join(folder, name))));
    return names.flat().sort();
  };
  const assertNoRoom = (answer: Answer): void => {
    // A fit that took long was answered in part already: the rest says what the status would have been.
    const { _streamed_error: streamed, status_code: late, ...body } = answer.body;
    assert.equal(streamed === true ? late : answer.status, 507, answer.text);
    assert.deepEqual(Object.keys(body).sort(), ['code', 'detail', 'retryable', 'support']);
    assert.equal(answer.body.code, 'storage.failed');
    assert.equal(answer.body.retryable, false);
    assert.match(answer.body.detail, /EFBIG.*make room/);
  };
  const predict = async (id: string, x: string): Promise<Answer> => {
    const info = { fitted_train_set_id: id, x_test_info: infoOf(x) };
    const { body } = await post('prepare_test_set_upload', info);
    assert.equal((await putFile(body.x_test_info, x)).status, 200, 'a small one needs no disk');
    return post('predict', {
      test_set_upload_id: body.test_set_upload_id,
      fitted_train_set_id: id,
      task_config: { task: 'classification' },
    });
  };
  async function upload(x: string, y: string): Promise<string> {
    const body = await prepare(x, y);
    assert.equal((await putFile(body.x_train_info, x)).status, 200);
    assert.equal((await putFile(body.y_train_info, y)).status, 200);
    return body.train_set_upload_id as string;
  }

  it('answers 507 to a PUT, keeps nothing of it, and takes the upload when there is room', async () => {
    const { x, y } = line(20_000);
    const before = await stored();
    // Not a multiple of any piece that is written: the last write is cut short.
    for (const bytes of [0, 10_001, x.length - 1]) {
      const body = await prepare(x, y);
      assert.equal((await stored()).length, before.length + 1);
      allow(bytes);
      assertNoRoom(await putFile(body.x_train_info, x));
      assert.deepEqual(await stored(), before, `with ${bytes} bytes allowed`);
      allow('unlimited');
      const late = await putFile(body.x_train_info, x);
      assert.equal(late.status, 403, 'prepare it again');
    }
    await upload(x, y);
  });

  it('gives up all of an upload when one of its chunks finds no room', async () => {
    const x = `a,b\n${'1,2\n'.repeat(5e6)}`;
    const before = await stored();
    const body = await prepare(x, 'y\n1\n', { use_chunks: true });
    const { signed_urls: urls, required_headers } = body.x_train_info;
    assert.ok(urls.length > 1);
    const whole = Buffer.from(x);
    const size = Math.floor(whole.length / urls.length);
    allow(size + 1000);
    const put = (at: number): Promise<Answer> =>
      putFile(
        { signed_urls: [urls[at]], required_headers },
        whole.subarray(at * size, at === urls.length - 1 ? undefined : (at + 1) * size),
      );
    assert.equal((await put(0)).status, 200, 'the first fits');
    assertNoRoom(await put(1));
    assert.deepEqual(await stored(), before);
    assert.equal((await put(0)).status, 403);
  });

  it('answers 507 where the last word on an upload cannot be written', async () => {
    const x = 'a\n1\n';
    const y = 'y\n1\n';
    const before = await stored();
    const body = await prepare(x, y);
    assert.equal((await putFile(body.x_train_info, x)).status, 200);
    // The file itself still has room, its index of some hundred bytes not.
    allow(20);
    assertNoRoom(await putFile(body.y_train_info, y));
    assert.deepEqual(await stored(), before);
  });

  it('answers 507 to a fit whose model has no room, and fits it when there is', async () => {
    const { x, y } = flowers();
    const train_set_upload_id = await upload(x, y);
    const before = await stored();
    const fit = () =>
      post('fit', { train_set_upload_id, task: 'classification', svc_config: { n_estimators: 2 } });
    allow(2000);
    assertNoRoom(await fit());
    assert.deepEqual(await stored(), before);
    allow('unlimited');
    const fitted = await fit();
    assert.equal(fitted.status, 200, fitted.text);
    assert.equal(fitted.body.reused, false);
    const id = fitted.body.fitted_train_set_id as string;
    allow(0);
    const predicted = await predict(id, x);
    assert.equal(predicted.body.prediction?.length, 90, predicted.text);
  });

  it('has everything after a restart that it had said yes to, and nothing half-written', async () => {
    const before = await stored();
    await end();
    assert.equal(child.exitCode, 0, log);
    log = '';
    await start();
    assert.deepEqual(await stored(), before);
    assert.ok(!log.includes('Set aside'), log);
  });

  it('starts after it was killed without any room, predicts, and takes more when there is room', async () => {
    const { x, y } = flowers();
    const train_set_upload_id = await upload(x, y);
    const fit = { train_set_upload_id, task: 'classification', svc_config: { n_estimators: 2 } };
    const id = (await post('fit', fit)).body.fitted_train_set_id as string;
    const promised = { ...fit, svc_config: { n_estimators: 2, random_state: 1 } };
    const pending = (await post('submit_fit_job', promised)).body.fitted_train_set_id as string;
    // It may have ended already; its record is what a kill in the middle of it leaves.
    allow(0);
    const killed = once(child, 'exit');
    child.kill('SIGKILL');
    await killed;
    const record = { version: 1, id: pending, request: promised, submittedAt: Date.now(), starts: 1 };
    await writeFile(path.join(folder, 'fits', `${pending}.json`), JSON.stringify(record));
    await rm(path.join(folder, 'models', pending), { recursive: true, force: true });
    log = '';
    await start(0);
    assert.match(log, /Nothing can be written in .*: models that are there predict/);
    const predicted = await predict(id, x);
    assert.equal(predicted.body.prediction?.length, 90, predicted.text);
    assertNoRoom(await putFile((await prepare(x, y)).x_train_info, x));
    assertNoRoom(await post('fit', { ...fit, force_refit: true }));
    assertNoRoom(await post('submit_fit_job', { ...fit, force_refit: true }));
    const state = async () => (await post('get_fit_status', { fitted_train_set_id: pending })).body;
    while ((await state()).status === 'pending') {
      await sleep(20);
    }
    const { status, error } = await state();
    assert.equal(status, 'failed');
    assert.match(error, /EFBIG.*make room/);
    allow('unlimited');
    const owner = path.join(folder, 'lock', 'owner.json');
    while (!existsSync(owner)) {
      await sleep(50);
    }
    assert.equal((JSON.parse(await readFile(owner, 'utf8')) as { pid: number }).pid, child.pid);
    await upload(x, y);
    assert.equal((await post('fit', { ...fit, force_refit: true })).status, 200);
    await end();
    assert.equal(child.exitCode, 0, log);
    await start();
    // What was not on disk as failed is begun again.
    while ((await state()).status === 'pending') {
      await sleep(20);
    }
    assert.equal((await state()).status, 'completed');
  });
});
