import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import fc from 'fast-check';

import { LastRead, RowStore, SpillFile, TextDictionary, TextNeed } from '../../doors/service';

describe('Columns that are too much for the memory', () => {
  let folder: string;
  let spill: SpillFile;
  beforeEach(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'tabular-spill-'));
    spill = new SpillFile(folder);
  });
  afterEach(async () => {
    spill.close();
    await rm(folder, { recursive: true, force: true });
  });

  const codes = (dictionary: TextDictionary, texts: string[]): number[] =>
    texts.map((text) => {
      // Somewhere in a larger buffer, as the cells of a batch are.
      const bytes = Buffer.from(`x${text}yz`);
      return dictionary.findCode(bytes, 1, bytes.length - 2);
    });
  const dictionaryWith = (left: number): TextDictionary =>
    new TextDictionary({ left, spill }, new TextNeed(true));

  it('number texts by their first appearance and give them back, in memory and from the file', () => {
    const text = fc.oneof(
      fc.constantFrom('', 'a', 'b', 'é 😀', '\u0000'),
      fc.string({ unit: 'grapheme', maxLength: 40 }),
      fc.integer({ max: 300, min: 0 }).map((n) => `text ${n} `.repeat(50)),
    );
    fc.assert(
      fc.property(fc.array(text, { maxLength: 300 }), fc.constantFrom(-1, 5000, 1e9), (texts, left) => {
        const dictionary = dictionaryWith(left);
        const distinct = [...new Set(texts)];
        assert.deepEqual(
          codes(dictionary, texts),
          texts.map((one) => distinct.indexOf(one)),
        );
        assert.deepEqual(dictionary.toStrings(), distinct);
        assert.equal(dictionary.size, distinct.length);
      }),
      { numRuns: 200 },
    );
  });

  it('know a text again wherever it is, among many and after longer ones than a piece of memory', () => {
    const dictionary = dictionaryWith(100_000);
    const texts = Array.from({ length: 60_000 }, (_, i) => `${i} of many`);
    texts.splice(1000, 0, 'long '.repeat(700_000));
    texts.push('after it');
    const first = codes(dictionary, texts);
    assert.deepEqual(
      first,
      texts.map((_, i) => i),
    );
    assert.deepEqual(codes(dictionary, texts), first, 'the second time');
    assert.ok(dictionary.toStrings().every((text, i) => text === texts[i]));
  });

  it('tell texts apart that share their hash, in memory and in the file', () => {
    const pairs = ['costarring', 'liquid', 'declinate', 'macallums', 'altarage', 'zinke'];
    // Each word has the FNV hash of its neighbour; the second two are of one length, so that only their bytes differ.
    const texts = pairs.flatMap((text) => [text, ...pairs.map((end) => `${text} ${'x'.repeat(300)} ${end}`)]);
    for (const left of [1e9, -1]) {
      const dictionary = dictionaryWith(left);
      assert.equal(new Set(codes(dictionary, texts)).size, texts.length);
      assert.deepEqual(codes(dictionary, texts), codes(dictionary, texts));
      assert.deepEqual(dictionary.toStrings(), texts);
    }
  });

  it('keep the numbers of each row, whatever the order in which they come', async () => {
    for (const [Numbers, file] of [
      [Float64Array, spill],
      [Float64Array, undefined],
      [Int32Array, spill],
      [Int32Array, undefined],
    ] as const) {
      const before = new RowStore(Numbers as typeof Float64Array, 10, file);
      const store = new RowStore(Numbers as typeof Float64Array, 1000, file);
      const after = new RowStore(Numbers as typeof Float64Array, 10, file);
      const values = new Numbers(1000).map((_: number, i: number) => i * 3 - 500);
      before.put(new Numbers(10).fill(1), 0);
      after.put(new Numbers(10).fill(2), 0);
      store.put(values.subarray(600, 900), 600);
      store.put(values.slice(0, 600), 0);
      assert.equal(store.inMemory, file === undefined);
      assert.deepEqual([...store.read(900)], [...values.subarray(0, 900)]);
      assert.deepEqual([...before.read(10), ...after.read(10)], [...Array(10).fill(1), ...Array(10).fill(2)]);
    }
    if (process.platform !== 'win32') {
      assert.deepEqual(await readdir(folder), [], 'the file has no name');
    }
  });

  it('hold one column at a time', () => {
    const last = new LastRead();
    const [a, b] = [{}, {}];
    let reads = 0;
    const read = (owner: object, part: string): number => last.get(owner, part, () => ++reads);
    assert.deepEqual([read(a, 'codes'), read(a, 'words'), read(a, 'codes')], [1, 2, 1]);
    assert.deepEqual([read(b, 'codes'), read(a, 'words')], [3, 4]);
  });

  it('need memory by their length, and more where they are learned from', () => {
    const need = (texts: string[], learns: boolean): number => {
      const counted = new TextNeed(learns);
      for (const text of texts) {
        const bytes = Buffer.from(text);
        counted.add(bytes, 0, bytes.length);
      }
      return counted.bytes;
    };
    const texts = Array.from({ length: 8000 }, (_, i) => `w${i} w${i * 7} w${i * 13}`);
    const characters = texts.join('').length;
    const plain = need(texts, false);
    assert.ok(plain > characters && plain < characters + 40 * texts.length);
    const wide = texts.map((text) => text.replaceAll('w', 'ж'));
    assert.ok(need(wide, false) > plain * 1.2, 'other letters than Latin ones take two bytes');
    assert.ok(need(texts, true) > plain + 40e6);
    assert.ok(need(texts.slice(0, 500), true) < 1e5, 'few texts have few words');
  });
});
