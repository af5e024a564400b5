import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { openSeries, parseSeriesSettings, type Series, type SeriesNote } from '../../doors/series';
import { failing } from '../../helpers/failing-files';
import { MINUTE, START } from './support';

describe('the journal of a series that cannot be read or written now', () => {
  let root = '';
  let folder = '';
  let notes: SeriesNote[] = [];
  let mend: () => void = () => undefined;

  beforeEach(async () => {
    root = mkdtempSync(path.join(tmpdir(), 'journal-'));
    folder = path.join(root, 'user', 'tabular-prediction', 'series', 'pump');
    notes = [];
    const series = await open();
    await push(series, 0, 50);
    await series.close();
  });

  afterEach(() => {
    mend();
    mend = () => undefined;
    rmSync(root, { recursive: true, force: true });
  });

  const open = (): Promise<Series> =>
    openSeries(parseSeriesSettings({ column: 'x', ahead: '10m' }), {
      folder,
      now: () => START + 1000 * MINUTE,
      notify: (note) => notes.push(note),
    });

  async function push(series: Series, from: number, to: number): Promise<void> {
    for (let i = from; i < to; i++) {
      await series.push({ time: START + i * MINUTE, x: i });
    }
  }

  const journals = (): string[] => readdirSync(folder).sort();
  const content = (): string => readFileSync(path.join(folder, journals().at(-1)!), 'utf8');

  for (const [code, call] of [
    ['EMFILE', 'open'],
    ['EIO', 'readdir'],
  ] as const) {
    it(`is not replaced after ${code} of ${call}, and is read the next time`, async () => {
      const before = content();
      mend = failing([call], code, /pump/);
      await assert.rejects(open(), { code: 'storage.failed', message: /cannot be read now \(EM|EI/ });
      mend();
      assert.deepEqual([journals().length, content()], [1, before]);
      const series = await open();
      assert.equal(series.progress.readings, 50);
      await series.close();
    });
  }

  it('is left alone where a newer version wrote it', async () => {
    const file = path.join(folder, journals()[0]!);
    const newer = content().replace(/^\["journal","\[\d+,/, '["journal","[3,');
    assert.notEqual(newer, content());
    writeFileSync(file, `${newer}["a line that is cut`);
    for (let start = 0; start < 2; start++) {
      await assert.rejects(open(), {
        code: 'storage.failed',
        message:
          /a newer version of this package wrote it \(format 3; this one reads 2\): update the package/,
      });
      assert.deepEqual([journals().length, content()], [1, `${newer}["a line that is cut`]);
    }
  });

  it('is not reached through a link: the folder of the series, or a journal in it', async () => {
    const [elsewhere, before] = [path.join(root, 'elsewhere'), content()];
    renameSync(folder, elsewhere);
    writeFileSync(path.join(elsewhere, '00000000.jsonl'), 'a journal of long ago');
    symlinkSync(elsewhere, folder, 'junction');
    const refused = { code: 'storage.failed', message: /is a link/ };
    await assert.rejects(open(), refused);
    assert.equal(readdirSync(elsewhere).length, 2);
    rmSync(folder);
    mkdirSync(folder);
    const [, newest] = readdirSync(elsewhere).sort();
    symlinkSync(path.join(elsewhere, newest!), path.join(folder, newest!));
    await assert.rejects(open(), refused);
    assert.equal(readFileSync(path.join(elsewhere, newest!), 'utf8'), before);
  });

  it('is read where it may not be written, and written anew once it may', async () => {
    // The first try is to read and write.
    let tries = 0;
    mend = failing(['open'], 'EROFS', {
      test: (name: string) => name.endsWith('.jsonl') && tries++ === 0,
    } as RegExp);
    const series = await open();
    mend();
    assert.deepEqual([series.progress.readings, series.progress.storage], [50, 'failed']);
    await push(series, 50, 60);
    await series.flush();
    assert.equal(series.progress.storage, 'ok');
    await series.close();
    assert.deepEqual(
      notes.map(({ kind }) => kind),
      ['storage.failed', 'storage.ok'],
    );
    const again = await open();
    assert.equal(again.progress.readings, 60);
    await again.close();
  });

  it('is not made in the place of a user folder that is away, and goes on when that is back', async () => {
    const series = await open();
    const [user, away] = [path.join(root, 'user'), path.join(root, 'away')];
    renameSync(user, away);
    await series.reset('nobody');
    assert.deepEqual([series.progress.storage, readdirSync(root)], ['failed', ['away']]);
    renameSync(away, user);
    await push(series, 50, 60);
    await series.flush();
    assert.equal(series.progress.storage, 'ok');
    await series.close();
    const again = await open();
    assert.equal(again.progress.readings, 60);
    await again.close();
  });

  it('stays where it is when it was away as the series was opened', async () => {
    const aside = path.join(root, 'aside');
    renameSync(folder, aside);
    const series = await open();
    await push(series, 100, 110);
    rmSync(folder, { recursive: true });
    mkdirSync(path.dirname(folder), { recursive: true });
    renameSync(aside, folder);
    const before = content();
    await series.reset('nobody');
    assert.equal(series.progress.storage, 'failed');
    assert.match(notes.at(-1)!.text, /not there before; deploy the node again/);
    await series.close();
    assert.deepEqual([journals().length, content()], [1, before]);
  });
});
