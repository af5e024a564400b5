import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';

import { cutRows, firstRow, TrainRows } from '../../doors/scoring';
import { withTemporaryFolder } from '../../helpers/temporary';

/** JSON rows as the encoder writes them, in chunks of a few bytes. */
function jsonRows(rows: unknown[], names: string[] = ['a']) {
  const bytes = Buffer.from(rows.map((row) => JSON.stringify(row)).join(',\n'));
  const open = (start = 0, end = bytes.length): Readable => {
    const part = bytes.subarray(start, end);
    return Readable.from(
      Array.from({ length: Math.ceil(part.length / 7) }, (_, at) => part.subarray(at * 7, at * 7 + 7)),
      { objectMode: false },
    );
  };
  return {
    format: 'json' as const,
    rows: rows.length,
    bytes: bytes.length,
    hash: '',
    names,
    open,
    dispose: () => Promise.resolve(),
  };
}

describe('train rows that are kept here', () => {
  let folder: string;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'train-rows-test-'));
  });
  afterEach(() => rm(folder, { recursive: true, force: true }));

  const x = jsonRows(
    [
      [1, 'a\nb'],
      [2, null],
    ],
    ['size', 'colour'],
  );
  const y = jsonRows([['yes'], ['no']]);

  it('are there after a restart, whole, with what the endpoint has kept of them', async () => {
    const first = new TrainRows(folder);
    await first.put('one', x, y);
    await first.get('one');
    await first.setModel('one', 'key', 'model-7');
    const kept = (await new TrainRows(folder).get('one'))!;
    assert.deepEqual(kept.names, ['size', 'colour']);
    assert.deepEqual(JSON.parse(`[${await text(kept.x.open())}]`), [
      [1, 'a\nb'],
      [2, null],
    ]);
    assert.equal((await buffer(kept.y.open())).length, kept.y.bytes);
    assert.equal(await text(kept.x.open(1, 2)), '1');
    assert.deepEqual(kept.models, { key: 'model-7' });
    const again = new TrainRows(folder);
    await again.get('one');
    await again.setModel('one', 'key', undefined);
    assert.deepEqual((await new TrainRows(folder).get('one'))!.models, {});
  });

  it('are not there where a write was cut off, and the rest of it goes after an hour', async () => {
    await new TrainRows(folder).put('one', x, y);
    for (const name of ['two.x.tmp', 'three.x.tmp']) {
      await new TrainRows(path.join(folder, name)).put('inside', x, y);
    }
    const old = new Date(Date.now() - 2 * 3_600_000);
    await utimes(path.join(folder, 'two.x.tmp'), old, old);
    const rows = new TrainRows(folder);
    assert.equal(await rows.get('two'), undefined);
    assert.deepEqual((await readdir(folder)).sort(), ['one', 'three.x.tmp']);
    await writeFile(path.join(folder, 'one', 'set.json'), '{"names"');
    assert.equal(await rows.get('one'), undefined);
  });

  it('take no more than their bytes: those unused for longest go, never the newest', async () => {
    const rows = new TrainRows(folder, 2.5 * (x.bytes + y.bytes));
    for (const [id, age] of [
      ['one', 50],
      ['two', 40],
    ] as const) {
      await rows.put(id, x, y);
      const used = new Date(Date.now() - age * 1000);
      await utimes(path.join(folder, id), used, used);
    }
    await rows.get('one');
    await rows.put('three', x, y);
    assert.deepEqual((await readdir(folder)).sort(), ['one', 'three']);
    const small = new TrainRows(folder, 1);
    await small.put('four', x, y);
    assert.deepEqual(await readdir(folder), ['four']);
  });

  it('without a folder are gone with the close', async () => {
    await withTemporaryFolder(folder, async () => {
      const rows = new TrainRows(undefined);
      await rows.put('one', x, y);
      assert.ok(await rows.get('one'));
      assert.equal((await readdir(folder)).length, 1);
      await rows.close();
      assert.deepEqual(await readdir(folder), []);
    });
  });

  it('say storage.failed where the folder cannot be made', async () => {
    await writeFile(path.join(folder, 'file'), '');
    const rows = new TrainRows(path.join(folder, 'file', 'below'));
    await assert.rejects(rows.put('one', x, y), { code: 'storage.failed' });
  });
});

describe('cutting JSON rows', () => {
  const rows = Array.from({ length: 50 }, (_, at) => [at, '\n,[]"'.repeat(at % 5), null]);

  for (const most of [1, 25, 60, 200, 10_000]) {
    it(`gives every row once, in order, in parts of at most ${most} bytes`, async () => {
      const file = jsonRows(rows);
      const parts = await cutRows(file, most);
      const found: unknown[] = [];
      for (const { part, rows: count } of parts) {
        const content = await text(part.open());
        assert.equal(Buffer.byteLength(content), part.bytes);
        const own = JSON.parse(`[${content}]`) as unknown[];
        assert.equal(own.length, count);
        assert.ok(part.bytes <= most || count === 1);
        found.push(...own);
      }
      assert.deepEqual(found, rows);
      if (most === 10_000) {
        assert.equal(parts.length, 1);
      }
    });
  }

  it('finds the first row alone', async () => {
    assert.equal(await text((await firstRow(jsonRows(rows))).open()), '[0,"",null]');
    assert.equal(await text((await firstRow(jsonRows([[7]]))).open()), '[7]');
  });
});
