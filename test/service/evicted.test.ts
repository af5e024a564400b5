import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, rm } from 'node:fs/promises';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';

import { connect } from '../../dist/src';
import { flowers, Harness, line } from './harness';

/**
 * Stands between client and service, at an address that stays when the service is started again; `before` runs once,
 * when the first request of a route is on its way.
 */
class Between {
  private readonly server: Server;
  readonly seen: string[] = [];
  private before: { route: string; work: () => Promise<void> } | undefined;

  constructor(private readonly target: () => URL) {
    this.server = createServer((req, res) => {
      const route = req.url!.startsWith('/_upload/') ? 'PUT' : req.url!.split('/').at(-1)!;
      this.seen.push(route);
      const work = this.before?.route === route ? this.before.work : undefined;
      if (work !== undefined) {
        this.before = undefined;
      }
      void (work?.() ?? Promise.resolve()).then(() => {
        const { hostname, port } = this.target();
        const { method, url, headers } = req;
        const on = request({ hostname, port, method, path: url, headers }, (answer) => {
          res.writeHead(answer.statusCode!, answer.headers);
          answer.pipe(res);
        });
        on.on('error', () => res.destroy());
        req.pipe(on);
      });
    });
  }

  once(route: string, work: () => Promise<void>): void {
    this.before = { route, work };
  }

  count(route: string): number {
    return this.seen.filter((name) => name === route).length;
  }

  async start(): Promise<string> {
    await new Promise<void>((resolve) => this.server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }
}

describe('Service: what is gone when it is asked for', function () {
  this.timeout(60_000);
  let h: Harness;
  let between: Between;
  let tabular: Awaited<ReturnType<typeof connect>>;
  before(async () => {
    h = await Harness.start();
  });
  after(() => h.stop());
  beforeEach(async () => {
    await h.empty();
    between = new Between(() => new URL(h.service.url));
    tabular = await connect({ baseUrl: await between.start(), token: h.service.token });
  });
  afterEach(async () => {
    await tabular.close();
    await between.stop();
  });

  const restart = async (): Promise<void> => {
    await h.stop(true);
    h = await Harness.start({ dataDir: h.folder });
  };
  const forgetUploads = async (set: 'train' | 'test'): Promise<void> => {
    const root = path.join(h.folder, 'uploads');
    for (const name of await readdir(root)) {
      const files = await readdir(path.join(root, name));
      if (files.some((file) => file.startsWith('y.')) === (set === 'train')) {
        await rm(path.join(root, name), { recursive: true });
      }
    }
  };
  const rows = Array.from({ length: 90 }, (_, i) => ({ size: i % 9, y: 2 * (i % 9) }));
  /** Text that no two rows share and that cannot be packed. */
  const own = (i: number): string => createHash('md5').update(String(i)).digest('hex');
  const train = (options = {}) =>
    tabular.train({ table: rows, target: 'y', task: 'regression', options: { n_estimators: 2, ...options } });
  const check = (table: unknown): void => {
    for (const { size, prediction } of table as { size: number; prediction: number }[]) {
      assert.ok(Math.abs(prediction - 2 * size) < 4, `${prediction} for ${size}`);
    }
  };

  it('a small test set that a restart has dropped before its predict is uploaded again', async () => {
    const model = await train();
    between.once('predict', restart);
    const { table } = await tabular.predict({ table: [{ size: 3 }, { size: 8 }], model });
    check(table);
    assert.deepEqual([between.count('prepare_test_set_upload'), between.count('predict')], [2, 2]);
  });

  it('a test set on disk that somebody has removed is uploaded again, without a restart', async () => {
    const model = await train();
    const many = Array.from({ length: 6_000 }, (_, i) => ({ size: i % 9, note: own(i) }));
    const wide = await tabular.train({
      table: rows.map((row, i) => ({ ...row, note: own(i) })),
      target: 'y',
      task: 'regression',
      model: 'wide',
      options: { n_estimators: 2 },
    });
    assert.notEqual(wide.fitted_train_set_id, model.fitted_train_set_id);
    between.once('predict', () => forgetUploads('test'));
    const { table } = await tabular.predict({ table: many, model: wide });
    check(table);
    assert.deepEqual([between.count('prepare_test_set_upload'), between.count('predict')], [2, 2]);
    const { status } = await h.get('get_service_status');
    assert.equal(status, 200);
  });

  it('a train set that was known and is gone before its fit is uploaded again', async () => {
    const first = await train();
    between.once('fit', async () => {
      await forgetUploads('train');
      await restart();
    });
    const second = await train({ random_state: 7 });
    assert.notEqual(second.fitted_train_set_id, first.fitted_train_set_id);
    assert.deepEqual([between.count('prepare_train_set_upload'), between.count('fit')], [3, 3]);
    assert.equal(between.count('PUT'), 4, 'x and y, the first time and the last');
    for (const model of [first, second]) {
      check((await tabular.predict({ table: [{ size: 5 }], model })).table);
    }
  });

  it('a model that is gone is said to be gone, and fitted anew when asked to', async () => {
    const model = await train();
    await h.stop(true);
    await rm(path.join(h.folder, 'models', model.fitted_train_set_id), { recursive: true });
    h = await Harness.start({ dataDir: h.folder });
    await assert.rejects(tabular.predict({ table: [{ size: 5 }], model }), { code: 'model.unknown' });
    const again = await train();
    assert.notEqual(again.fitted_train_set_id, model.fitted_train_set_id);
    assert.equal(between.count('PUT'), 2, 'its train set was still there');
    check((await tabular.predict({ table: [{ size: 5 }], model: again })).table);
  });

  it('answers 404 to whoever reads a file that was removed, not that the file is wrong', async () => {
    const { x, y } = flowers();
    const fitted = await h.fit(x, y, 'classification');
    const big = line(30_000)
      .x.replace('a,b', 'length,width')
      .replaceAll(/\n(?=.)/g, ',x\n')
      .trimEnd();
    const test = await h.uploadTest(fitted, `${big.replace('width,x', 'width,place')},x\n`);
    await forgetUploads('test');
    await forgetUploads('train');
    const predict = await h.post('predict', {
      test_set_upload_id: test,
      fitted_train_set_id: fitted,
      task_config: { task: 'classification' },
    });
    assert.deepEqual([predict.status, predict.body.error_code], [404, 'NOT_FOUND'], predict.text);
    assert.match(predict.body.message, /upload it again/);
    const { body } = await h.get('get_service_status');
    assert.equal(body.test_set_uploads, 0);
  });
});
