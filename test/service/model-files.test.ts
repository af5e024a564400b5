import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { connect, type ModelCard, type ServiceError, type Tabular } from '../../dist/src';
import { Connection, HostedService, ModelCards } from '../../dist/src/connection';
import { crc32c, crc32cToBase64 } from '../doors/table';
import { unzip, writeZip } from '../doors/util';
import { editModel, type StoredModel } from '../helpers/edit-model';
import { temporaryFolder } from './harness';

const rows = Array.from({ length: 80 }, (_, i) => ({
  load: i % 10,
  oil: i % 3 === 0 ? 'old' : 'new',
  heat: 20 + (i % 10) * 3.7 + (i % 3 === 0 ? 8.1 : 0),
}));

async function zip(files: Map<string, Uint8Array>): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  const entries = [...files].map(([name, bytes]) => ({
    name,
    bytes: bytes.length,
    read: async function* () {
      yield await Promise.resolve(bytes);
    },
  }));
  for await (const piece of writeZip(entries)) {
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

describe('a model in a file', function () {
  this.timeout(60_000);
  let here: Tabular;
  let there: Tabular;
  let folder: string;
  let file: string;
  let bytes: Buffer;

  const ask = async (at: Tabular, model: string) =>
    (
      await at.predict({
        table: rows.slice(0, 20).map(({ load, oil }) => ({ load: load + 0.3, oil })),
        model,
        outputType: 'full',
      })
    ).prediction;

  const stored = async (at: Tabular): Promise<string[]> => {
    const left = await readdir(path.join(folder, at === there ? 'there' : 'here', 'models'));
    return left.sort();
  };

  before(async () => {
    folder = await temporaryFolder();
    here = await connect({ dataDir: path.join(folder, 'here') });
    there = await connect({ dataDir: path.join(folder, 'there') });
    const given = { target: 'heat', options: { n_estimators: 2 } };
    await here.train({ table: rows, ...given, model: 'Pumpe 1/ü' });
    await here.train({ table: rows.slice(20), ...given, model: 'Pumpe 1/ü' });
    file = path.join(folder, 'pump.zip');
    await here.exportModel('Pumpe 1/ü@1', file);
    bytes = await readFile(file);
  });
  after(async () => {
    await here.close();
    await there.close();
  });

  it('predicts elsewhere bit for bit the same, under its name or another; a name that is taken is refused', async () => {
    const card = await there.importModel(file);
    assert.deepEqual([card.name, card.version, card.versions[0]?.why], ['Pumpe 1/ü', 1, 'imported']);
    const wanted = await ask(here, 'Pumpe 1/ü@1');
    assert.deepEqual(await ask(there, 'Pumpe 1/ü'), wanted);
    await assert.rejects(there.importModel(file), { code: 'validation.failed' });
    const second = await there.importModel(file, 'fan');
    assert.equal(second.fitted_train_set_id, card.fitted_train_set_id, 'the model is there once');
    await there.delete('Pumpe 1/ü');
    assert.deepEqual(await ask(there, 'fan'), wanted);
    assert.equal((await here.importModel(file, 'copy')).name, 'copy');
  });

  it('brings what is kept of the train set, and no secret', async () => {
    const files = await unzip(bytes, 1e9);
    assert.deepEqual([...files.keys()], ['model.json', 'model.bin']);
    const head = JSON.parse(files.get('model.json')!.toString()) as Record<string, Record<string, unknown>>;
    assert.equal(head.card!.name, 'Pumpe 1/ü');
    assert.ok(Array.isArray(head.reference!.rows));
    assert.doesNotMatch(bytes.toString('latin1'), /token|bearer|signature/i);
  });

  it('is refused where it is damaged, of a later version or something else, and leaves nothing', async () => {
    const files = await unzip(bytes, 1e9);
    const head = JSON.parse(files.get('model.json')!.toString()) as Record<string, unknown>;
    const model = files.get('model.bin')!;
    const withHead = (more: object) =>
      zip(new Map([...files, ['model.json', Buffer.from(JSON.stringify({ ...head, ...more }))]]));
    const card = head.card as ModelCard;
    const [first] = card.columns;
    const many = Array.from({ length: 20_000 }, (_, i) => ({ name: `c${i}`, type: 'number' }));
    const flipped = Buffer.from(model);
    flipped[flipped.length - 9]! ^= 1;
    for (const [what, damaged, message] of [
      ['cut', bytes.subarray(0, Math.floor(bytes.length * 0.6)), /damaged/],
      ['empty', Buffer.alloc(0), /damaged, or no model/],
      ['a text', Buffer.from('name;value\n1;2\n'), /damaged, or no model/],
      ['a later format', await withHead({ version: 2 }), /later version of this package/],
      ['another format', await withHead({ format: 'x' }), /not of a model/],
      ['no card', await withHead({ card: { name: 7 } }), /card is damaged/],
      ['a column twice', await withHead({ card: { ...card, columns: [first, first] } }), /card is damaged/],
      ['too many columns', await withHead({ card: { ...card, columns: many } }), /card is damaged/],
      [
        'the card alone',
        await zip(new Map([['model.json', files.get('model.json')!]])),
        /card of the model alone/,
      ],
      ['other bytes', await zip(new Map([...files, ['model.bin', flipped]])), /damaged/],
      ['no model', await zip(new Map([...files, ['model.bin', Buffer.from('x')]])), /not a fitted train set/],
    ] as const) {
      const wrong = path.join(folder, 'wrong.zip');
      await writeFile(wrong, damaged);
      await assert.rejects(there.importModel(wrong, 'wrong'), (error: ServiceError) => {
        assert.equal(error.code, 'file.unreadable', `${what}: ${error.message}`);
        assert.match(error.message, message, what);
        return true;
      });
    }
    await assert.rejects(there.importModel(path.join(folder, 'none')), { code: 'file.unreadable' });
    assert.ok(!there.models().some(({ name }) => name === 'wrong'));
  });

  it('is refused where the model in it would never answer, and leaves nothing; so is one on disk', async () => {
    const files = await unzip(bytes, 1e9);
    const whole = files.get('model.bin')!;
    const end = whole.indexOf(10);
    const entry = JSON.parse(whole.toString('utf8', 0, end)) as object;
    const model = whole.subarray(end + 1);
    const entryOf = (of: Buffer, more: object = {}) => ({
      ...entry,
      ...{ bytes: of.length, crc: crc32cToBase64(crc32c(of)) },
      ...more,
    });
    const loops = editModel(model, (stored: StoredModel) => {
      const tree = {
        ...{ width: 1, roots: Int32Array.of(0), feature: Uint16Array.of(0, 0xffff, 0xffff) },
        ...{ bin: Uint8Array.of(1, 0, 0), flags: new Uint8Array(3), left: Int32Array.of(0, 0, 0) },
        ...{ setAt: new Int32Array(3), sets: new Int32Array(0), values: new Float32Array(1) },
      };
      stored.members[0].parts = [{ kind: 'trees', weight: 1, base: new Float64Array(1), trees: tree }];
    });
    const other = { features: [{ name: 'load', kind: 'number', type: 'number' }] };
    const many = Array.from({ length: 100_000 }, (_, i) => ({
      name: `c${i}`,
      kind: 'number',
      type: 'number',
    }));
    const kept = await stored(there);
    for (const [what, of, more, message] of [
      ['a tree that leads back', loops, {}, /a node has no children after it/],
      ['another entry', model, other, /its entry is that of another one/],
      [
        'another task',
        model,
        { task: 'classification', classes: ['a', 'b'] },
        /its entry is that of another one/,
      ],
      ['100,000 features', model, { features: many }, /at most \d+/],
    ] as const) {
      // What is here already is not taken again.
      const sent = entryOf(of, { id: randomUUID(), ...more });
      const changed = Buffer.concat([Buffer.from(`${JSON.stringify(sent)}\n`), of]);
      const wrong = path.join(folder, 'wrong.zip');
      await writeFile(wrong, await zip(new Map([...files, ['model.bin', changed]])));
      await assert.rejects(there.importModel(wrong, 'wrong'), { code: 'file.unreadable', message }, what);
    }
    assert.deepEqual(await stored(there), kept);
    // The same on disk, as if it had come with an earlier version.
    const card = await there.importModel(file, 'on disk');
    await there.close();
    const own = path.join(folder, 'there', 'models', card.fitted_train_set_id);
    const index = path.join(own, 'model.json');
    await writeFile(path.join(own, 'model.bin'), loops);
    await writeFile(index, JSON.stringify(entryOf(loops)));
    there = await connect({ dataDir: path.join(folder, 'there') });
    await assert.rejects(ask(there, 'on disk'), { code: 'model.unknown' });
    assert.match((await readdir(path.dirname(own))).join(), /\.corrupt/);
  });

  it('leaves out what no fit writes, and refuses names that no address can hold', async () => {
    const files = await unzip(bytes, 1e9);
    const head = JSON.parse(files.get('model.json')!.toString()) as { card: ModelCard };
    const odd = {
      ...{ scores: { from: 'out-of-fold', accuracy: { a: 1 } }, importance: [null], doubts: [{}] },
      ...{ classes: [{}], relative_to: {}, group: 5, order: 'x', thresholds: { label: [] }, limited: 'x' },
      compared: { with: 1, own: 2 },
    };
    const text = JSON.stringify({ ...head, card: { ...head.card, ...odd } });
    const written = path.join(folder, 'odd.zip');
    await writeFile(written, await zip(new Map([...files, ['model.json', Buffer.from(text)]])));
    const card = await there.importModel(written, 'odd');
    assert.deepEqual(
      Object.keys(odd).filter((name) => name in card),
      [],
    );
    for (const name of ['', ' ', 'x'.repeat(501), '\ud800']) {
      await assert.rejects(there.importModel(file, name), { code: 'validation.failed' }, name.slice(0, 9));
      await assert.rejects(there.rename('odd', name), { code: 'validation.failed' }, name.slice(0, 9));
    }
  });

  it('of a hosted service is its card, for the same service alone', async () => {
    const open = (key: string) => {
      const cards = ModelCards.open({ service: key });
      const client = () => Promise.reject(new Error('nothing is asked'));
      return {
        cards,
        connection: new Connection({ service: new HostedService({ key, open: client }), cards }),
      };
    };
    const [card] = here.models() as [ModelCard];
    const from = open('https://a.example/svc');
    from.cards.put({ ...card, service: 'https://a.example/svc' });
    const { pieces, bytes: size } = await from.connection.exportModel(card.name);
    const sent: Uint8Array[] = [];
    for await (const piece of pieces) {
      sent.push(piece);
    }
    const whole = Buffer.concat(sent);
    assert.equal(whole.length, size);
    const to = open('https://a.example/svc');
    const kept = await to.connection.importModel(whole, 'moved');
    assert.equal(kept.fitted_train_set_id, card.fitted_train_set_id);
    const other = open('https://b.example/svc');
    await assert.rejects(other.connection.importModel(whole), {
      code: 'config.invalid',
      message: /a\.example/,
    });
    await assert.rejects(there.importModel(file, ''), { code: 'validation.failed' });
  });
});
