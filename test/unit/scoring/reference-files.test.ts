import { strict as assert } from 'node:assert';
import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { driftBin, driftBins, type FittedModel, ModelCards, type Reference } from '../../doors/scoring';

const CARD: FittedModel = {
  name: 'pump',
  fitted_train_set_id: 'f0',
  train_set_upload_id: 'u0',
  task: 'regression',
  target: 'wear',
  columns: [{ name: 'heat', type: 'number' }],
  rows: 3,
  options: {},
  service: 'embedded',
  fitted_at: '2026-01-01T00:00:00.000Z',
};

function reference(rows = 3, text = 'oil'): Reference {
  return {
    columns: [
      { name: 'heat', type: 'number' },
      { name: 'fluid', type: 'text' },
    ],
    rows: Array.from({ length: rows }, (_, row) => [row === 1 ? null : row + 0.1, text]),
    usual: [
      { kind: 'number', q05: 0, q10: 0, median: 1, q90: 2, q95: 2, min: 0, max: 2.1, missing: 0.3 },
      { kind: 'category', categories: [text], complete: true, missing: 0 },
    ],
    drift: [
      { edges: [0.5, 1.5], shares: [0.3, 0, 0.4, 0.3], threshold: 0.2 },
      { categories: [text], shares: [1, 0, 0] },
    ],
    target: { kind: 'classes', labels: ['no', true], counts: [2, 1] },
  };
}

describe('what is kept of a train set', () => {
  let folder: string;
  const opened: ModelCards[] = [];
  const open = (service = 'embedded'): ModelCards => {
    const cards = ModelCards.open({ path: path.join(folder, 'models.json'), service });
    opened.push(cards);
    return cards;
  };
  const files = (): string[] => readdirSync(path.join(folder, 'references'));

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'references-'));
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((cards) => cards.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  it('is known after a restart, to the service that it is of alone, and readable by nobody else', async () => {
    const first = open();
    await first.references.put('../f 0', reference());
    await first.close();
    assert.deepEqual(await open().references.get('../f 0'), reference());
    assert.equal(await open('https://elsewhere/svc').references.get('../f 0'), undefined);
    assert.equal(files().length, 1);
    if (process.platform !== 'win32') {
      assert.equal(statSync(path.join(folder, 'references', files()[0]!)).mode & 0o077, 0);
    }
  });

  it('is not known, and left alone, where a newer version wrote it; nor is it read through a link', async () => {
    const first = open();
    await first.references.put('f0', reference());
    await first.close();
    const file = path.join(folder, 'references', files()[0]!);
    const written = readFileSync(file, 'utf8');
    const newer = written.replace('"version":1', '"version":2');
    writeFileSync(file, newer);
    const second = open();
    assert.equal(await second.references.get('f0'), undefined);
    await second.references.put('f0', reference(2));
    assert.deepEqual(await second.references.get('f0'), reference(2), 'it is held in memory');
    await second.close();
    assert.equal(readFileSync(file, 'utf8'), newer);
    const elsewhere = path.join(folder, 'elsewhere.json');
    writeFileSync(elsewhere, written);
    rmSync(file);
    symlinkSync(elsewhere, file);
    const third = open();
    assert.equal(await third.references.get('f0'), undefined);
    await third.references.put('f0', reference(1));
    assert.equal(readFileSync(elsewhere, 'utf8'), written);
  });

  it('goes where no card has meant it for a week, but not that of another service, nor without any card', async () => {
    const service = 'https://elsewhere/svc';
    const kept = (id: string, of = 'embedded'): string | undefined =>
      files()
        .map((name) => path.join(folder, 'references', name))
        .find((file) => readFileSync(file, 'utf8').includes(`"service":"${of}","model":"${id}"`));
    const [first, other] = [open(), open(service)];
    for (const id of ['kept', 'orphan', 'young']) {
      await first.references.put(id, reference());
    }
    await other.references.put('orphan', reference());
    await Promise.all([first.close(), other.close()]);
    const old = new Date(Date.now() - 8 * 86_400_000);
    for (const file of [kept('kept'), kept('orphan'), kept('orphan', service)]) {
      utimesSync(file!, old, old);
    }
    const empty = open();
    await empty.references.put('new', reference());
    assert.equal(files().length, 5, 'without any card nothing is known');
    empty.put({ ...CARD, fitted_train_set_id: 'kept' });
    await empty.close();
    await open().references.put('newer', reference());
    assert.equal(kept('orphan'), undefined);
    for (const id of ['kept', 'young', 'new', 'newer']) {
      assert.ok(kept(id), id);
    }
    assert.ok(kept('orphan', service));
  });

  it('is not known, and no error, where its file is cut, edited or of another model', async () => {
    const cards = open();
    await cards.references.put('f0', reference());
    await cards.references.put('f1', reference());
    await cards.close();
    const [one, other] = files().map((name) => path.join(folder, 'references', name));
    const whole = readFileSync(one!, 'utf8');
    const id = (JSON.parse(whole) as { model: string }).model;
    for (const text of [
      whole.slice(0, -20),
      '',
      'null',
      whole.replace('"kind":"category"', '"kind":"constructor"'),
      whole.replace('[0.1,"oil"]', '[0.1]'),
      whole.replace('"counts":[2,1]', '"counts":[2]'),
      whole.replace('"type":"text"', '"type":"toString"'),
      readFileSync(other!, 'utf8'),
    ]) {
      assert.notEqual(text, whole);
      writeFileSync(one!, text);
      const again = open();
      assert.equal(await again.references.get(id), undefined, text);
      await again.close();
    }
    writeFileSync(one!, whole);
    assert.deepEqual(await open().references.get(id), reference());
  });

  it('goes with its model: not while a name means it, nor while it may be taken back', async () => {
    const cards = open();
    for (let fit = 0; fit < 7; fit++) {
      await cards.references.put(`f${fit}`, reference());
      cards.put({ ...CARD, fitted_train_set_id: `f${fit}`, train_set_upload_id: `u${fit}` });
      if (fit === 0) {
        cards.put({ ...CARD, name: 'other' });
      }
    }
    await cards.flush();
    const known = await Promise.all([0, 1, 2, 6].map((fit) => cards.references.get(`f${fit}`)));
    assert.deepEqual(
      known.map((one) => one !== undefined),
      [true, false, true, true],
    );
    assert.equal(files().length, 6);
  });

  it('is bounded: rows go first', async () => {
    const cards = open();
    await cards.references.put('f0', reference(400, 'x'.repeat(20_000)));
    await cards.close();
    const read = await open().references.get('f0');
    assert.ok(read!.rows.length > 20 && read!.rows.length < 200);
    assert.ok(statSync(path.join(folder, 'references', files()[0]!)).size < 2.1 * 1024 * 1024);
  });

  it('is held in memory where nothing can be written', async () => {
    writeFileSync(path.join(folder, 'references'), 'a file where the folder should be');
    const cards = open();
    await cards.references.put('f0', reference());
    assert.deepEqual(await cards.references.get('f0'), reference());
    assert.equal(await cards.references.get('f1'), undefined);
  });
});

describe('bins of a column', () => {
  const [heat, fluid] = reference().drift;

  it('are between edges, a category each, and one of missing values', () => {
    assert.deepEqual(
      [-9, 0.5, 1, 1.5, 9, null, 'text'].map((cell) => driftBin(heat!, cell)),
      [0, 1, 1, 2, 2, 3, 3],
    );
    assert.deepEqual(
      ['oil', 'water', null].map((cell) => driftBin(fluid!, cell)),
      [0, 1, 2],
    );
    assert.equal(driftBins(heat!), 4);
  });
});
