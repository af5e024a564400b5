import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { assertWithoutLinks, isNewer, isOwnId, ownPath, readJsonFile, readOwnFile } from '../../doors/util';
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
