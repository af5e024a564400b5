import { strict as assert } from 'node:assert';
import {
  lstatSync,
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
import { setTimeout as sleep } from 'node:timers/promises';

import { Connection, EmbeddedService } from '../../../dist/src/connection';
import { type FittedModel, ModelCards } from '../../doors/scoring';
import { failing } from '../../helpers/failing-files';
import { storedCard } from './stand-in';

const card = (name: string, id: string): FittedModel => storedCard(name, 'embedded', id);

describe('A file of model cards that cannot be read or written now', () => {
  let root: string;
  let file: string;
  let warnings: string[];
  let mend: () => void = () => undefined;
  const opened: ModelCards[] = [];
  const open = (): ModelCards => {
    const cards = ModelCards.open({
      path: file,
      service: 'embedded',
      onWarning: (text) => warnings.push(text),
    });
    opened.push(cards);
    return cards;
  };

  beforeEach(async () => {
    root = mkdtempSync(path.join(tmpdir(), 'unread-'));
    file = path.join(root, 'user', 'tabular-prediction', 'models.json');
    warnings = [];
    const first = open();
    first.put(card('pump', 'pump-1'));
    first.put(card('drive', 'drive-1'));
    await first.close();
  });

  afterEach(async () => {
    mend();
    mend = () => undefined;
    await Promise.all(opened.splice(0).map((cards) => cards.close()));
    rmSync(root, { recursive: true, force: true });
  });

  const saved = (): string => readFileSync(file, 'utf8');

  for (const code of ['EMFILE', 'EACCES', 'EIO']) {
    it(`is left as it is after ${code}, and read by itself later`, async () => {
      const before = saved();
      mend = failing(['readFileSync', 'readFile'], code, /models\.json$/);
      const cards = open();
      assert.equal(cards.get('pump'), undefined);
      cards.put(card('fan', 'fan-1'));
      await cards.flush();
      assert.deepEqual([warnings.length, /memory only.*tried again/.test(warnings[0]!)], [1, true]);
      mend();
      assert.deepEqual([saved(), readdirSync(path.dirname(file))], [before, ['models.json']]);
      await cards.fits.arrival('drive', AbortSignal.timeout(20_000));
      assert.deepEqual(
        cards.list().map(({ name }) => name),
        ['fan', 'drive', 'pump'],
      );
      assert.equal(cards.byFittedId('drive-1')?.name, 'drive');
      await cards.close();
      assert.match(saved(), /fan-1/);
      assert.equal(open().list().length, 3);
    });
  }

  it('leaves open which models there are: a predict says so until it is read', async () => {
    mend = failing(['readFileSync', 'readFile'], 'EIO', /models\.json$/);
    const cards = open();
    const connection = new Connection({
      service: new EmbeddedService({ open: () => assert.fail('is asked') }),
      cards,
    });
    const request = { table: { value: { x: 1 } }, model: 'pump' };
    const unknown = {
      code: 'storage.failed',
      message:
        /^Which models there are is not known now: .*models\.json cannot be read \(EIO.*It is tried again\.$/,
    };
    await assert.rejects(connection.predict(request), unknown);
    await assert.rejects(connection.rename('pump', 'fan'), unknown);
    mend();
    cards.put(card('fan', 'fan-1'));
    await cards.flush();
    await assert.rejects(connection.predict({ ...request, model: 'belt' }), { code: 'model.unknown' });
    await connection.close();
  });

  it('is left alone where a newer version wrote it, told once at each start, and used once it can be read', async () => {
    const before = saved();
    const newer = JSON.stringify({ version: 2, shelves: [] });
    writeFileSync(file, newer);
    for (let start = 1; start <= 2; start++) {
      const cards = open();
      const told = {
        code: 'storage.failed',
        message:
          /models\.json are left alone: a newer version .*format 2; this one reads 1\): update the package/,
      };
      assert.throws(() => cards.assertUsable(), told);
      const connection = new Connection({
        service: new EmbeddedService({ open: () => assert.fail('is asked') }),
        cards,
      });
      for (const tried of [
        connection.train({ table: { value: [{ x: 1, wear: 2 }] }, target: 'wear', model: 'pump' }),
        connection.predict({ table: { value: { x: 1 } }, model: 'pump' }),
        connection.predictor({ noModel: 'wait' }).predict({ table: { value: { x: 1 } }, model: 'pump' }),
        connection.rollBack('pump'),
        connection.rename('pump', 'fan'),
        connection.chooseThreshold('pump', 0.5),
        connection.delete('pump'),
        connection.exportModel('pump'),
        connection.importModel(Buffer.alloc(0)),
        connection.estimateCost({ model: 'pump', table: { value: [{ x: 1 }] } }),
      ]) {
        await assert.rejects(tried, told);
      }
      cards.put(card('fan', `fan-${start}`));
      await cards.flush();
      await connection.close();
      await cards.close();
      assert.deepEqual([saved(), readdirSync(path.dirname(file))], [newer, ['models.json']]);
      assert.equal(warnings.length, start, warnings.join('\n'));
      assert.match(warnings[start - 1]!, /is left alone: a newer version.*no model can be fitted/);
    }
    const cards = open();
    writeFileSync(file, before);
    await cards.fits.arrival('drive', AbortSignal.timeout(20_000));
    cards.assertUsable();
    assert.equal(cards.get('pump')?.fitted_train_set_id, 'pump-1');
  });

  it('is not written through a link that waits in the place of its temporary file', async () => {
    const victim = path.join(root, 'victim');
    writeFileSync(victim, 'as it was');
    symlinkSync(victim, `${file}.${process.pid}.tmp`);
    const cards = open();
    cards.put(card('fan', 'fan-1'));
    await cards.flush();
    assert.equal(readFileSync(victim, 'utf8'), 'as it was');
    assert.match(saved(), /fan-1/);
    assert.ok(lstatSync(file).isFile());
  });

  it('has its models as earlier versions of those fitted meanwhile', async () => {
    mend = failing(['readFileSync'], 'EMFILE', /models\.json$/);
    const cards = open();
    cards.put(card('pump', 'pump-2'));
    mend();
    await cards.flush();
    assert.deepEqual(
      cards.get('pump')?.versions.map(({ version, why }) => [version, why]),
      [
        [2, 'refit'],
        [1, 'first'],
      ],
    );
    assert.equal(cards.rollBack('pump', true).fitted_train_set_id, 'pump-1');
  });

  it('is written by itself after a write that failed', async () => {
    const cards = open();
    mend = failing(['renameSync'], 'EIO', /models\.json/);
    cards.put(card('fan', 'fan-1'));
    await cards.flush();
    assert.doesNotMatch(saved(), /fan-1/);
    mend();
    const end = Date.now() + 20_000;
    while (!saved().includes('fan-1')) {
      assert.ok(Date.now() < end);
      await sleep(50);
    }
  });

  it('is not made in the place of a user folder that is away, and goes on when that is back', async () => {
    const cards = open();
    const [user, away] = [path.join(root, 'user'), path.join(root, 'away')];
    renameSync(user, away);
    cards.put(card('fan', 'fan-1'));
    await cards.flush();
    assert.deepEqual(readdirSync(root), ['away']);
    renameSync(away, user);
    cards.put(card('belt', 'belt-1'));
    await cards.flush();
    assert.equal(warnings.length, 1);
    assert.match(saved(), /fan-1.*belt-1/);
  });

  it('keeps the reference of a train set whatever else is in the folder', async () => {
    const cards = open();
    const folder = path.join(path.dirname(file), 'references');
    mkdirSync(folder);
    mend = failing(['readdir'], 'EMFILE', /references$/);
    await cards.references.put('pump-1', { columns: [], rows: [], usual: [], drift: [] });
    assert.equal(readdirSync(folder).length, 1);
  });
});
