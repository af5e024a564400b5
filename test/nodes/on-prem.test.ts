import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';

import { writeZip } from '../doors/util';
import { type Endpoint, startEndpoint } from '../helpers/endpoint';
import { STRANGE_IDS } from '../helpers/strange-ids';
import { type Anything, type Bench, row, server, startBench, stopBench, trainRows } from './bench';

describe('nodes on an on-premises endpoint', function () {
  this.timeout(60_000);
  const token = 'key-of-the-endpoint';
  let endpoint: Endpoint;
  let bench: Bench;

  before(async () => {
    await server.start();
    endpoint = await startEndpoint({ token });
    await start(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-on-prem-')));
  });
  const start = async (userDir: string): Promise<void> => {
    bench = await startBench({
      userDir,
      config: { service: 'onPrem', baseUrl: new URL(endpoint.url).origin, requestSize: '2' },
      token,
      nodes: [
        { id: 'fit', type: 'tabular-fit', target: 'y', model: 'm' },
        { id: 'thinking', type: 'tabular-fit', target: 'y', model: 'n', thinkingEffort: 'high' },
        { id: 'predict', type: 'tabular-predict', model: 'm' },
        { id: 'other', type: 'tabular-predict' },
        { id: 'upload', type: 'tabular-upload', set: 'train', target: 'y' },
        { id: 'cost', type: 'tabular-cost' },
        { id: 'limits', type: 'tabular-limits', check: true, target: 'y' },
      ],
    });
  };
  after(async () => {
    await stopBench();
    fs.rmSync(bench.userDir, { recursive: true, force: true });
    await server.stop();
    await endpoint.close();
  });

  const test = async (body: object): Promise<Anything> => {
    const sent = { service: 'onPrem', baseUrl: endpoint.url, token: '__PWRD__', ...body };
    const { body: answer } = await bench.request().post('/tabular-prediction/c/test').send(sent).expect(200);
    assert.ok(!JSON.stringify(answer).includes(token));
    return answer;
  };

  it('fit keeps the train rows, predict sends them, also after a redeploy', async () => {
    bench.send('fit', { payload: trainRows(200) });
    const [fitted] = await bench.out('fit').first();
    assert.equal(fitted?.model.keeps_rows, true);
    assert.equal(fitted?.model.service, `on-prem ${endpoint.url}`);
    const kept = path.join(bench.userDir, 'tabular-prediction', 'train-rows');
    assert.equal(fs.readdirSync(path.join(kept, fs.readdirSync(kept)[0]!)).length, 1);
    await bench.redeploy();
    bench.send('predict', { payload: [0, 5].map(row) });
    const [predicted] = await bench.out('predict').first();
    assert.equal(predicted?.payload.length, 2);
    assert.equal(endpoint.asked.at(-1)!.body.X_train!.length, 200);
    const { body } = await bench.request().get('/tabular-prediction/c/models').expect(200);
    assert.deepEqual(
      body.map(({ name }: { name: string }) => name),
      ['m'],
    );
  });

  it('what it has no way for ends with config.invalid, each message once; limits are those of a request', async () => {
    const { length } = endpoint.asked;
    bench.send('limits', { payload: trainRows(10) });
    const [within] = await bench.out('limits').first();
    assert.equal(within?.limits.request_max_size_bytes, 2 * 1024 * 1024);
    for (const [id, said] of [
      ['upload', /keeps no uploads/],
      ['thinking', /no thinking fits/],
      ['cost', /reports no costs/],
    ] as const) {
      const { length: before } = bench.caught.all;
      bench.send(id, { payload: trainRows(30) });
      const caught = (await bench.caught.first(before + 1))[before]!;
      assert.equal(caught.error?.code, 'config.invalid');
      assert.match(caught.error?.message ?? '', said);
    }
    bench.send('predict', { test_set_upload_id: 'e0e0e0e0-0000-4000-8000-000000000000' });
    assert.match((await bench.caught.first(4))[3]!.error?.message ?? '', /takes no msg.test_set_upload_id/);
    assert.equal(endpoint.asked.length, length);
  });

  it('takes no model from a file, and no id of one leads out of the folder of the train rows', async () => {
    const service = `on-prem ${endpoint.url}`;
    const { userDir } = bench;
    const [inner] = fs.readdirSync(path.join(userDir, 'tabular-prediction', 'train-rows'));
    const rows = path.join(userDir, 'tabular-prediction', 'train-rows', inner!);
    const victim = path.join(userDir, 'victim');
    fs.cpSync(path.join(rows, fs.readdirSync(rows)[0]!), victim, { recursive: true });
    const old = new Date(1_700_000_000_000);
    fs.utimesSync(victim, old, old);
    const isUntouched = (when: string): void => {
      assert.deepEqual(fs.readdirSync(victim).sort(), ['set.json', 'x.json', 'y.json'], when);
      assert.equal(fs.statSync(victim).mtimeMs, old.getTime(), when);
    };
    const { body: card } = await bench
      .request()
      .get('/tabular-prediction/models/c/card')
      .query({ model: 'm' })
      .expect(200);
    const cardOf = (id: string) => ({
      ...card,
      fitted_train_set_id: id,
      train_set_upload_id: 'any',
      name: 'evil',
    });
    const ids = [...STRANGE_IDS, '../../../victim', victim, path.relative(rows, victim)];
    const { length: before } = bench.caught.all;
    for (const [at, id] of ids.entries()) {
      const head = { format: 'tabular-model', version: 1, card: cardOf(id) };
      const bytes = Buffer.from(JSON.stringify(head));
      const entry = { name: 'model.json', bytes: bytes.length, read: () => Readable.from([bytes]) };
      const { body: refused } = await bench
        .request()
        .post('/tabular-prediction/models/c/import')
        .type('application/octet-stream')
        .send(await buffer(writeZip([entry])))
        .expect(400);
      assert.match(refused.code, /config.invalid|file.unreadable/);
      await bench.request().post('/tabular-prediction/models/c/delete').send({ model: 'evil' }).expect(404);
      bench.send('other', { payload: [row(0)], model: { ...cardOf(id), service } });
      const caught = (await bench.caught.first(before + at + 1)).at(-1)!;
      assert.match(caught.error!.code!, /model.unknown|validation.failed/, JSON.stringify(id.slice(0, 50)));
    }
    isUntouched('imported, or sent as a card');
    // As a version of this package that took such a file has left it.
    await bench.stop();
    const file = path.join(userDir, 'tabular-prediction', 'models.json');
    const saved = JSON.parse(fs.readFileSync(file, 'utf8'));
    saved.services[service].models.push({ card: cardOf('../../../victim') });
    saved.services[service].former = ids.map((id) => ({ fitted: id, upload: 'any' }));
    fs.writeFileSync(file, JSON.stringify(saved));
    await start(userDir);
    await bench.request().post('/tabular-prediction/models/c/delete').send({ model: 'evil' }).expect(200);
    const former = (): unknown[] => JSON.parse(fs.readFileSync(file, 'utf8')).services[service].former;
    for (const end = Date.now() + 10_000; former().length > 0 && Date.now() < end;) {
      await sleep(20);
    }
    assert.deepEqual(former(), []);
    isUntouched('deleted');
    bench.send('predict', { payload: [row(0)] });
    assert.equal((await bench.out('predict').first())[0]?.payload.length, 1);
  });

  it('Test connection asks for one prediction, with the stored token at the deployed address only', async () => {
    assert.deepEqual(await test({}), { ok: true });
    assert.equal((await test({ baseUrl: new URL(endpoint.url).origin })).ok, true);
    assert.deepEqual((await test({ token: 'wrong-token' })).problem, 'token');
    assert.deepEqual((await test({ baseUrl: `${endpoint.url}/other` })).problem, 'address');
    assert.deepEqual((await test({ baseUrl: 'http://127.0.0.1:9/predict' })).problem, 'otherAddress');
    assert.deepEqual((await test({ baseUrl: '' })).problem, 'address');
    const open = await startEndpoint();
    try {
      assert.equal(
        (
          await bench
            .request()
            .post('/tabular-prediction/new/test')
            .send({ service: 'onPrem', baseUrl: open.url })
        ).body.ok,
        true,
      );
    } finally {
      await open.close();
    }
  });
});
