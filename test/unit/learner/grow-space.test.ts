import assert from 'node:assert/strict';

import fc from 'fast-check';

import { GrowSpace, openOwnMemory, openScratch, quantise, Random, runsKernels } from '../../doors/learner';

/** A space of random bins and whole gradients, which every order of additions sums to the same. */
function someSpace(count: number, bins: number, width: number, seed: number) {
  const random = new Random(seed);
  const columns = Array.from({ length: 7 }, () =>
    Uint8Array.from({ length: count }, () => random.below(bins)),
  );
  const all = Int32Array.from({ length: count }, (_, row) => row).filter((row) => row % 3 !== 1);
  const space = new GrowSpace({
    columns,
    specs: columns.map((_, source) => ({ source, bins, category: false })),
    tableRows: count,
    width,
    outputs: 2,
    rows: all.length,
    outOfSample: 5,
    all,
    picked: 6,
  });
  const gradHess = Float64Array.from({ length: count * (width + 1) }, () => random.below(2000) - 1000);
  space.gradHess.set(gradHess);
  space.sample.set(all);
  space.scores.set(gradHess.subarray(0, count * 2));
  space.goesLeft.set(Uint8Array.from({ length: 256 }, () => random.below(2)));
  return { space, columns, rows: all, gradHess };
}

describe('learner: the space that trees are grown in', () => {
  it('sums, takes away and divides as plain loops do', () => {
    const table = fc.record({
      count: fc.integer({ min: 1, max: 300 }),
      bins: fc.constantFrom(2, 40, 255),
      width: fc.constantFrom(1, 2, 3, 4, 5),
      picked: fc.integer({ min: 1, max: 6 }),
      seed: fc.nat(1e6),
    });
    fc.assert(
      fc.property(table, ({ count, bins, width, picked, seed }) => {
        const { space, columns, rows, gradHess } = someSpace(count, bins, width, seed);
        const stride = width + 1;
        const length = picked * bins * stride;
        const from = Math.floor(rows.length / 4);
        const of = Array.from({ length: picked }, (_, i) => i);
        const layout = {
          columns: of.map((column) => space.column(column)),
          offsets: Int32Array.from(of, (i) => i * bins * stride),
          stride,
        };
        const [all, some] = [space.takeHistogram(), space.takeHistogram()];
        all.fill(0);
        some.fill(0);
        space.addRows(all, layout, space.sample, 0, rows.length);
        space.addRows(some, layout, space.sample, from, rows.length);
        space.takeAway(all, some, length);
        const plain = (own: Int32Array) => {
          const sums = new Float64Array(length);
          for (const row of own) {
            for (const column of of) {
              for (let d = 0; d < stride; d++) {
                sums[(column * bins + columns[column]![row]!) * stride + d]! += gradHess[row * stride + d]!;
              }
            }
          }
          return sums;
        };
        assert.deepEqual(all.slice(0, length), plain(rows.subarray(0, from)));
        assert.deepEqual(some.slice(0, length), plain(rows.subarray(from)));
        const middleRow = Math.floor((from + rows.length) / 2);
        space.removeRows(some, layout, space.sample, from, middleRow);
        assert.deepEqual(some.slice(0, length), plain(rows.subarray(middleRow)));
        assert.deepEqual(space.gradHess, gradHess);

        const sums = new Float64Array(stride).fill(3);
        space.addAll(sums, space.sample, from, rows.length);
        const total = (d: number) =>
          rows.subarray(from).reduce((sum, row) => sum + gradHess[row * stride + d]!, 3);
        assert.deepEqual(
          [...sums],
          Array.from(sums, (_, d) => total(d)),
        );

        const scores = space.scores.slice();
        space.addToScores(1, space.sample, from, rows.length, 0.3);
        rows.subarray(from).forEach((row) => (scores[row * 2 + 1]! += 0.3));
        assert.deepEqual(space.scores, scores);

        const middle = space.partition(2, space.sample, from, rows.length);
        const isLeft = (row: number) => space.goesLeft[columns[2]![row]!] === 1;
        const left = rows.subarray(from).filter(isLeft);
        const right = rows.subarray(from).filter((row) => !isLeft(row));
        assert.equal(middle, from + left.length);
        assert.deepEqual([...space.sample], [...rows.subarray(0, from), ...left, ...right]);
        space.close();
      }),
      { numRuns: 200, seed: 21 },
    );
  });

  it('rounds gradients to the same grid, and none where one of them is not finite', () => {
    const gradients = fc.record({
      width: fc.constantFrom(1, 2),
      numbers: fc.array(fc.double({ min: -1e12, max: 1e12, noNaN: true }), { minLength: 6, maxLength: 60 }),
      odd: fc.constantFrom(undefined, undefined, NaN, Infinity, -Infinity),
    });
    let changed = 0;
    fc.assert(
      fc.property(gradients, ({ width, numbers, odd }) => {
        const { space, rows } = someSpace(20, 2, width, 1);
        const { gradHess } = space;
        gradHess.forEach((_, i) => (gradHess[i] = numbers[i % numbers.length]!));
        if (odd !== undefined) {
          gradHess[rows.at(-1)! * (width + 1)] = odd;
        }
        const before = gradHess.slice();
        const plain = before.slice();
        quantise(plain, rows, width + 1);
        space.quantise();
        const after = gradHess.slice();
        space.close();
        changed += after.some((value, i) => value !== before[i] && !Number.isNaN(value)) ? 1 : 0;
        assert.ok(odd === undefined || after.every((value, i) => Object.is(value, before[i])));
        assert.deepEqual(after, plain);
      }),
      { numRuns: 200, seed: 25 },
    );
    assert.ok(changed > 20, 'numbers have been rounded');
  });

  it('draws a bit for each place from the upper ones of a word, and none beyond', () => {
    const draws = fc.record({ count: fc.integer({ min: 0, max: 256 }), seed: fc.nat(1e6) });
    fc.assert(
      fc.property(draws, ({ count, seed }) => {
        const [random, plain] = [new Random(seed), new Random(seed)];
        const words = new Int32Array(8).fill(-1);
        random.bits(count, words);
        words.forEach((word, at) => {
          const places = Math.min(32, Math.max(0, count - 32 * at));
          const drawn = places === 0 ? '' : plain.uint32().toString(2).padStart(32, '0').slice(0, places);
          assert.equal((word >>> 0).toString(2).padStart(32, '0'), drawn.padStart(32, '0'));
        });
        assert.equal(random.uint32(), plain.uint32());
      }),
      { numRuns: 200, seed: 23 },
    );
  });

  it('draws the samples of a stream, and leaves the stream where it then is', () => {
    const draws = fc.record({
      count: fc.integer({ min: 1, max: 200 }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      seed: fc.nat(1e6),
    });
    fc.assert(
      fc.property(draws, ({ count, part, seed }) => {
        const all = Int32Array.from({ length: count }, (_, i) => i * 3);
        const rows = Math.max(1, Math.round(count * part));
        const space = new GrowSpace({
          ...{ columns: [], specs: [], tableRows: 0, outputs: 1, width: 1 },
          ...{ rows, outOfSample: count - rows, all, picked: 1 },
        });
        const [random, plain] = [new Random(seed), new Random(seed)];
        let chosen = new Set<number>();
        for (let draw = 0; draw < 2; draw++) {
          space.draw(random);
          chosen = new Set(plain.sample(count, rows));
        }
        space.close();
        assert.deepEqual(
          [space.sample, space.outOfSample],
          [all.filter((_, i) => chosen.has(i)), all.filter((_, i) => !chosen.has(i))],
        );
        assert.equal(random.uint32(), plain.uint32());
      }),
      { numRuns: 200, seed: 22 },
    );
  });
});

describe('learner: the memory of its kernels', () => {
  it('has place for whatever is asked for, and lends it to one user at a time', async () => {
    assert.ok(runsKernels());
    const [one, other] = [openScratch(), openScratch()];
    const numbers = one.numbers(512).fill(3);
    const given = other.bytes(16).fill(9).byteOffset;
    assert.equal(given, numbers.byteOffset + 4096);
    const later = one.numbers(2).fill(5);
    assert.equal(later.byteOffset, given + 16);
    other.close();
    const next = openScratch();
    assert.equal(
      next.bytes(16).fill(7).byteOffset,
      later.byteOffset + 16,
      'what lies between stays as it is',
    );
    assert.deepEqual([...later], [5, 5]);
    assert.equal(next.kernels, one.kernels, 'the engine compiles its callers for one set of functions');
    const own = openOwnMemory(48);
    assert.notEqual(own.buffer, one.buffer);
    assert.deepEqual([own.bytes(1).byteOffset, own.wholes(5).byteOffset], [0, 16]);
    // More than any bound there was: the largest tables take the same way as small ones.
    const large = openScratch();
    const many = large.numbers(2 ** 25);
    many[many.length - 1] = 7;
    assert.equal(many.at(-1), 7);
    assert.ok(
      numbers.every((value) => value === 3),
      'the memory grows under what is lent',
    );
    // As much again as 32-bit addresses have.
    const closing = openScratch();
    closing.bytes(16);
    assert.throws(() => closing.numbers(2 ** 29), RangeError);
    const instead = openScratch();
    assert.equal(instead.bytes(16).byteOffset, many.byteOffset + many.byteLength, 'all of it was given back');
    [one, next, large, instead].forEach((lent) => lent.close());
    const again = openScratch();
    assert.equal(again.numbers(2 ** 25).buffer, large.buffer, 'the next run of a fit has it again');
    again.close();
    await new Promise((resolve) => setImmediate(resolve));
    const after = openScratch();
    assert.ok(after.bytes(16).buffer.byteLength < 2 ** 28, 'a large memory is not kept');
    assert.equal(after.bytes(16).byteOffset, numbers.byteOffset + 16, 'and begins anew');
    after.close();
  });
});
