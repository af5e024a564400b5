/** Smaller autocorrelations count as chance. */
const LEAST_CORRELATION = 0.05;

/**
 * The integrated autocorrelation time of a sequence: how many of its values carry as much information as one independent
 * value, so that n values have an effective sample size of n divided by it. 1 + 2 Σ ρ(lag), truncated at the first lag
 * whose autocorrelation is negligible (cf. C. J. Geyer, Practical Markov chain Monte Carlo, 1992).
 */
export function autocorrelationTime(values: Float64Array): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  const rest = values.map((value) => value - mean);
  const products = (lag: number): number => {
    let sum = 0;
    for (let i = lag; i < rest.length; i++) {
      sum += rest[i]! * rest[i - lag]!;
    }
    return sum;
  };
  const square = products(0);
  let time = 1;
  for (let lag = 1; square > 0 && lag < values.length / 4; lag++) {
    const correlation = products(lag) / square;
    if (correlation < LEAST_CORRELATION) {
      break;
    }
    time += 2 * correlation;
  }
  return time;
}

/**
 * The same, as the median over blocks counted back from the newest value: a shift in level between blocks must not pass
 * for correlation. 1 where there is no complete block.
 */
export function autocorrelationTimeInBlocks(values: Float64Array, block: number): number {
  const each: number[] = [];
  for (let end = values.length; end >= block; end -= block) {
    each.push(autocorrelationTime(values.subarray(end - block, end)));
  }
  return each.sort((a, b) => a - b)[each.length >> 1] ?? 1;
}
