/** Below this a correlation is taken for chance. */
const LEAST_LIKENESS = 0.05;

/**
 * How many of some values, in their order, say as much as one would if they were independent:
 * 1 + 2 · sum of autocorrelations, up to the first that is hardly there. Neighbours in time are alike.
 */
export function alikeIn(values: Float64Array): number {
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
  let alike = 1;
  for (let lag = 1; square > 0 && lag < values.length / 4; lag++) {
    const likeness = products(lag) / square;
    if (likeness < LEAST_LIKENESS) {
      break;
    }
    alike += 2 * likeness;
  }
  return alike;
}

/**
 * The same within blocks of the newest values: their median, so that a level that has changed between them does not pass
 * for likeness. 1 where there is no whole block.
 */
export function alikeInBlocks(values: Float64Array, block: number): number {
  const each: number[] = [];
  for (let end = values.length; end >= block; end -= block) {
    each.push(alikeIn(values.subarray(end - block, end)));
  }
  return each.sort((a, b) => a - b)[each.length >> 1] ?? 1;
}
