import assert from 'node:assert/strict';
import {
  cp,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  utimes,
  writeFile,
} from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

import {
  EntryStore,
  type FitRecord,
  FitRecords,
  isModelEntry,
  isUploadEntry,
  openStore,
  Refusal,
  resolveOptions,
  type UploadEntry,
} from '../../doors/service';
import { STRANGE_IDS } from '../../helpers/strange-ids';

const [ONE, TWO, THREE] = [1, 2, 3].map((at) => `00000000-0000-4000-8000-00000000000${at}`) as [
  string,
  string,
  string,
];
const OLD = new Date(1_700_000_000_000);

describe('What the service leaves alone', () => {
  let root: string;
  let victim: string;
  let store: string;
  let log: string[];
  beforeEach(async () => {
    root = await mkdtemp(path.join(os.tmpdir(), 'tabular-left-'));
    victim = path.join(root, 'victim');
    store = path.join(root, 'data', 'uploads');
    log = [];
    await writeEntry(store, ONE);
    await cp(path.join(store, ONE), victim, { recursive: true });
    await writeFile(path.join(victim, 'upload.json'), JSON.stringify(entryOf(TWO)));
    await utimes(path.join(victim, 'upload.json'), OLD, OLD);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const entryOf = (id: string): UploadEntry => ({
    version: 1,
    id,
    set: 'test',
    createdAt: 1,
    fittedId: THREE,
    x: { format: 'csv', chunks: 1, arrived: { bytes: 4, crc: 'AAAAAA==' } },
  });
  async function writeEntry(folder: string, id: string, entry: object = entryOf(id)): Promise<void> {
    await mkdir(path.join(folder, id), { recursive: true });
    await writeFile(path.join(folder, id, 'x.csv'), 'a\n1\n');
    await writeFile(path.join(folder, id, 'upload.json'), JSON.stringify(entry));
  }
  const open = async (): Promise<EntryStore<UploadEntry>> => {
    const entries = new EntryStore<UploadEntry>({
      what: 'upload',
      root: store,
      index: 'upload.json',
      isEntry: isUploadEntry,
      filesOf: (entry) => [{ name: 'x.csv', bytes: entry.x.arrived!.bytes }],
      log: (_level, text) => void log.push(text),
    });
    await entries.load();
    return entries;
  };
  const isUntouched = async (): Promise<void> => {
    assert.deepEqual((await readdir(victim)).sort(), ['upload.json', 'x.csv']);
    assert.equal((await stat(path.join(victim, 'upload.json'))).mtimeMs, OLD.getTime());
    assert.equal(await readFile(path.join(victim, 'x.csv'), 'utf8'), 'a\n1\n');
  };

  it('is what ids of another form lead to', async () => {
    const entries = await open();
    for (const id of [...STRANGE_IDS, victim]) {
      const called = JSON.stringify(id.slice(0, 60));
      assert.equal(entries.use(id), undefined, called);
      assert.throws(() => entries.makeFolder(id), RangeError, called);
      await assert.rejects(entries.setAside(id, victim, 'a test'), RangeError, called);
      await entries.drop(id);
      await entries.erase(id);
    }
    assert.deepEqual(await entries.ids(), [ONE]);
    await isUntouched();
  });

  it('is what a link in place of an entry, or of a file in one, leads to', async () => {
    await symlink(victim, path.join(store, TWO), 'junction');
    await writeEntry(store, THREE);
    await rm(path.join(store, THREE, 'x.csv'));
    await symlink(path.join(victim, 'x.csv'), path.join(store, THREE, 'x.csv'));
    const entries = await open();
    assert.deepEqual([...entries.items.keys()], [ONE]);
    assert.match(log.join('\n'), /Of uploads in .*, 2 cannot be read now \(ELOOP\)/);
    for (const id of [TWO, THREE]) {
      assert.throws(() => entries.use(id), Refusal);
      await entries.erase(id);
    }
    assert.deepEqual(await readdir(store), [ONE]);
    await isUntouched();
  });

  it('is an entry of a newer version, which is told and answered for with its reason', async () => {
    await writeEntry(store, TWO, { version: 2, id: TWO, parts: [] });
    const before = await readFile(path.join(store, TWO, 'upload.json'), 'utf8');
    for (let start = 0; start < 2; start++) {
      log = [];
      const entries = await open();
      assert.deepEqual(log.length, 1, log.join('\n'));
      assert.match(
        log[0]!,
        /1 cannot be used and are left alone: a newer version .*format 2; this one reads 1/,
      );
      assert.throws(
        () => entries.use(TWO),
        ({ body }: Refusal) => body.status === 422 && /newer version of this package/.test(body.message),
      );
      assert.deepEqual((await readdir(store)).sort(), [ONE, TWO]);
    }
    assert.equal(await readFile(path.join(store, TWO, 'upload.json'), 'utf8'), before);
  });

  it('is a model in a newer format, while one in a format of long ago is dropped', async () => {
    const models = path.join(root, 'data', 'models');
    const entry = {
      ...{
        version: 1,
        trainSetUploadId: ONE,
        fitKey: 'k',
        task: 'regression',
        targetName: 'y',
        features: [],
      },
      ...{
        rows: 1,
        systems: [],
        config: {},
        usedOptions: {},
        ignoredOptions: [],
        bytes: 1,
        crc: '',
        createdAt: 1,
      },
    };
    for (const [id, format] of [
      [ONE, 'TPM3'],
      [TWO, 'TPM99'],
    ] as const) {
      assert.ok(isModelEntry({ ...entry, id, format }, id));
      await mkdir(path.join(models, id), { recursive: true });
      await writeFile(path.join(models, id, 'model.json'), JSON.stringify({ ...entry, id, format }));
      await writeFile(path.join(models, id, 'model.bin'), 'x');
    }
    await writeFile(path.join(root, 'data', 'secret.json'), JSON.stringify({ version: 2, keys: [] }));
    const opened = await openStore(
      resolveOptions({ dataDir: path.join(root, 'data') }, 'token'),
      () => 1e6,
      (_level, text) => void log.push(text),
      () => undefined,
    );
    try {
      assert.throws(
        () => opened.models.use(TWO),
        /format TPM99; this one reads TPM4, .*: update the package/,
      );
      assert.equal(opened.secret.length, 32);
    } finally {
      await opened.close();
    }
    assert.deepEqual(await readdir(models), [TWO]);
    assert.match(log.join('\n'), /Of fitted train sets in .*newer version.*TPM99/);
    assert.match(log.join('\n'), /secret\.json is left alone: a newer version/);
    assert.equal(await readFile(path.join(root, 'data', 'secret.json'), 'utf8'), '{"version":2,"keys":[]}');
  });

  it('is the record of a submitted fit of a newer version, or that is a link', async () => {
    const folder = path.join(root, 'fits');
    await mkdir(folder);
    const elsewhere = path.join(root, 'elsewhere.json');
    const record: FitRecord = {
      version: 1,
      id: ONE,
      request: { train_set_upload_id: TWO, task: 'regression' },
      submittedAt: 1,
      starts: 1,
    };
    await writeFile(elsewhere, JSON.stringify(record));
    await symlink(elsewhere, path.join(folder, `${ONE}.json`));
    await writeFile(path.join(folder, `${TWO}.json`), JSON.stringify({ ...record, version: 2, id: TWO }));
    const records = new FitRecords(folder, (_level, text) => void log.push(text));
    await records.load();
    assert.deepEqual(records.all(), []);
    assert.match(log.join('\n'), /0001 is a link: it is left alone/);
    assert.match(log.join('\n'), /0002 is left alone: a newer version .*format 2/);
    assert.deepEqual((await readdir(folder)).sort(), [`${ONE}.json`, `${TWO}.json`]);
    for (const id of STRANGE_IDS) {
      await assert.rejects(records.put({ ...record, id }), RangeError);
      await records.remove(id);
    }
    assert.equal(await readFile(elsewhere, 'utf8'), JSON.stringify(record));
  });
});
