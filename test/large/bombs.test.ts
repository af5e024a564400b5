import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { equalRows, equalTexts, longTexts, zeros } from '../helpers/parquet-bombs';
import type { ReadOutcome } from '../helpers/read-table';
import { end, startCli } from '../service/command';
import { type Answer, answerOf, infoOf, putFile, temporaryFolder } from '../service/harness';

const run = promisify(execFile);
const MIB = 2 ** 20;

/** Reads a file's bytes in a process with a heap of 512 MB. */
async function readInChild(content: Buffer): Promise<ReadOutcome> {
  const folder = await mkdtemp(path.join(os.tmpdir(), 'bombs-'));
  try {
    const file = path.join(folder, 'table');
    await writeFile(file, content);
    const script = path.join(__dirname, '..', 'helpers', 'read-table.ts');
    const { stdout } = await run(process.execPath, [
      '--max-old-space-size=512',
      '--import',
      'tsx',
      script,
      file,
    ]);
    return JSON.parse(stdout) as ReadOutcome;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

interface Fitted {
  fitted_train_set_id: string;
}

/** Uploads and fits, and uploads and predicts, at a service: the text of each answer. */
function clientOf(url: string) {
  const post = (route: string, body: object): Promise<Answer> =>
    fetch(`${url}/svc/${route}`, {
      method: 'POST',
      headers: { authorization: 'Bearer mine', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    }).then(answerOf);
  const task_config = { task: 'regression' };
  return {
    async fit(x: string | Buffer, y: string): Promise<string> {
      const files = { x_train_info: infoOf(x), y_train_info: infoOf(y), force_reupload: true };
      const { body } = await post('prepare_train_set_upload', files);
      await putFile(body.x_train_info, x);
      await putFile(body.y_train_info, y);
      const { train_set_upload_id } = body;
      return (await post('fit', { train_set_upload_id, task_config, force_refit: true })).text;
    },
    async predict(fitted_train_set_id: string, x: Buffer): Promise<string> {
      const file = { fitted_train_set_id, x_test_info: { ...infoOf(x), hash: null } };
      const { body } = await post('prepare_test_set_upload', file);
      await putFile(body.x_test_info, x);
      const { test_set_upload_id } = body;
      return (await post('predict', { test_set_upload_id, fitted_train_set_id, task_config })).text;
    },
  };
}

describe('A Parquet file of a few KB that holds gigabytes', function () {
  this.timeout(120_000);

  const bombs: [string, () => Buffer, string][] = [
    ['rows that no file of its size can hold', () => equalRows(1e8), 'table.invalid'],
    [
      'a page that is larger than it says',
      () => zeros(1280 * MIB, { claims: 8000, uncompressed: 8000, rows: 1000 }),
      'limit.exceeded',
    ],
    ['one long text in every row', () => equalTexts(16_384, MIB), 'limit.exceeded'],
  ];
  for (const [name, make, code] of bombs) {
    it(`(${name}) is ${code}; the process and its event loop live on`, async () => {
      const bomb = make();
      assert.ok(bomb.length < 5000, `${bomb.length} bytes`);
      const outcome = await readInChild(bomb);
      assert.equal(outcome.code, code, outcome.message);
      assert.ok(outcome.held < 250, `the event loop was held for ${outcome.held} ms`);
    });
  }

  it('six at once leave an embedded service of 512 MB alive, and in its memory', async function () {
    if (process.platform !== 'linux') {
      this.skip();
    }
    this.timeout(300_000);
    const folder = await temporaryFolder();
    const shim = path.join(folder, 'small.cjs');
    await writeFile(shim, `require('node:os').totalmem = () => ${512 * MIB};`);
    const { child, url } = await startCli(['--port', '0', '--data', path.join(folder, 'data')], {
      TABULAR_SERVICE_TOKEN: 'mine',
      NODE_OPTIONS: `--require ${shim}`,
    });
    try {
      const client = clientOf(url);
      const y = `y\n${'1\n2\n'.repeat(100)}`;
      const { fitted_train_set_id } = JSON.parse(
        await client.fit(`c1\n${'1\n2\n'.repeat(100)}`, y),
      ) as Fitted;
      const bomb = equalTexts(200, MIB);
      const jobs = [1, 2, 3].flatMap(() => [client.fit(bomb, y), client.predict(fitted_train_set_id, bomb)]);
      for (const answer of await Promise.all(jobs)) {
        assert.match(answer, /FILE_UNREADABLE/);
      }
      const peak = /VmHWM:\s+(\d+) kB/.exec(await readFile(`/proc/${child.pid}/status`, 'utf8'))![1];

      assert.ok(Number(peak) < 512 * 1024, `${peak} kB`);
    } finally {
      await end(child, 'SIGTERM');
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('gives only the rows that its footer tells of, whatever its pages hold', async () => {
    const { code, rows } = await readInChild(equalRows(1e8, { rows: 10 }));
    assert.deepEqual([code, rows], [undefined, 10]);
  });

  it('is read where each row of it fits: long texts, one by one', async () => {
    const { code, rows, bytes, held } = await readInChild(longTexts(8, 20));
    assert.deepEqual([code, rows], [undefined, 8]);
    assert.ok(bytes > 160 * MIB);
    assert.ok(held < 250, `the event loop was held for ${held} ms`);
  });
});
