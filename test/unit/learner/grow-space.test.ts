import assert from 'node:assert/strict';

import fc from 'fast-check';

import { GrowSpace, Random, treeScratch } from '../../doors/learner';

/** The same table in scratch memory of the kernel and in ordinary arrays. */
function bothSpaces(count: number, bins: number, width: number, seed: number) {
  const random = new Random(seed);
  const columns = Array.from({ length: 7 }, () =>
    Uint8Array.from({ length: count }, () => random.below(bins)),
  );
  const specs = columns.map((_, source) => ({ source, bins, category: false }));
  const rows = Int32Array.from({ length: count }, (_, row) => row).filter((row) => row % 3 !== 1);
  const size = {
    columns,
    specs,
    tableRows: count,
    width,
    outputs: 2,
    rows: rows.length,
    outOfSample: 5,
    all: rows,
    picked: 6,
    leaves: 2,
  };
  // The last column splits nothing, so it need not be within reach.
  const usable = Int32Array.of(0, 1, 2, 3, 4, 5);
  const spaces = [GrowSpace.open(size, usable), GrowSpace.ordinary(size)];
  const gradHess = Float64Array.from({ length: count * (width + 1) }, () => random.below(2000) - 1000);
  const goesLeft = Uint8Array.from({ length: 256 }, () => random.below(2));
  for (const space of spaces) {
    space.gradHess.set(gradHess);
    space.sample.set(rows);
    space.scores.set(gradHess.subarray(0, count * 2));
    space.goesLeft.set(goesLeft);
  }
  return { spaces, rows: rows.length, bins, width };
}

describe('learner: the kernel does what JavaScript does', () => {
  it('sums, differences and partitions are the same to the bit', () => {
    const table = fc.record({
      count: fc.integer({ min: 1, max: 300 }),
      bins: fc.constantFrom(2, 40, 255),
      width: fc.constantFrom(1, 2, 3, 5),
      picked: fc.integer({ min: 1, max: 6 }),
      seed: fc.nat(1e6),
    });
    fc.assert(
      fc.property(table, ({ count, bins, width, picked, seed }) => {
        const { spaces, rows } = bothSpaces(count, bins, width, seed);
        const stride = width + 1;
        const length = picked * bins * stride;
        const from = Math.floor(rows / 4);
        const answers = spaces.map((space) => {
          const layout = {
            columns: space.columns.slice(0, picked),
            offsets: Int32Array.from({ length: picked }, (_, i) => i * bins * stride),
            stride,
          };
          const [all, some] = [space.takeHistogram(), space.takeHistogram()];
          all.fill(0);
          some.fill(0);
          space.addRows(all, layout, space.sample, 0, rows);
          space.addRows(some, layout, space.sample, from, rows);
          space.takeAway(all, some, length);
          const sums = new Float64Array(stride);
          space.addAll(sums, space.sample, from, rows);
          space.addToScores(1, space.sample, from, rows, 0.3);
          const scores = space.scores.slice();
          const middle = space.partition(2, space.sample, from, rows);
          space.close();
          return {
            all: all.slice(0, length),
            some: some.slice(0, length),
            sums,
            scores,
            middle,
            rows: space.sample.slice(),
          };
        });
        assert.deepEqual(answers[0], answers[1]);
        assert.ok(rows - from === 0 || answers[0]!.some.some((sum) => sum !== 0), 'something has been added');
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
        const { spaces, rows } = bothSpaces(20, 2, width, 1);
        const [one, other] = spaces.map((space) => {
          space.gradHess.forEach((_, i) => (space.gradHess[i] = numbers[i % numbers.length]!));
          if (odd !== undefined) {
            space.gradHess[space.sample[rows - 1]! * (width + 1)] = odd;
          }
          const before = space.gradHess.slice();
          space.quantise();
          const after = space.gradHess.slice();
          space.close();
          changed += after.some((value, i) => value !== before[i] && !Number.isNaN(value)) ? 1 : 0;
          assert.ok(odd === undefined || after.every((value, i) => Object.is(value, before[i])));
          return after;
        });
        assert.deepEqual(one, other);
      }),
      { numRuns: 200, seed: 25 },
    );
    assert.ok(changed > 20, 'numbers have been rounded');
  });

  it('samples are the same, and so is the stream after them', () => {
    const draws = fc.record({
      count: fc.integer({ min: 1, max: 200 }),
      part: fc.double({ min: 0, max: 1, noNaN: true }),
      seed: fc.nat(1e6),
    });
    fc.assert(
      fc.property(draws, ({ count, part, seed }) => {
        const all = Int32Array.from({ length: count }, (_, i) => i * 3);
        const rows = Math.max(1, Math.round(count * part));
        const size = {
          columns: [],
          specs: [],
          tableRows: 0,
          outputs: 1,
          width: 1,
          rows,
          outOfSample: count - rows,
          all,
          picked: 1,
          leaves: 1,
        };
        const spaces = [GrowSpace.open(size, new Int32Array(0)), GrowSpace.ordinary(size)];
        const answers = spaces.map((space) => {
          const random = new Random(seed);
          space.draw(random);
          space.draw(random);
          space.close();
          return [space.sample.slice(), space.outOfSample.slice(), random.uint32()];
        });
        assert.deepEqual(answers[0], answers[1]);
      }),
      { numRuns: 200, seed: 22 },
    );
  });

  it('lends its memory to one user at a time, and up to a limit', () => {
    const scratch = treeScratch.open(4096);
    assert.ok(scratch.functions, 'this engine has WebAssembly');
    assert.equal(treeScratch.open(16).functions, undefined, 'as long as it is lent');
    scratch.close();
    assert.equal(
      treeScratch.open(2 ** 30).functions,
      undefined,
      'so much would be a second copy of a large table',
    );
    const larger = treeScratch.open(2 ** 25);
    const numbers = larger.numbers(2 ** 22);
    numbers[numbers.length - 1] = 7;
    assert.equal(numbers.at(-1), 7);
    larger.close();
    const next = treeScratch.open(16);
    assert.ok(next.functions);
    assert.notEqual(next.numbers(1).buffer, numbers.buffer, 'a large memory is not kept');
    next.close();
  });
});
