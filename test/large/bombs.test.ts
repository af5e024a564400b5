import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { equalRows, equalTexts, longTexts, zeros } from '../helpers/parquet-bombs';
import type { ReadOutcome } from '../helpers/read-table';

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
