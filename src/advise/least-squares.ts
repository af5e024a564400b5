import { cholesky, gram, solve } from '../learner/math/matrix';

/**
 * The weight of each feature, so that their sums come as near to the values as can be.
 *
 * @param features [row][feature]
 * @param ridge added to the diagonal of the normal equations, per row: features that say the same share what they tell
 */
export function leastSquares(
  features: readonly (readonly number[])[],
  values: readonly number[],
  ridge: number,
): Float64Array {
  const count = features[0]?.length ?? 1;
  const matrix = gram(Float64Array.from(features.flat()), features.length, count);
  const sums = new Float64Array(count);
  features.forEach((row, at) => row.forEach((feature, i) => (sums[i]! += feature * values[at]!)));
  for (let i = 0; i < count; i++) {
    matrix[i * count + i]! += ridge * (features.length + 1);
  }
  solve(cholesky(matrix, count), count, sums);
  return sums;
}
