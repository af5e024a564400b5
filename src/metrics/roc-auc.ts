/**
 * Area under the ROC curve of one class against the rest: the chance that a row of it has a higher score than a row
 * of the others, ties counting half (H. Mann and D. Whitney, 1947). Undefined where one of the two has no rows.
 */
export function rocAuc(score: Float64Array, codes: ArrayLike<number>, of: number): number | undefined {
  const own = score.filter((_, row) => codes[row] === of).sort();
  const others = score.filter((_, row) => codes[row] !== of).sort();
  if (own.length === 0 || others.length === 0) {
    return undefined;
  }
  // Halves are exact, so the order of the sum changes nothing.
  let won = 0;
  let below = 0;
  let upTo = 0;
  for (const one of own) {
    while (below < others.length && others[below] < one) {
      below++;
    }
    while (upTo < others.length && others[upTo] <= one) {
      upTo++;
    }
    won += (below + upTo) / 2;
  }
  return won / (own.length * others.length);
}
