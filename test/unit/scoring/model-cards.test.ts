import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { type FittedModel, ModelCards } from '../../doors/scoring';
import { seededRandom } from '../../doors/util';

function card(name: string, fittedId = `fitted-${name}`): FittedModel {
  return {
    name,
    fitted_train_set_id: fittedId,
    train_set_upload_id: `upload-${name}`,
    task: 'classification',
    target: 'species',
    columns: [{ name: '__proto__', type: 'number' }],
    classes: ['a', 'b'],
    rows: 10,
    options: { n_estimators: 4 },
    service: 'embedded',
    fitted_at: '2026-01-01T00:00:00.000Z',
  };
}

describe('ModelCards', () => {
  let folder: string;
  let file: string;
  let warnings: string[];
  const opened: ModelCards[] = [];
  const open = (service = 'embedded', at = file): ModelCards => {
    const cards = ModelCards.open({ path: at, service, onWarning: (text) => warnings.push(text) });
    opened.push(cards);
    return cards;
  };

  beforeEach(() => {
    folder = mkdtempSync(path.join(tmpdir(), 'cards-'));
    file = path.join(folder, 'tabular-prediction', 'models.json');
    warnings = [];
  });

  afterEach(async () => {
    await Promise.all(opened.splice(0).map((cards) => cards.close()));
    rmSync(folder, { recursive: true, force: true });
  });

  it('are known again after a restart, uploads and dead ones too', async () => {
    const first = open();
    first.put(card('pump'), 'print');
    first.put(card('gone'));
    first.markDead('fitted-gone');
    first.putUpload({
      set: 'train',
      id: 'u1',
      format: 'parquet',
      rows: 3,
      bytes: 9,
      hash: 'h',
      reused: false,
      target: 'wear',
      columns: [],
    });
    await first.close();
    const second = open();
    assert.equal(second.newestTrainSet('wear')?.id, 'u1');
    assert.equal(second.newestTrainSet('heat'), undefined);
    const { fitted_at, rows, ...more } = card('pump');
    const known = {
      ...more,
      fitted_at,
      rows,
      version: 1,
      versions: [{ version: 1, fitted_at, rows, why: 'first' }],
    };
    assert.deepEqual(second.get('pump'), known);
    assert.deepEqual(second.byFittedId('fitted-pump'), known);
    assert.deepEqual(second.byFingerprint('print', 'pump'), { card: known, aside: false });
    assert.equal(second.get('gone'), undefined);
    assert.equal(second.upload('u1')?.rows, 3);
    assert.deepEqual(
      second.list().map(({ name, dead }) => [name, dead]),
      [
        ['gone', true],
        ['pump', undefined],
      ],
    );
    assert.deepEqual(warnings, []);
  });

  it('are kept apart by service, in one file shared by all that open it', async () => {
    const one = open('embedded');
    const same = open('embedded');
    const other = open('https://api.example.org/svc');
    assert.equal(same, one);
    one.put(card('pump', 'id-embedded'));
    other.put(card('pump', 'id-hosted'));
    assert.equal(same.get('pump')?.fitted_train_set_id, 'id-embedded');
    await Promise.all([one.close(), same.close(), other.close()]);
    assert.equal(open('https://api.example.org/svc').get('pump')?.fitted_train_set_id, 'id-hosted');
    assert.equal(open('embedded').get('pump')?.fitted_train_set_id, 'id-embedded');
  });

  it('a burst of cards shares a write; flush resolves when the last one is on disk', async () => {
    const cards = open();
    for (let i = 0; i < 100; i++) {
      cards.put(card(`m${i}`));
    }
    assert.equal(existsSync(file), false);
    await cards.flush();
    const body = JSON.parse(readFileSync(file, 'utf8')) as {
      services: { embedded: { models: unknown[] } };
    };
    assert.equal(body.services.embedded.models.length, 100);
    assert.deepEqual(readdirSync(path.dirname(file)), ['models.json']);
  });

  it('a card that is there already is not written again, but stands first among the newest', async () => {
    const cards = open();
    cards.put(card('pump'), 'print');
    cards.put(card('fan'), 'other');
    await cards.flush();
    const before = statSync(file);
    cards.put(card('pump'), 'print');
    await cards.flush();
    assert.equal(statSync(file).ino, before.ino);
    assert.deepEqual(
      cards.list().map(({ name }) => name),
      ['pump', 'fan'],
    );
    cards.put(card('pump'), 'another print');
    await cards.flush();
    assert.notEqual(statSync(file).ino, before.ino);
  });

  it('many wide models are written in pieces, the event loop has its turns between', async () => {
    const cards = open();
    const columns = Array.from({ length: 400 }, (_, i) => ({ name: `column ${i}`, type: 'number' as const }));
    for (let i = 0; i < 200; i++) {
      cards.put({ ...card(`m${i}`), columns });
    }
    let turns = 0;
    let writing = true;
    const count = (): void => {
      turns++;
      if (writing) {
        setImmediate(count);
      }
    };
    count();
    await cards.flush();
    writing = false;
    const { size } = statSync(file);
    assert.ok(size > 2e6, `${size} bytes`);
    assert.ok(turns > size / (128 * 1024), `${turns} turns for ${size} bytes`);
    assert.equal((JSON.parse(readFileSync(file, 'utf8')) as { version: number }).version, 1);
    await cards.close();
    assert.equal(open().list().length, 200);
  });

  it('a model that was found dead is asked for again after its fit', () => {
    const cards = open();
    cards.put(card('pump', 'id-1'), 'print');
    cards.markDead('id-1');
    assert.equal(cards.get('pump'), undefined);
    assert.equal(cards.byFingerprint('print', 'pump'), undefined);
    cards.put(card('pump', 'id-2'));
    assert.equal(cards.get('pump')?.fitted_train_set_id, 'id-2');
    assert.equal(cards.byFittedId('id-1')?.version, 1);
  });

  it('a model that was found dead is asked for again where the clock was set back since', () => {
    const cards = open();
    cards.put(card('pump', 'id-1'));
    cards.markDead('id-1');
    const { now } = Date;
    Date.now = () => now() - 3_600_000;
    try {
      assert.equal(cards.get('pump')?.fitted_train_set_id, 'id-1');
    } finally {
      Date.now = now;
    }
  });

  it('a fit that began earlier and ends later does not replace a newer one', async () => {
    const cards = open();
    const slow = cards.beginFit('pump');
    const quick = cards.beginFit('pump');
    const end = cards.fits.end('pump');
    quick.done(card('pump', 'new'));
    await end;
    slow.done(card('pump', 'old'));
    assert.equal(cards.get('pump')?.fitted_train_set_id, 'new');
    assert.equal(cards.fits.end('pump'), undefined);
  });

  it('a corrupt file is set aside with one warning', async () => {
    const first = open();
    first.put(card('pump'));
    await first.close();
    for (const text of [
      '{"version":1,"services":{"embedded":{"models":[{"ca',
      '[]',
      '{"version":1}',
      'null',
    ]) {
      warnings = [];
      writeFileSync(file, text);
      const cards = open();
      assert.equal(cards.get('pump'), undefined);
      assert.equal(warnings.length, 1);
      const aside = readdirSync(path.dirname(file)).filter((name) => name.includes('corrupt'));
      assert.equal(aside.length, 1);
      assert.equal(readFileSync(path.join(path.dirname(file), aside[0]!), 'utf8'), text);
      rmSync(path.join(path.dirname(file), aside[0]!));
      cards.put(card('pump'));
      await cards.close();
      assert.equal(open().get('pump')?.name, 'pump');
      await Promise.all(opened.splice(0).map((one) => one.close()));
    }
  });

  it('without a place to write they are kept in memory, with one warning', async () => {
    // A file stands where the folder should be: not even root can write there.
    writeFileSync(path.join(folder, 'blocked'), '');
    const cards = open('embedded', path.join(folder, 'blocked', 'models.json'));
    cards.put(card('pump'));
    await cards.flush();
    cards.put(card('drive'));
    await cards.flush();
    assert.equal(cards.get('drive')?.name, 'drive');
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /memory only/);
  });

  it('a write that fails later warns once, and is made good when the folder can be written again', async function () {
    if (process.getuid?.() === 0) {
      // Root may write anywhere: take the folder itself away instead.
      const cards = open();
      cards.put(card('a'));
      await cards.flush();
      rmSync(path.dirname(file), { recursive: true });
      writeFileSync(path.dirname(file), '');
      cards.put(card('b'));
      await cards.flush();
      cards.put(card('c'));
      await cards.flush();
      assert.equal(warnings.length, 1);
      rmSync(path.dirname(file));
      cards.put(card('d'));
      await cards.close();
      assert.equal(open().list().length, 4);
      return;
    }
    const cards = open();
    cards.put(card('a'));
    await cards.flush();
    chmodSync(path.dirname(file), 0o500);
    cards.put(card('b'));
    await cards.flush();
    assert.equal(warnings.length, 1);
    chmodSync(path.dirname(file), 0o700);
    cards.put(card('c'));
    await cards.close();
    assert.equal(open().list().length, 3);
  });

  it('survive a kill at any moment: the file is whole, and holds every card that was flushed', async function () {
    this.timeout(180_000);
    const script = `
      const { ModelCards } = require(${JSON.stringify(require.resolve('../../../dist/src/models/model-cards'))});
      const cards = ModelCards.open({ path: ${JSON.stringify(file)}, service: 'embedded' });
      const base = ${JSON.stringify(card('x'))};
      (async () => {
        for (let i = cards.list().length; ; i++) {
          cards.put({ ...base, name: 'm' + i, fitted_train_set_id: 'id' + i, description: 'x'.repeat(5000) });
          await cards.flush();
          process.stdout.write(i + '\\n');
        }
      })();`;
    const random = seededRandom(20_261_120);
    let flushed = 0;
    let cut = 0;
    for (let round = 0; round < 15; round++) {
      const writes = Math.floor(random() * 25);
      const moment = random() * 25;
      const child = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
      let output = '';
      await new Promise<void>((resolve) => {
        child.stdout.on('data', (chunk: Buffer) => {
          output += chunk.toString();
          if (output.split('\n').length > writes) {
            setTimeout(() => child.kill('SIGKILL'), moment);
          }
        });
        child.on('close', () => resolve());
      });
      // The last line may itself have been cut.
      const last = Number(output.slice(0, output.lastIndexOf('\n')).split('\n').at(-1));
      flushed = Math.max(flushed, last + 1);
      const folder = path.dirname(file);
      const temporary = readdirSync(folder).filter((name) => name.endsWith('.tmp'));
      cut += temporary.length;
      const cards = open();
      assert.ok(cards.list().length >= flushed, `${cards.list().length} of ${flushed}`);
      await cards.close();
      temporary.forEach((name) => rmSync(path.join(folder, name)));
    }
    assert.deepEqual(warnings, []);
    assert.ok(cut > 0, 'some were killed in the middle of writing');
  }).timeout(60_000);

  it('keeps 2,000 models, 500 uploads and the errors of 500 names, the newest', () => {
    const cards = ModelCards.open({ service: 'memory' });
    for (let i = 0; i <= 2000; i++) {
      cards.put(card(`m${i}`));
    }
    assert.equal(cards.list().length, 2000);
    assert.equal(cards.get('m0'), undefined);
    assert.equal(cards.byFittedId('fitted-m0'), undefined);
    assert.ok(cards.get('m1'));
    for (let i = 0; i <= 500; i++) {
      const size = { format: 'csv' as const, rows: 1, bytes: 1, hash: '', reused: false, columns: [] };
      cards.putUpload({ set: 'test', id: `u${i}`, ...size });
      cards.beginFit(`f${i}`).failed(new Error(`${i}`));
    }
    assert.equal(cards.upload('u0'), undefined);
    assert.ok(cards.upload('u1'));
    assert.ok(cards.upload('u500'));
    assert.equal(cards.fits.error('f0'), undefined);
    assert.equal(cards.fits.error('f1')?.message, '1');
    assert.equal(cards.fits.error('f500')?.message, '500');
  });
});
