import { strict as assert } from 'node:assert';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import fs from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

import { type FittedModel, ModelCards, ServiceSection } from '../../doors/scoring';
import { storedCard } from './stand-in';

const card = (name: string, id?: string): FittedModel => storedCard(name, 'hosted', id);

/** One file under two paths, each of which is as good as a process of its own: it knows nothing of the other. */
describe('A file of model cards that two processes write', () => {
  let root: string;
  let file: string;
  let warnings: string[];
  const opened: ModelCards[] = [];
  const open = (folder: 'one' | 'other' = 'one'): ModelCards => {
    const cards = ModelCards.open({
      path: path.join(root, folder, 'models.json'),
      service: 'hosted',
      onWarning: (text) => warnings.push(text),
    });
    opened.push(cards);
    return cards;
  };
  const put = async (cards: ModelCards, ...given: FittedModel[]): Promise<void> => {
    for (const one of given) {
      cards.put(one);
    }
    await cards.flush();
  };
  const versions = (cards: ModelCards, name: string): [number, string][] | undefined =>
    cards.named(name)?.versions.map(({ version, card: { fitted_train_set_id: id } }) => [version, id]);

  beforeEach(() => {
    root = mkdtempSync(path.join(tmpdir(), 'shared-'));
    mkdirSync(path.join(root, 'one'));
    symlinkSync(path.join(root, 'one'), path.join(root, 'other'));
    file = path.join(root, 'one', 'models.json');
    warnings = [];
  });

  afterEach(async () => {
    await closeAll();
    rmSync(root, { recursive: true, force: true });
  });

  async function closeAll(): Promise<void> {
    await Promise.all(opened.splice(0).map((cards) => cards.close()));
  }

  it('keeps the models of both, and each learns of those of the other', async () => {
    const [one, other] = [open('one'), open('other')];
    await put(one, card('pump'));
    await put(other, card('fan'));
    assert.deepEqual(versions(other, 'pump'), [[1, 'fitted-pump']]);
    await put(one, card('drive'), card('pump', 'pump-2'));
    await put(other, card('belt'));
    assert.deepEqual(versions(other, 'pump')?.[0], [2, 'pump-2']);
    await closeAll();
    assert.deepEqual(
      open()
        .list()
        .map(({ name }) => name)
        .sort(),
      ['belt', 'drive', 'fan', 'pump'],
    );
    const told = warnings.filter((text) => text.includes('a user folder of its own'));
    assert.deepEqual([told.length, warnings.length], [2, 2], warnings.join('\n'));
  });

  it('keeps the models of both that are written at the same time', async () => {
    const [one, other] = [open('one'), open('other')];
    for (let i = 0; i < 20; i++) {
      await Promise.all([put(one, card(`a${i}`)), put(other, card(`b${i}`))]);
    }
    await closeAll();
    assert.equal(open().list().length, 40);
  });

  it('keeps the models of both where renaming takes long', async () => {
    const { rename } = fs;
    fs.rename = async (...names) => {
      await delay(Math.random() * 20);
      return rename(...names);
    };
    try {
      const [one, other] = [open('one'), open('other')];
      for (let i = 0; i < 10; i++) {
        await Promise.all([put(one, card(`a${i}`)), put(other, card(`b${i}`))]);
      }
      await closeAll();
    } finally {
      fs.rename = rename;
    }
    assert.equal(open().list().length, 20);
  });

  it('keeps the versions of both of one name; that of the writer is in charge', async () => {
    await put(open('one'), card('pump', 'first'));
    await closeAll();
    const [one, other] = [open('one'), open('other')];
    await put(one, card('pump', 'mine'));
    await put(other, card('pump', 'theirs'));
    assert.deepEqual(
      versions(other, 'pump')?.map(([, id]) => id),
      ['mine', 'theirs', 'first'],
    );
    assert.equal(other.get('pump')?.fitted_train_set_id, 'theirs');
  });

  it('brings back nothing that was deleted or renamed here', async () => {
    await put(open('one'), card('pump'), card('fan'));
    await closeAll();
    const older = readFileSync(file);
    const [one, other] = [open('one'), open('other')];
    one.remove('pump');
    one.rename('fan', 'ventilator');
    await one.flush();
    await put(other, card('drive'));
    await put(one, card('belt'));
    // As the other one leaves it where it wrote in the same moment.
    writeFileSync(file, older);
    await put(one, card('belt', 'belt-2'));
    assert.deepEqual(
      one
        .list()
        .map(({ name }) => name)
        .sort(),
      ['belt', 'drive', 'ventilator'],
    );
  });

  it('is left without what the other deleted or renamed, and has what was fitted there since', async () => {
    await put(open('one'), card('pump'), card('fan'), card('drive'), card('drive', 'drive-2'), card('belt'));
    await closeAll();
    const [one, other] = [open('one'), open('other')];
    one.remove('pump');
    one.rename('fan', 'ventilator');
    one.remove('drive');
    await put(one, card('drive', 'drive-3'));
    one.rename('belt', 'strap');
    one.rename('strap', 'belt');
    await one.flush();
    await put(other, card('new'));
    const named = (cards: ModelCards): string[] =>
      cards
        .list()
        .map(({ name, fitted_train_set_id: id }) => `${name} ${id}`)
        .sort();
    const expected = ['belt fitted-belt', 'drive drive-3', 'new fitted-new', 'ventilator fitted-fan'];
    assert.deepEqual(named(other), expected);
    await put(one, card('new', 'new-2'));
    await closeAll();
    assert.deepEqual(named(open()), expected.with(2, 'new new-2'));
  });

  it('keeps what is fitted anew under a name that was deleted there, or here', async () => {
    await put(open('one'), card('pump'), card('fan'));
    await closeAll();
    const [one, other] = [open('one'), open('other')];
    one.remove('pump');
    one.remove('fan');
    await one.flush();
    const older = readFileSync(file);
    await put(other, card('pump', 'pump-2'), card('belt'));
    assert.deepEqual(versions(other, 'pump')?.[0], [2, 'pump-2']);
    assert.equal(other.get('fan'), undefined);
    // The same model as before: a service may answer an equal fit with it.
    await put(other, card('fan'));
    await put(one, card('drive'));
    await put(other, card('last'));
    for (const cards of [one, other]) {
      assert.deepEqual(versions(cards, 'fan'), [[1, 'fitted-fan']]);
      assert.equal(cards.get('pump')?.fitted_train_set_id, 'pump-2');
    }
    one.remove('fan');
    await one.flush();
    await put(other, card('belt', 'belt-2'));
    assert.equal(other.get('fan'), undefined, 'deleted a second time');
    await put(other, card('fan'));
    writeFileSync(file, older);
    await put(other, card('drive', 'drive-2'));
    assert.deepEqual(versions(other, 'fan'), [[1, 'fitted-fan']], 'an older file with what it knows already');
  });

  it('loses no version to an older file that is put back while it is open', async () => {
    const cards = open();
    await put(cards, card('pump', 'first'), card('fan'));
    const older = readFileSync(file);
    await put(cards, card('pump', 'second'), card('drive'));
    writeFileSync(file, older);
    await put(cards, card('belt'));
    assert.deepEqual(versions(cards, 'pump'), [
      [2, 'second'],
      [1, 'first'],
    ]);
    assert.deepEqual(
      cards.list().map(({ name }) => name),
      ['belt', 'drive', 'pump', 'fan'],
    );
  });

  it('says nothing where nobody else writes it, whatever happens to it', async () => {
    const cards = open();
    await put(cards, card('pump'));
    await put(cards, card('fan'));
    rmSync(file);
    await put(cards, card('drive'));
    await closeAll();
    await put(open(), card('belt'));
    assert.equal(open().list().length, 4);
    assert.deepEqual(warnings, []);
  });
});

describe('A section of model cards', () => {
  it('is written as it is at one time, though it changes meanwhile', () => {
    const section = new ServiceSection();
    section.pending.set('soon', { card: card('pump', 'soon') });
    const texts = section.write();
    const first = texts.next().value as string;
    section.pending.delete('soon');
    const { pending } = JSON.parse(first + [...texts].join('')) as { pending: unknown[] };
    assert.equal(pending.length, 1, 'neither the fit nor its model would be in the file');
  });
});
