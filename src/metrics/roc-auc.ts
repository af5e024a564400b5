/**
 * Area under the ROC curve of one class against the rest: the chance that a row of it has a higher score than a row
 * of the others, ties counting half (H. Mann and D. Whitney, 1947). Undefined where one of the two has no rows.
 */
export function rocAuc(score: Float64Array, codes: ArrayLike<number>, of: number): number | undefined {
  const order = Int32Array.from(score, (_, row) => row).sort((a, b) => score[a] - score[b]);
  let ranks = 0;
  let positives = 0;
  for (let from = 0; from < order.length;) {
    let end = from;
    let here = 0;
    for (; end < order.length && score[order[end]] === score[order[from]]; end++) {
      here += codes[order[end]] === of ? 1 : 0;
    }
    // Ranks count from 1; tied rows share the mean of theirs.
    ranks += here * ((from + end + 1) / 2);
    positives += here;
    from = end;
  }
  const negatives = order.length - positives;
  if (positives === 0 || negatives === 0) {
    return undefined;
  }
  return (ranks - (positives * (positives + 1)) / 2) / (positives * negatives);
}
