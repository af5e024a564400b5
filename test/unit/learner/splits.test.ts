import assert from 'node:assert/strict';

import { Random } from '../../doors/learner';
import { noSplit, searchHistogram } from './split-search';

const rules = { lambda: 1, minHessian: 2, minGain: 0.1, categorySmooth: 5, categoryLambda: 5 };

/** Sums of random rows, whose first gradient grows with the bin or is chance; and what they add up to. */
function someSums(seed: number, bins: number, width: number) {
  const random = new Random(seed);
  const stride = width + 1;
  const sums = new Float64Array(bins * stride);
  for (let bin = 0; bin < bins; bin++) {
    const rows = random.below(4);
    for (let d = 0; d < width; d++) {
      sums[bin * stride + d] = rows * (random.below(2001) - 1000 + (seed % 3 === 0 ? 40 * bin : 0));
    }
    sums[bin * stride + width] = rows;
  }
  const totals = new Float64Array(stride);
  sums.forEach((value, i) => (totals[i % stride]! += value));
  return { sums, totals, bins, width };
}

/** The drop of the loss by sending some bins left, straight from the definition. */
function gainOf({ sums, totals, bins, width }: ReturnType<typeof someSums>, left: boolean[], lambda: number) {
  const stride = width + 1;
  const side = (is: boolean) =>
    totals.map((_, d) =>
      Array.from({ length: bins }, (_, bin) => (left[bin] === is ? sums[bin * stride + d]! : 0)).reduce(
        (sum, one) => sum + one,
        0,
      ),
    );
  const score = (own: Float64Array) =>
    own.subarray(0, width).reduce((sum, one) => sum + one * one, 0) / (own[width]! + lambda);
  const [on, off] = [side(true), side(false)];
  const isAllowed = on[width]! >= rules.minHessian && off[width]! >= rules.minHessian;
  return isAllowed ? score(on) + score(off) - score(totals) : 0;
}

describe('learner: splits of up to 255 bins', () => {
  for (const width of [1, 2, 5]) {
    it(`are the best by definition, with ${width} gradients`, () => {
      for (let seed = 0; seed < 20; seed++) {
        const own = someSums(seed, 2 + ((seed * 17) % 254), width);
        const { sums, bins } = own;
        const stride = width + 1;
        const seen = Array.from({ length: bins }, (_, bin) => bin).filter(
          (bin) => sums[bin * stride + width]! > 0,
        );
        const border = noSplit();
        searchHistogram({ ...own, category: false }, 3, rules, border);
        let best = 0;
        for (const last of seen) {
          for (const missingLeft of [true, false]) {
            const left = Array.from({ length: bins }, (_, bin) => (bin === 0 ? missingLeft : bin <= last));
            best = Math.max(best, gainOf(own, left, rules.lambda));
          }
        }
        assert.ok(Math.abs(border.gain - best) <= 1e-9 * best, `${border.gain} against ${best}`);

        // Of several gradients, categories are sorted by the one that varies most.
        const spread = (d: number) =>
          seen.reduce((sum, bin) => sum + sums[bin * stride + d]! ** 2 / sums[bin * stride + width]!, 0);
        const gradients = Array.from({ length: width }, (_, d) => d);
        const main = gradients.sort((a, b) => spread(b) - spread(a))[0]!;
        // The last byte of a key is its bin, which orders those that are alike.
        const key = (bin: number) => {
          const mean = sums[bin * stride + main]! / (sums[bin * stride + width]! + rules.categorySmooth);
          const bits = new BigUint64Array(Float64Array.of(mean).buffer);
          bits[0] = BigInt.asUintN(64, (bits[0]! & ~0xffn) | BigInt(bin));
          return new Float64Array(bits.buffer)[0]!;
        };
        const order = [...seen].sort((a, b) => key(a) - key(b));
        const lambda = seen.length > 4 ? rules.lambda + rules.categoryLambda : rules.lambda;
        const chance = seed % 2;
        const gains = order.map((_, cut) => {
          const left = new Set(order.slice(0, cut + 1));
          const sides = Array.from({ length: bins }, (_, bin) => left.has(bin));
          return gainOf(own, sides, lambda) - chance * (seen.length - 1);
        });
        const set = noSplit();
        searchHistogram({ ...own, category: true }, 3, rules, set, chance);
        const most = Math.max(0, ...gains);
        assert.ok(Math.abs(set.gain - most) <= 1e-9 * most, `${set.gain} against ${most}`);
        if (most > 0) {
          const isIn = (bin: number) => ((set.set![bin >> 5]! >> (bin & 31)) & 1) === 1;
          const sides = Array.from({ length: bins }, (_, bin) => isIn(bin));
          const named = gainOf(own, sides, lambda) - chance * (seen.length - 1);
          assert.ok(Math.abs(named - most) <= 1e-9 * most, 'the set named is the one of that gain');
        }
      }
    });
  }
});
