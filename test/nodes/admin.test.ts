import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { startStrictService, type StrictService } from '../helpers/strict-service';
import { waitFor } from '../helpers/wait';
import { type Anything, type Bench, server, startBench, stopBench, trainRows } from './bench';

describe('admin endpoints', () => {
  let service: StrictService;

  before(async () => {
    service = await startStrictService();
    await server.start();
  });

  afterEach(() => stopBench());

  after(async () => {
    await server.stop();
    await service.close();
  });

  const start = (config: object = {}, token = service.token): Promise<Bench> =>
    startBench({
      config: { service: 'hosted', baseUrl: service.url, ...config },
      token,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm' },
        { id: 'upload', type: 'tabular-upload', set: 'train', source: 'file' },
      ],
    });

  const test = async (bench: Bench, body: object): Promise<Anything> => {
    const answer = await bench
      .request()
      .post('/tabular-prediction/c/test')
      .send({ service: 'hosted', baseUrl: service.url, token: '__PWRD__', ...body })
      .expect(200);
    assert.ok(!JSON.stringify(answer.body).includes(service.token));
    return answer.body;
  };

  it('Test connection says that all is well, with the stored token', async () => {
    const bench = await start();
    assert.deepEqual(await test(bench, {}), { ok: true, versions: [], defaultVersion: 'v2' });
  });

  it('Test connection tells a wrong token', async () => {
    const bench = await start({}, 'stale-token');
    const answer = await test(bench, {});
    assert.equal(answer.ok, false);
    assert.equal(answer.problem, 'token');
    assert.equal(answer.code, 'auth.unauthorized');
  });

  it('Test connection tells a wrong address and a wrong API name', async () => {
    const bench = await start();
    assert.equal(
      (await test(bench, { baseUrl: 'http://127.0.0.1:9', token: 'typed-token' })).problem,
      'address',
    );
    assert.equal((await test(bench, { baseUrl: 'nonsense', token: 'typed-token' })).problem, 'address');
    service.breaches.length = 0;
    assert.equal((await test(bench, { apiName: 'other' })).problem, 'apiName');
    const whole = await test(bench, { baseUrl: `${service.url}/svc`, token: 'typed-token' });
    assert.equal(whole.problem, 'apiNameTwice');
    for (const [baseUrl, wanted] of [
      ['127.0.0.1:21220', 'http://127.0.0.1:21220'],
      ['localhost:1880', 'http://localhost:1880'],
      ['tables.example.com/api', 'https://tables.example.com/api'],
    ]) {
      const bare = await test(bench, { baseUrl, token: 'typed-token' });
      assert.equal(bare.problem, 'address');
      assert.ok(bare.message.endsWith(`at its beginning: ${wanted}.`), bare.message);
    }
  });

  it('Test connection sends the stored token only to the deployed origin', async () => {
    const other = await startStrictService();
    try {
      const bench = await start();
      const answer = await test(bench, { baseUrl: other.url });
      // The dialog has the words for it, in its own language.
      assert.deepEqual(answer, { ok: false, problem: 'otherAddress', code: 'auth.unauthorized' });
      assert.equal(other.requests.length, 0);
      assert.equal((await test(bench, { baseUrl: other.url, token: other.token })).ok, true);
    } finally {
      await other.close();
    }
  });

  it('Test connection tells a token that is lacking, and a TLS or proxy configuration that is gone', async () => {
    const bench = await start();
    const unknown = await bench
      .request()
      .post('/tabular-prediction/new/test')
      .send({ service: 'hosted', baseUrl: service.url, token: '' })
      .expect(200);
    assert.deepEqual(unknown.body, { ok: false, problem: 'noToken', code: 'auth.unauthorized' });
    for (const problem of ['tls', 'proxy']) {
      const answer = await test(bench, { [problem]: 'gone' });
      assert.deepEqual([answer.ok, answer.problem, answer.code], [false, problem, 'config.invalid']);
    }
  });

  it('Test connection works before the first deploy, with the typed token', async () => {
    const bench = await start();
    const answer = await bench
      .request()
      .post('/tabular-prediction/new/test')
      .send({ service: 'hosted', baseUrl: service.url, token: service.token })
      .expect(200);
    assert.equal(answer.body.ok, true);
  });

  it('Test connection starts the embedded service and asks it, deployed or not', async () => {
    // The deployed node is a hosted one.
    const bench = await start();
    for (const id of ['c', 'new']) {
      const answer = await bench
        .request()
        .post(`/tabular-prediction/${id}/test`)
        .send({ service: 'embedded' })
        .expect(200);
      assert.equal(answer.body.ok, true, answer.body.message);
      assert.match(answer.body.versions.join(), /embedded/);
    }
  });

  it('Test connection says why the embedded service does not start', async () => {
    const bench = await start();
    const folder = path.join(bench.userDir, 'tabular-prediction');
    fs.rmSync(folder, { recursive: true });
    fs.writeFileSync(folder, 'a file where the folder is to be');
    const answer = await test(bench, { service: 'embedded' });
    assert.deepEqual([answer.ok, answer.problem, answer.code], [false, 'service', 'storage.failed']);
    assert.match(answer.message, /tabular-prediction/);
  });

  it('Test connection tells a service that there is none of, and a variable that is not set', async () => {
    const bench = await start();
    const other = await test(bench, { service: 'Hosted' });
    assert.deepEqual([other.ok, other.code], [false, 'config.invalid']);
    const unset = await test(bench, { baseUrl: 'https://${TABULAR_NOT_SET}/api' });
    assert.deepEqual([unset.ok, unset.problem, unset.code], [false, 'variable', 'config.invalid']);
    assert.match(unset.message, /TABULAR_NOT_SET/);
  });

  it('the fitted models are listed for the dialogs', async () => {
    const bench = await start();
    const list = async (id: string) =>
      (await bench.request().get(`/tabular-prediction/${id}/models`).expect(200)).body;
    assert.deepEqual(await list('c'), []);
    bench.send('fit', { payload: trainRows() });
    await bench.out('fit').first();
    const cards = await list('c');
    assert.equal(cards.length, 1);
    assert.equal(cards[0].name, 'm');
    assert.equal(cards[0].target, 'y');
    assert.equal(cards[0].columns, undefined, 'columns are told where they are asked for');
    const asked = await bench.request().get('/tabular-prediction/c/models?columnsOf=m').expect(200);
    assert.deepEqual(asked.body, [{ ...cards[0], columns: ['id', 'x', 'colour'] }]);
    assert.deepEqual(await list('unknown'), []);
    // A service that is not deployed is known by its address, once its cards are on disk.
    const query = `?baseUrl=${encodeURIComponent(`${service.url}/`)}`;
    for (let tries = 0; tries < 100; tries++) {
      const found = await bench.request().get(`/tabular-prediction/new/models${query}`).expect(200);
      if (found.body.length > 0) {
        assert.deepEqual(found.body, cards);
        return;
      }
      await sleep(20);
    }
    assert.fail('its models were not listed');
  });

  it('the columns last seen by a node and the versions of the service are told', async () => {
    const bench = await start();
    bench.send('fit', { payload: trainRows() });
    await bench.out('fit').first();
    const get = async (path: string) =>
      (await bench.request().get(`/tabular-prediction/${path}`).expect(200)).body;
    assert.deepEqual(await get('fit/columns'), ['id', 'x', 'colour', 'y']);
    assert.deepEqual(await get('other/columns'), []);
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-columns-'));
    const file = path.join(folder, 'table.csv');
    fs.writeFileSync(file, 'minute;"bearing; °C"\n1;2,5\n');
    bench.send('upload', { payload: file });
    // A node of this id may have seen others in an earlier flow of this process.
    await waitFor('the columns of the file', async () => (await get('upload/columns')).includes('minute'));
    fs.rmSync(folder, { recursive: true });
    assert.deepEqual(
      await get('upload/columns'),
      ['minute', 'bearing; °C'],
      'a file too, though it named no target',
    );
    assert.deepEqual(await get('c/versions'), { versions: [], defaultVersion: 'v2' });
  });
});
