import assert from 'node:assert/strict';
import { mkdir, readdir, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { failing } from '../helpers/failing-files';
import { waitFor } from '../helpers/wait';
import { commandsOfTests, end, limitsOf } from './command';
import { answerOf, Harness, infoOf, nobody, putFile } from './harness';

const X = 'a,b\n1,2\n3,4\n';
const Y = 'y\n0\n1\n';

describe('Service: folder, restart', () => {
  const { folder, cli } = commandsOfTests();

  it('refuses a folder that another process has, and a port that is taken', async () => {
    const data = await folder();
    const first = await cli(['--port', '0', '--data', data, '--token', 'mine']);
    await assert.rejects(Harness.start({ dataDir: data }), (error: Error & { code: string }) => {
      assert.equal(error.code, 'storage.failed');
      assert.match(error.message, new RegExp(`in use by another.*process ${first.child.pid}`));
      return true;
    });
    assert.equal((await limitsOf(first.url)).status, 200);
    const port = Number(new URL(first.url).port);
    await assert.rejects(Harness.start({ dataDir: await folder(), port }), { code: 'config.invalid' });
  });

  it('takes over from a killed process within seconds, with all that had been answered', async () => {
    const data = await folder();
    const first = await cli(['--port', '0', '--data', data, '--token', 'mine']);
    const h = { url: first.url };
    const post = (route: string, body: object) =>
      fetch(`${h.url}/svc/${route}`, {
        method: 'POST',
        headers: { authorization: 'Bearer mine', 'content-type': 'application/json' },
        body: JSON.stringify(body),
      }).then(answerOf);
    const prepare = () =>
      post('prepare_train_set_upload', { x_train_info: infoOf(X), y_train_info: infoOf(Y) });
    const { body } = await prepare();
    for (const [info, text] of [
      [body.x_train_info, X],
      [body.y_train_info, Y],
    ]) {
      await fetch(info.signed_urls[0], { method: 'PUT', headers: info.required_headers, body: text });
    }
    const half = await post('prepare_train_set_upload', {
      x_train_info: { format: 'csv' },
      y_train_info: { format: 'csv' },
    });
    await fetch(half.body.x_train_info.signed_urls[0], {
      method: 'PUT',
      headers: half.body.x_train_info.required_headers,
      body: X,
    });
    await end(first.child, 'SIGKILL');
    const second = await cli(['--port', '0', '--data', data, '--token', 'mine']);
    h.url = second.url;
    const again = await prepare();
    assert.equal(again.status, 409);
    assert.equal(again.body.train_set_upload_id, body.train_set_upload_id);
    assert.deepEqual(await readdir(path.join(data, 'uploads')), [body.train_set_upload_id]);
  });

  it('sets aside damaged state, says so, and goes on with the rest', async () => {
    const data = await folder();
    const first = await Harness.start({ dataDir: data });
    const good = await first.uploadTrain(X, Y);
    const cut = await first.uploadTrain(X, 'y\n1\n1\n');
    const broken = await first.uploadTrain(X, 'y\n2\n1\n');
    const odd = await first.uploadTrain(X, 'y\n3\n1\n');
    await first.stop(true);
    await writeFile(path.join(data, 'uploads', cut, 'y.csv'), 'y\n');
    await writeFile(path.join(data, 'uploads', broken, 'upload.json'), '{"version":1,');
    await writeFile(path.join(data, 'uploads', odd, 'upload.json'), '{"version":1,"id":"other"}');
    await mkdir(path.join(data, 'models', nobody));
    await writeFile(path.join(data, 'secret.json'), 'garbage');
    const log: string[] = [];
    const second = await Harness.start({
      dataDir: data,
      log: (level, text) => void log.push(`${level} ${text}`),
    });
    try {
      const names = await readdir(path.join(data, 'uploads'));
      assert.equal(names.filter((name) => name.endsWith('.corrupt')).length, 3);
      assert.deepEqual(
        names.filter((name) => !name.endsWith('.corrupt')),
        [good],
      );
      assert.deepEqual(await readdir(path.join(data, 'models')), []);
      assert.ok((await readdir(data)).some((name) => /^secret\.json\..+\.corrupt$/.test(name)));
      assert.equal(log.filter((text) => text.startsWith('warn Set aside')).length, 3);
      assert.equal((await second.get('get_model_limits')).status, 200);
    } finally {
      await second.stop();
    }
  });

  it('is one service per process and folder, closed by the last holder', async () => {
    const data = await folder();
    const first = await Harness.start({ dataDir: data });
    const second = await Harness.start({ dataDir: path.join(data, '.'), token: 'another' });
    assert.equal(second.service.url, first.service.url);
    assert.equal(second.service.token, first.service.token);
    await first.service.close();
    await first.service.close();
    assert.equal((await second.get('get_model_limits')).status, 200);
    await second.service.close();
    await assert.rejects(second.get('get_model_limits'));
    const third = await Harness.start({ dataDir: data });
    await third.stop();
  });

  it('comes back on the same port, with the same token and state, when its thread ends', async () => {
    const data = await folder();
    const log: string[] = [];
    const h = await Harness.start({ dataDir: data, log: (_level, text) => void log.push(text) });
    const id = await h.uploadTrain(X, Y);
    // Losing the lock makes the service close itself: somebody else may have the folder now.
    await rm(path.join(data, 'lock'), { recursive: true });
    await waitFor('the next start', () => log.some((text) => text.includes('started again')));
    assert.match(log.join('\n'), /lost its folder/);
    const again = await waitFor('its answer', () =>
      h
        .post('prepare_train_set_upload', { x_train_info: infoOf(X), y_train_info: infoOf(Y) })
        .catch(() => undefined),
    );
    assert.deepEqual([again.status, again.body.train_set_upload_id], [409, id]);
    await h.stop();
  });

  it('says so when its folder is gone, and makes it anew', async () => {
    const data = await folder();
    const h = await Harness.start({ dataDir: data });
    const prepare = { x_train_info: { format: 'csv' }, y_train_info: { format: 'csv' } };
    await rm(data, { recursive: true });
    const refused = await h.post('prepare_train_set_upload', prepare);
    assert.deepEqual(
      [refused.status, refused.body.code, refused.body.retryable],
      [503, 'storage.failed', true],
    );
    await waitFor('the folder', () =>
      h.post('prepare_train_set_upload', prepare).then(
        ({ status }) => status === 200,
        () => false,
      ),
    );
    await h.stop();
  });

  it('starts with the next try where the process had no file descriptor left for its thread', async () => {
    const data = await folder();
    const mend = failing(['openSync'], 'EMFILE', /service-thread\.js$/);
    try {
      await assert.rejects(Harness.start({ dataDir: data }), {
        code: 'service.unavailable',
        message: /did not start \(EMFILE.*started again with the next message/,
      });
    } finally {
      mend();
    }
    const h = await Harness.start({ dataDir: data });
    assert.equal((await h.get('get_model_limits')).status, 200);
    await h.stop();
  });

  it('waits for the folder when started again while the former one still closes', async () => {
    const data = await folder();
    const first = await Harness.start({ dataDir: data });
    const closing = first.service.close();
    const second = await Harness.start({ dataDir: data });
    await closing;
    assert.equal((await second.get('get_model_limits')).status, 200);
    await second.stop();
  });

  it('drops the oldest over the size cap', async () => {
    const data = await folder();
    const h = await Harness.start({ dataDir: data, maxBytes: 60 });
    try {
      const ids: string[] = [];
      for (let i = 0; i < 4; i++) {
        ids.push(await h.uploadTrain(X, `y\n${i}\n1\n`, { force_reupload: true }));
        await sleep(20);
      }
      const left = (): Promise<string[]> => readdir(path.join(data, 'uploads'));
      await waitFor('the end of the first', async () => !(await left()).includes(ids[0]!));
      assert.deepEqual((await left()).sort(), ids.slice(1).sort(), 'three of 18 bytes fit under 60');
    } finally {
      await h.stop();
    }
  });

  it('counts uploads that never end against the size cap', async () => {
    const data = await folder();
    const h = await Harness.start({ dataDir: data, maxBytes: 1_000_000 });
    try {
      const part = `a\n${'1\n'.repeat(100_000)}`;
      const statuses: number[] = [];
      for (let i = 0; i < 8; i++) {
        const { body } = await h.post('prepare_train_set_upload', {
          x_train_info: infoOf(part),
          y_train_info: infoOf(Y),
          force_reupload: true,
        });
        statuses.push((await putFile(body.x_train_info, part)).status);
      }
      assert.deepEqual(statuses, [200, 200, 200, 200, 503, 503, 503, 503]);
      const { body } = await h.get('get_service_status');
      assert.ok(body.stored_bytes > 800_000 && body.stored_bytes <= 1_000_000, String(body.stored_bytes));
    } finally {
      await h.stop();
    }
  });

  it('keeps its files from other users', async () => {
    if (process.platform === 'win32') {
      return;
    }
    const data = path.join(await folder(), 'state');
    const h = await Harness.start({ dataDir: data });
    try {
      const id = await h.uploadTrain(X, Y);
      const mode = async (...parts: string[]) => (await stat(path.join(data, ...parts))).mode & 0o077;
      assert.deepEqual([await mode(), await mode('secret.json'), await mode('uploads', id)], [0, 0, 0]);
    } finally {
      await h.stop();
    }
  });
});
