import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { flowers, Harness, temporaryFolder } from './harness';
import { givenModel } from './shared';

describe('Service: what lies in its folder', () => {
  let data: string;
  let log: string[];
  beforeEach(async () => {
    data = await temporaryFolder();
    log = [];
  });
  afterEach(() => rm(data, { recursive: true, force: true }));
  const start = (): Promise<Harness> =>
    Harness.start({ dataDir: data, log: (level, text) => void log.push(`${level} ${text}`) });

  it('leaves alone what is not its own, such as the models of a project', async () => {
    const foreign = [
      ['models', 'resnet', 'weights.bin'],
      ['models', 'notes.corrupt'],
      ['uploads', 'picture.png'],
      ['uploads', '2024', 'a.csv'],
      ['owner.txt'],
    ].map((parts) => path.join(data, ...parts));
    for (const file of foreign) {
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, file);
    }
    // More than the number of damaged things that are kept.
    for (let i = 0; i < 30; i++) {
      const file = path.join(data, 'uploads', `draft ${i}.corrupt`);
      await writeFile(file, file);
      foreign.push(file);
    }
    await writeFile(path.join(data, 'secret.json'), '{"apiKey":"of somebody else"}');
    const { x, y } = flowers();
    const h = await start();
    try {
      const fitted = await h.fit(x, y, 'classification');
      assert.equal((await h.predict(fitted, x, 'classification')).status, 200);
    } finally {
      await h.stop(true);
    }
    for (const file of foreign) {
      assert.equal(await readFile(file, 'utf8'), file);
    }
    const aside = (await readdir(data)).filter((name) => name.startsWith('secret.json.'));
    assert.equal(aside.length, 1);
    assert.match(await readFile(path.join(data, aside[0]!), 'utf8'), /of somebody else/);
    assert.equal(log.filter((text) => text.startsWith('warn')).length, 1);
    assert.match(log.join('\n'), /warn .*secret\.json holds no secret and was set aside as/);
  });

  it('sets a damaged model.json aside, says so, and serves the other models', async function () {
    this.timeout(60_000);
    const { x, y } = flowers();
    const first = await start();
    type Entry = Record<string, unknown> & { features: object[] };
    const damages: ((entry: Entry) => unknown)[] = [
      (entry) => JSON.stringify(entry).slice(0, 200),
      () => '',
      () => 'null',
      () => '[]',
      (entry) => ({ ...entry, id: randomUUID() }),
      (entry) => ({ ...entry, features: [null] }),
      (entry) => ({ ...entry, features: [{ ...entry.features[0], kind: 'blob' }] }),
      (entry) => ({ ...entry, features: [{ ...entry.features[0], name: 7 }] }),
      (entry) => ({ ...entry, classes: undefined }),
      (entry) => ({ ...entry, classes: [{}] }),
      (entry) => ({ ...entry, usedOptions: null }),
      (entry) => ({ ...entry, config: 'x' }),
      (entry) => ({ ...entry, ignoredOptions: [1] }),
      (entry) => ({ ...entry, bytes: 1 }),
    ];
    const sound = await givenModel(first, { x, y }, 'classification');
    const before = (await first.predict(sound, x, 'classification')).body;
    await first.stop(true);
    const models = path.join(data, 'models');
    const entry = JSON.parse(await readFile(path.join(models, sound, 'model.json'), 'utf8')) as Entry;
    /** A copy of the model under an id of its own, with this for its index. */
    const copy = async (damage: (entry: Entry) => unknown): Promise<string> => {
      const id = randomUUID();
      await cp(path.join(models, sound), path.join(models, id), { recursive: true });
      const spoilt = damage({ ...entry, id });
      const text = typeof spoilt === 'string' ? spoilt : JSON.stringify(spoilt);
      await writeFile(path.join(models, id, 'model.json'), text);
      return id;
    };
    const whole = await copy((own) => own);
    const ids = await Promise.all(damages.map(copy));
    log = [];
    const second = await start();
    try {
      for (const [i, id] of ids.entries()) {
        assert.match(log.join('\n'), new RegExp(`warn Set aside as damaged: .*${id}.*\\.corrupt`));
        const gone = await second.post('prepare_test_set_upload', {
          fitted_train_set_id: id,
          x_test_info: { format: 'csv' },
        });
        assert.equal(gone.status, 404, `damage ${i}`);
      }
      for (const id of [sound, whole]) {
        assert.deepEqual((await second.predict(id, x, 'classification')).body, before);
      }
      const { body } = await second.get('get_service_status');
      assert.equal(body.fitted_train_sets, 2);
      const names = await readdir(path.join(data, 'models'));
      assert.equal(names.filter((name) => name.endsWith('.corrupt')).length, ids.length);
    } finally {
      await second.stop();
    }
  });
});
