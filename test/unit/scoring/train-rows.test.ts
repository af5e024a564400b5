import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { buffer, text } from 'node:stream/consumers';

import { cutRows, firstRow, TrainRows } from '../../doors/scoring';
import { STRANGE_IDS } from '../../helpers/strange-ids';
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

const [ONE, TWO, THREE, FOUR] = [1, 2, 3, 4].map((at) => `0000000${at}-0000-0000-0000-000000000000`) as [
  string,
  string,
  string,
  string,
];

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
    await first.put(ONE, x, y);
    await first.get(ONE);
    await first.setModel(ONE, 'key', 'model-7');
    const kept = (await new TrainRows(folder).get(ONE))!;
    assert.deepEqual(kept.names, ['size', 'colour']);
    assert.deepEqual(JSON.parse(`[${await text(kept.x.open())}]`), [
      [1, 'a\nb'],
      [2, null],
    ]);
    assert.equal((await buffer(kept.y.open())).length, kept.y.bytes);
    assert.equal(await text(kept.x.open(1, 2)), '1');
    assert.deepEqual(kept.models, { key: 'model-7' });
    const again = new TrainRows(folder);
    await again.get(ONE);
    await again.setModel(ONE, 'key', undefined);
    assert.deepEqual((await new TrainRows(folder).get(ONE))!.models, {});
  });

  it('are not there where a write was cut off, and the rest of it goes after an hour', async () => {
    await new TrainRows(folder).put(ONE, x, y);
    for (const name of [`${TWO}.x.tmp`, `${THREE}.x.tmp`]) {
      await new TrainRows(path.join(folder, name)).put(ONE, x, y);
    }
    const old = new Date(Date.now() - 2 * 3_600_000);
    await utimes(path.join(folder, `${TWO}.x.tmp`), old, old);
    const rows = new TrainRows(folder);
    assert.equal(await rows.get(TWO), undefined);
    assert.deepEqual((await readdir(folder)).sort(), [ONE, `${THREE}.x.tmp`]);
    await writeFile(path.join(folder, ONE, 'set.json'), '{"names"');
    assert.equal(await rows.get(ONE), undefined);
  });

  it('take no more than their bytes: those unused for longest go, never the newest', async () => {
    const rows = new TrainRows(folder, 2.5 * (x.bytes + y.bytes));
    for (const [id, age] of [
      [ONE, 50],
      [TWO, 40],
    ] as const) {
      await rows.put(id, x, y);
      const used = new Date(Date.now() - age * 1000);
      await utimes(path.join(folder, id), used, used);
    }
    await rows.get(ONE);
    await rows.put(THREE, x, y);
    assert.deepEqual((await readdir(folder)).sort(), [ONE, THREE]);
    const small = new TrainRows(folder, 1);
    await small.put(FOUR, x, y);
    assert.deepEqual(await readdir(folder), [FOUR]);
  });

  it('are kept under ids of one form: any other is of nothing, and touches nothing', async () => {
    const inner = path.join(folder, 'a', 'b', 'rows');
    const victim = path.join(folder, 'victim');
    await new TrainRows(inner).put(ONE, x, y);
    await cp(path.join(inner, ONE), victim, { recursive: true });
    const old = new Date(1_700_000_000_000);
    await utimes(victim, old, old);
    const rows = new TrainRows(inner);
    for (const id of [...STRANGE_IDS, victim, ONE.replace('0', '٠')]) {
      const called = JSON.stringify(id.slice(0, 60));
      assert.equal(await rows.get(id), undefined, called);
      await rows.setModel(id, 'key', 'model');
      await rows.remove(id);
      await assert.rejects(rows.put(id, x, y), { code: 'storage.failed' }, called);
    }
    assert.deepEqual((await readdir(victim)).sort(), ['set.json', 'x.json', 'y.json']);
    assert.equal((await stat(victim)).mtimeMs, old.getTime());
    assert.deepEqual(await readdir(inner), [ONE]);
    assert.ok(await rows.get(ONE));
  });

  it('are not behind links: a folder, or a file in one, that is a link leads nowhere', async () => {
    const [inner, victim] = [path.join(folder, 'rows'), path.join(folder, 'victim')];
    await new TrainRows(inner).put(ONE, x, y);
    await cp(path.join(inner, ONE), victim, { recursive: true });
    const old = new Date(1_700_000_000_000);
    await utimes(victim, old, old);
    await symlink(victim, path.join(inner, TWO), 'junction');
    await rm(path.join(inner, ONE, 'x.json'));
    await symlink(path.join(victim, 'x.json'), path.join(inner, ONE, 'x.json'));
    const rows = new TrainRows(inner, 1);
    assert.equal(await rows.get(ONE), undefined);
    assert.equal(await rows.get(TWO), undefined);
    await rows.put(THREE, x, y);
    await rows.remove(TWO);
    await rows.put(ONE, x, y);
    assert.ok(await rows.get(ONE), 'rows of one content are written anew');
    assert.deepEqual((await readdir(victim)).sort(), ['set.json', 'x.json', 'y.json']);
    assert.equal((await stat(victim)).mtimeMs, old.getTime());
  });

  it('of a newer version are told, and left alone', async () => {
    await new TrainRows(folder).put(ONE, x, y);
    const file = path.join(folder, ONE, 'set.json');
    const newer = JSON.stringify({ version: 2, parts: [] });
    await writeFile(file, newer);
    const rows = new TrainRows(folder, 1);
    const told = {
      code: 'storage.failed',
      message: /newer version of this package.*format 2; this one reads 1/,
    };
    await assert.rejects(rows.get(ONE), told);
    await assert.rejects(rows.put(ONE, x, y), told);
    await rows.put(TWO, x, y);
    assert.equal(await readFile(file, 'utf8'), newer);
  });

  it('without a folder are gone with the close', async () => {
    await withTemporaryFolder(folder, async () => {
      const rows = new TrainRows(undefined);
      await rows.put(ONE, x, y);
      assert.ok(await rows.get(ONE));
      assert.equal((await readdir(folder)).length, 1);
      await rows.close();
      assert.deepEqual(await readdir(folder), []);
    });
  });

  it('say storage.failed where the folder cannot be made', async () => {
    await writeFile(path.join(folder, 'file'), '');
    const rows = new TrainRows(path.join(folder, 'file', 'below'));
    await assert.rejects(rows.put(ONE, x, y), { code: 'storage.failed' });
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
