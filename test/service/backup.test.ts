import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import path from 'node:path';

import { waitFor } from '../helpers/wait';
import { commandsOfTests } from './command';
import { Harness, line } from './harness';

/** Models that are there at the start, and of them those that are replaced at the same time, again and again. */
const MODELS = 16;
const LANES = 4;

interface Life {
  /** What it answers. */
  prediction: string;
  /** When it was answered that it is there, and when its deletion was asked for. */
  since: number;
  until: number;
}

/* A backup is a plain copy of the data folder while the service works in it: cp -a. */
describe('Service: a copy of the data folder, taken while models come and go', function () {
  this.timeout(180_000);
  const { folder, cli } = commandsOfTests();

  it('has every model that was there all the time, and each one whole or not at all', async () => {
    const data = await folder();
    const { url } = await cli(['--port', '0', '--data', data, '--token', 'mine']);
    const h = Harness.of({ url, token: 'mine' });
    const rows = line(5).x;
    const lives = new Map<string, Life>();
    const answerOf = async (service: Harness, id: string): Promise<string> =>
      JSON.stringify((await service.predict(id, rows, 'regression')).body.prediction);
    const born = (id: string, prediction: string): void => {
      lives.set(id, { prediction, since: performance.now(), until: Infinity });
    };
    const fit = async (seed: number): Promise<string> => {
      const { x, y } = line(40 + seed);
      const svc_config = { n_estimators: 1, random_state: seed };
      return h.fit(x, y, 'regression', { task_config: { task: 'regression', svc_config } });
    };
    const exported = async (id: string): Promise<Buffer> => {
      const route = `/export_fitted_train_set/?fitted_train_set_id=${id}`;
      return Buffer.from(await (await fetch(h.url(route), { headers: h.bearer() })).arrayBuffer());
    };
    /** The same model under another id: quicker than a fit. */
    const import_ = async (model: Buffer): Promise<string> => {
      const end = model.indexOf('\n');
      const entry = { ...JSON.parse(model.toString('utf8', 0, end)), id: crypto.randomUUID() };
      const body = Buffer.concat([Buffer.from(`${JSON.stringify(entry)}\n`), model.subarray(end + 1)]);
      const headers = { ...h.bearer(), 'content-type': 'application/octet-stream' };
      const answer = await fetch(h.url('/import_fitted_train_set/'), { method: 'POST', headers, body });
      return ((await answer.json()) as { fitted_train_set_id: string }).fitted_train_set_id;
    };
    const drop = async (id: string): Promise<void> => {
      lives.get(id)!.until = performance.now();
      const route = `/delete_dataset/?dataset_uid=${id}`;
      assert.equal((await fetch(h.url(route), { method: 'DELETE', headers: h.bearer() })).status, 200);
    };

    const seeds = [await fit(1), await fit(2)];
    const models = await Promise.all(
      seeds.map(async (id) => ({ bytes: await exported(id), prediction: await answerOf(h, id) })),
    );
    const bear = async (i: number): Promise<string> => {
      const { bytes, prediction } = models[i % 2]!;
      const id = await import_(bytes);
      born(id, prediction);
      return id;
    };
    const first: string[] = [];
    for (let i = 0; i < MODELS; i++) {
      first.push(await bear(i));
    }
    /** Fits whose id was answered before they ended, each with when its train set was there. */
    const submitted = new Map<string, number>();
    let working = true;
    const fits = (async () => {
      for (let seed = 3; working; seed++) {
        const id = await fit(seed);
        born(id, await answerOf(h, id));
        const { x, y } = line(30 + seed);
        const upload = await h.uploadTrain(x, y, { force_reupload: true });
        const uploaded = performance.now();
        const job = { train_set_upload_id: upload, task: 'regression', svc_config: { n_estimators: 1 } };
        const { body } = await h.post('submit_fit_job', job);
        submitted.set(body.fitted_train_set_id as string, uploaded);
      }
    })();
    let replaced = 0;
    const exchange = first.slice(0, LANES).map(async (id, lane) => {
      for (let last = id; working; replaced++) {
        await drop(last);
        last = await bear(lane);
      }
    });

    const copies: { to: string; from: number; till: number }[] = [];
    const doomed = new Set(first.slice(LANES, LANES + 3));
    const slowly = (from: string, to: string): Promise<void> =>
      copiedSlowly(from, to, async (id) => {
        if (doomed.delete(id)) {
          await drop(id);
        }
      });
    for (const copy of [copied, slowly, slowly]) {
      const to = path.join(await folder(), 'copy');
      const from = performance.now();
      await copy(data, to);
      copies.push({ to, from, till: performance.now() });
      const before = replaced;
      await waitFor('others in their place', () => replaced > before + LANES);
    }
    assert.equal(doomed.size, 0);
    working = false;
    await Promise.all([fits, ...exchange]);

    await Promise.all(
      copies.map(async ({ to, from, till }) => {
        const started = await cli(['--port', '0', '--data', to, '--token', 'mine']);
        const copy = Harness.of({ url: started.url, token: 'mine' });
        const summary = (await copy.get('/get_data_summary/')).body;
        const there = new Set<string>(
          summary.fitted_train_sets.map((one: { fitted_train_set_id: string }) => one.fitted_train_set_id),
        );
        for (const [id, { prediction, since, until }] of lives) {
          if (since < from && until > till) {
            assert.ok(there.has(id), `${id} was there all the time`);
          }
          if (there.has(id)) {
            assert.equal(await answerOf(copy, id), prediction, id);
          } else {
            assert.equal((await copy.post('get_fit_status', { fitted_train_set_id: id })).status, 404);
          }
        }
        const known = new Set([...lives.keys(), ...seeds, ...submitted.keys()]);
        for (const id of there) {
          assert.ok(known.has(id), `${id} was never told`);
        }
        // What was deleted between the copies of its files is set aside, and nothing else is.
        for (const name of await readdir(path.join(to, 'models'))) {
          const [id = '', ...rest] = name.split('.');
          assert.ok(rest.length === 0 || lives.get(id)!.until < till, started.errors());
        }
        for (const [id, uploaded] of submitted) {
          const { status, body } = await copy.post('get_fit_status', { fitted_train_set_id: id });
          // Where the uploads were copied before its train set came, and the fits after it was submitted.
          const isWithoutTrainSet = uploaded > from && body.error_code === 'NOT_FOUND';
          assert.ok(
            status === 404 || body.status !== 'failed' || isWithoutTrainSet,
            JSON.stringify({ uploaded, from, ...body }),
          );
        }
      }),
    );
  });
});

/** It exits with 1 where a file was deleted before it came to it. */
async function copied(from: string, to: string): Promise<void> {
  await once(spawn('cp', ['-a', from, to], { stdio: 'ignore' }), 'close');
}

/**
 * As over a network: each folder is listed, then copied file by file, the index first.
 *
 * @param between called with the id when its index is copied, and its data is not
 */
async function copiedSlowly(from: string, to: string, between: (id: string) => Promise<void>): Promise<void> {
  await mkdir(to, { recursive: true });
  const isGone = (error: NodeJS.ErrnoException): undefined => {
    assert.equal(error.code, 'ENOENT');
  };
  const names = (await readdir(from, { withFileTypes: true }).catch(isGone)) ?? [];
  for (const entry of names.sort((a, b) => Number(isIndex(b.name)) - Number(isIndex(a.name)))) {
    const [source, target] = [path.join(from, entry.name), path.join(to, entry.name)];
    if (entry.isDirectory()) {
      await copiedSlowly(source, target, between);
    } else {
      await copyFile(source, target).catch(isGone);
      if (isIndex(entry.name)) {
        await between(path.basename(from));
      }
    }
  }
}

const isIndex = (name: string): boolean => name === 'model.json' || name === 'upload.json';
