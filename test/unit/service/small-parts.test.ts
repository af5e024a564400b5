import assert from 'node:assert/strict';
import os from 'node:os';

import fc from 'fast-check';

import {
  canonical,
  compareLabels,
  envelopeFor,
  isCrc32c,
  machineLimits,
  modelCacheBytes,
  modelLimits,
  normalHash,
  predictPatience,
  readPatience,
  toRefusal,
  unusableFolder,
} from '../../doors/service';
import { availableMemory } from '../../doors/util';

describe('Service: small parts', () => {
  it('sorts labels: numbers by value, text by code point, false before true', () => {
    assert.deepEqual([10, 9, -1, 0.5].sort(compareLabels), [-1, 0.5, 9, 10]);
    // U+FF5E comes before U+1F600, though its UTF-16 unit is greater than the surrogates.
    assert.deepEqual(['😀', '～', 'é', 'z', 'Z', ''].sort(compareLabels), ['', 'Z', 'z', 'é', '～', '😀']);
    assert.deepEqual([true, false].sort(compareLabels), [false, true]);
  });

  it('writes equal values as equal text, whatever the order of their properties', () => {
    assert.equal(canonical({ b: { d: 1, c: [2, 1] }, a: undefined }), canonical({ b: { c: [2, 1], d: 1 } }));
    assert.notEqual(canonical({ a: [1, 2] }), canonical({ a: [2, 1] }));
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const turned = Object.fromEntries(Object.entries(value).reverse());
        assert.equal(canonical(turned), canonical(value));
      }),
    );
  });

  it('knows a CRC32C in base64 and in hexadecimal, and keeps other hashes as opaque keys', () => {
    assert.equal(normalHash('4waSgw=='), '4waSgw==');
    assert.equal(normalHash('E3069283'), '4waSgw==');
    assert.ok(!isCrc32c(normalHash('sha256:abcdef')));
    assert.ok(!isCrc32c('4waSgx=='), 'bits beyond the fourth byte');
  });

  it('never reports more than the machine can bear, and options only lower it', () => {
    const small = machineLimits({ limits: {}, maxBytes: 1e9 }, 1e9);
    assert.ok(small.train_set_max_cells <= 6e6 && small.train_set_max_cells >= 1e6);
    assert.equal(small.dataset_max_size_bytes, 5e8);
    const large = machineLimits({ limits: {}, maxBytes: 1e12 }, 1e12);
    assert.equal(large.train_set_max_cells, 100e6);
    assert.equal(large.dataset_max_size_bytes, 5e9);
    const lowered = machineLimits({ limits: { max_cols: 10, max_classes: 1000 }, maxBytes: 1e9 }, 1e9);
    assert.deepEqual([lowered.max_cols, lowered.max_classes], [10, 160]);
    assert.ok(!('dataset_max_size_bytes' in modelLimits(small).max_model_limit!));
  });

  it('counts on the memory of the machine, the container or the address space, whichever is least', () => {
    const GB = 2 ** 30;
    assert.equal(availableMemory(8 * GB, 0, 'arm64'), 8 * GB);
    assert.equal(availableMemory(8 * GB, 512e6, 'arm64'), 512e6);
    assert.equal(availableMemory(8 * GB, 2 ** 64, 'x64'), 8 * GB, 'a container without a bound');
    assert.equal(availableMemory(8 * GB, 0, 'arm'), 2 * GB, 'Raspberry Pi OS of 32 bits');
    assert.equal(availableMemory(GB / 2, 2 ** 64, 'arm'), GB / 2);
    assert.ok(availableMemory() > 0 && availableMemory() <= os.totalmem());
  });

  it('takes train cells, and models kept for predictions, in proportion to the memory', () => {
    const GB = 2 ** 30;
    const cells = (memory: number) =>
      machineLimits({ limits: {}, maxBytes: 1e12 }, memory).train_set_max_cells;
    for (const memory of [GB / 2, GB, 2 * GB, 4 * GB, 8 * GB]) {
      // Two large fits at once take half of it, the models an eighth.
      assert.ok(2 * 48 * cells(memory) <= memory / 2, `${memory}`);
      assert.ok(cells(memory) >= memory / 200, `${memory}: not less than need be`);
      for (const threads of [1, 4]) {
        assert.ok(threads * modelCacheBytes(threads, memory) <= memory / 8);
      }
    }
    assert.ok(cells(GB) >= 200_000 * 20, 'the smallest Raspberry Pi takes 200,000 rows of 20 columns');
    assert.equal(cells(64 * GB), 100e6);
    assert.equal(modelCacheBytes(1, 64 * GB), 512e6);
  });

  it('bears with a prediction in proportion to its rows and its model, and with one row not for minutes', () => {
    const minutes = (ms: number): number => Math.round(ms / 60_000);
    assert.equal(minutes(readPatience(10_000)), 1);
    assert.equal(minutes(readPatience(256 * 1024 * 1024)), 5);
    assert.ok(minutes(predictPatience(1, 1e6, false)) <= 1);
    assert.equal(minutes(predictPatience(200_000, 1e6, false)), 167);
    assert.equal(minutes(predictPatience(1, 1e6, true)), 11);
  });

  it('says a full disk as such, and hides the details of what it does not know', () => {
    const full = toRefusal(Object.assign(new Error('no space: /secret/path'), { code: 'ENOSPC' }));
    assert.deepEqual([full.status, full.body.errorCode, full.body.retryable], [507, 'STORAGE_FAILED', false]);
    const other = toRefusal(new Error('at /secret/path'));
    assert.equal(other.status, 500);
    assert.ok(!other.message.includes('secret'));
  });

  it('says what to do about a folder that cannot be used: a full disk needs room, not rights', () => {
    const because = (code: string) =>
      unusableFolder('/data', Object.assign(new Error(`${code}: no`), { code })).message;
    assert.match(because('ENOSPC'), /folder \/data cannot be used \(ENOSPC: no\): make room on its disk/);
    assert.match(because('EDQUOT'), /make room on its disk/);
    assert.match(because('EACCES'), /choose one that can be written/);
    assert.equal(unusableFolder('/data', new Error('x')).code, 'storage.failed');
  });

  it('puts what concerns every route into envelope 1, the rest into that of the route', () => {
    assert.equal(envelopeFor(404, 'quickstart'), 'quickstart');
    assert.equal(envelopeFor(422, 'generic'), 'generic');
    for (const status of [401, 405, 413, 429, 500, 503]) {
      assert.equal(envelopeFor(status, 'quickstart'), 'generic');
    }
  });
});
