import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import {
  assertWithoutLinks,
  isNewer,
  isOwnId,
  makeFolder,
  makeFolderSync,
  ownPath,
  readJsonFile,
  readOwnFile,
} from '../../doors/util';
import { STRANGE_IDS } from '../../helpers/strange-ids';

const ID = 'e0e0e0e0-0000-4000-8000-00000000000a';

describe('the folders that state is kept in', () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'own-files-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('have paths for ids of one form only', () => {
    assert.equal(ownPath(folder, ID, '.json'), path.join(folder, `${ID}.json`));
    for (const id of [...STRANGE_IDS, ID.toUpperCase(), `${ID}\n`, ` ${ID}`, `${ID}/..`, ID.slice(1)]) {
      assert.equal(isOwnId(id), false, JSON.stringify(id.slice(0, 50)));
      assert.throws(() => ownPath(folder, id), RangeError, JSON.stringify(id.slice(0, 50)));
    }
    for (const id of [undefined, null, 7, [ID], { toString: () => ID }]) {
      assert.equal(isOwnId(id), false);
    }
  });

  it('are not reached through links', async () => {
    const [inside, outside] = ['inside', 'outside'].map((name) => path.join(folder, name)) as [
      string,
      string,
    ];
    mkdirSync(inside);
    mkdirSync(outside);
    writeFileSync(path.join(outside, 'a.json'), '{}');
    writeFileSync(path.join(inside, 'a.json'), '[]');
    await assertWithoutLinks(inside);
    assert.deepEqual(await readJsonFile(path.join(inside, 'a.json')), []);
    const refused = { code: 'ELOOP' };
    symlinkSync(outside, path.join(folder, 'link'), 'junction');
    await assert.rejects(assertWithoutLinks(path.join(folder, 'link')), refused);
    await assert.rejects(assertWithoutLinks(path.join(inside, 'a.json')), { code: 'ENOTDIR' });
    await assert.rejects(assertWithoutLinks(path.join(folder, 'none')), { code: 'ENOENT' });
    symlinkSync(path.join(outside, 'a.json'), path.join(inside, 'b.json'));
    await assert.rejects(assertWithoutLinks(inside), refused);
    if (process.platform !== 'win32') {
      await assert.rejects(readOwnFile(path.join(inside, 'b.json')), refused);
      await assert.rejects(readJsonFile(path.join(inside, 'b.json')), refused);
    }
  });

  it('are made with those above them, as many as are allowed', async () => {
    await assert.rejects(makeFolder(path.join(folder, 'a', 'b', 'c'), 2), { code: 'ENOENT' });
    const atOnce = (inner: string): Promise<void> =>
      new Promise((resolve) => {
        makeFolderSync(inner);
        resolve();
      });
    for (const [name, make] of Object.entries({ makeFolder, atOnce })) {
      const inner = path.join(folder, name, 'b', 'c');
      await make(inner);
      await make(inner);
      assert.ok(statSync(inner).isDirectory());
      const file = path.join(inner, 'file');
      writeFileSync(file, '');
      await assert.rejects(make(file), { code: 'EEXIST' });
      await assert.rejects(make(path.join(file, 'x')), { code: 'ENOTDIR' });
    }
  });

  it('are refused in a working directory that was removed, where Node would try without end', function () {
    if (process.platform === 'win32') {
      // No working directory can be removed there.
      return;
    }
    const program = `
      const { makeFolder, makeFolderSync } = require(${JSON.stringify(require.resolve('../../../dist/src/util/files'))});
      require('node:fs').rmdirSync(process.cwd());
      (async () => {
        for (const make of [makeFolder, makeFolderSync]) {
          try {
            await make('./data');
          } catch (error) {
            console.log(error.code);
          }
        }
      })();`;
    const gone = path.join(folder, 'gone');
    mkdirSync(gone);
    const said = execFileSync(process.execPath, ['-e', program], {
      cwd: gone,
      encoding: 'utf8',
      timeout: 20_000,
    });
    assert.deepEqual(said.trim().split('\n'), ['ENOENT', 'ENOENT']);
  }).timeout(30_000);

  it('may hold files of a newer version, told by a number', () => {
    assert.equal(isNewer({ version: 2 }, 1), true);
    for (const value of [
      { version: 1 },
      { version: '2' },
      {},
      null,
      undefined,
      [],
      'text',
      { version: NaN },
    ]) {
      assert.equal(isNewer(value, 1), false);
    }
  });
});
