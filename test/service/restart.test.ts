import assert from 'node:assert/strict';
import { readdir, rename, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { connect } from '../../dist/src';
import { startService } from '../doors/service';
import { waitFor } from '../helpers/wait';
import { commandsOfTests } from './command';
import { answerOf, Harness, infoOf } from './harness';

const X = 'a,b\n1,2\n3,4\n';
const Y = 'y\n0\n1\n';

/** Takes a port in the moment when it is free. */
async function takePort(port: number): Promise<Server> {
  for (let i = 0; i < 2000; i++) {
    const server = createServer((socket) => socket.destroy());
    const listening = new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => resolve(true));
    });
    if (await listening) {
      return server;
    }
    await sleep(2);
  }
  throw new Error('the port was never free');
}

describe('Service: started again', function () {
  this.timeout(30_000);
  const { folder } = commandsOfTests();

  async function answers(h: Harness): Promise<boolean> {
    for (let i = 0; i < 150; i++) {
      const ok = await h.get('get_model_limits').then(
        ({ status }) => status === 200,
        () => false,
      );
      if (ok) {
        return true;
      }
      await sleep(100);
    }
    return false;
  }

  it('comes back with all it had when its folder could not be used for seconds', async () => {
    const data = await folder();
    const log: string[] = [];
    const h = await Harness.start({ dataDir: data, log: (_level, text) => void log.push(text) });
    const id = await h.uploadTrain(X, Y);
    await rename(data, `${data}-away`);
    await writeFile(data, 'a file in its place');
    try {
      await waitFor('a start that failed', () =>
        /could not be started again and is tried further: The folder/.test(log.join('\n')),
      );
      await assert.rejects(h.get('get_model_limits'));
    } finally {
      await rm(data);
      await rename(`${data}-away`, data);
    }
    assert.ok(await answers(h));
    const known = await h.post('prepare_train_set_upload', {
      x_train_info: infoOf(X),
      y_train_info: infoOf(Y),
    });
    assert.deepEqual([known.status, known.body.train_set_upload_id], [409, id]);
    await h.stop();
  });

  it('makes no user folder in the place of one that is away, and goes on when that is back', async () => {
    const root = await folder();
    const [user, away] = [path.join(root, 'user'), path.join(root, 'away')];
    const log: string[] = [];
    const h = await Harness.start({
      dataDir: path.join(user, 'tabular-prediction', 'service'),
      log: (_level, text) => void log.push(text),
    });
    const id = await h.uploadTrain(X, Y);
    const tabular = await connect({
      dataDir: path.join(user, 'tabular-prediction', 'service'),
      models: path.join(root, 'models.json'),
      retries: 0,
    });
    await rename(user, away);
    await waitFor('a start that failed', () => /is tried further/.test(log.join('\n')));
    assert.deepEqual(await readdir(root), ['away']);
    const rows = Array.from({ length: 20 }, (_, i) => ({ a: i, y: i % 2 }));
    await assert.rejects(
      tabular.train({ table: rows, target: 'y' }),
      /nothing listens at .*\. The embedded service has ended and is started again; the log says why/,
    );
    await tabular.close();
    await rename(away, user);
    assert.ok(await answers(h));
    const known = await h.post('prepare_train_set_upload', {
      x_train_info: infoOf(X),
      y_train_info: infoOf(Y),
    });
    assert.deepEqual([known.status, known.body.train_set_upload_id], [409, id]);
    await h.stop();
  });

  it('moves to another port where its own was taken meanwhile, and its holders follow', async () => {
    const data = await folder();
    const tabular = await connect({ dataDir: data });
    let moves = 0;
    const service = await startService({ dataDir: data, onMoved: () => void (moves += 1) });
    const before = service.port;
    const rows = Array.from({ length: 40 }, (_, i) => ({ a: i, y: 2 * i }));
    await tabular.train({ table: rows, target: 'y', task: 'regression' });
    await rm(path.join(data, 'lock'), { recursive: true });
    const other = await takePort(before);
    try {
      await waitFor('the move', () => moves > 0);
      assert.equal(moves, 1);
      assert.notEqual(service.port, before);
      const limits = await fetch(`${service.url}/svc/get_model_limits`, {
        headers: { authorization: `Bearer ${service.token}` },
      }).then(answerOf);
      assert.equal(limits.status, 200);
      const { table } = await tabular.predict({ table: [{ a: 7 }], model: 'y', property: 'guess' });
      assert.equal((table as { guess: number }[]).length, 1);
    } finally {
      other.close();
      await tabular.close();
      await service.close();
    }
  });
});
