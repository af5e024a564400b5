/** A way through a tree has at most so many groups. */
export const MOST_SLOTS = 63;

/**
 * SHARES[p][q]: (p - 1)! q! / (p + q)!, the Shapley value of each of p players in a game that is won where all of them
 * play and none of q others; each of those has -SHARES[q][p].
 */
export const SHARES = Array.from({ length: MOST_SLOTS + 1 }, (_, p) =>
  Float64Array.from({ length: MOST_SLOTS + 1 }, (_, q) => {
    let share = 1 / Math.max(1, p);
    for (let i = 1; i <= q; i++) {
      share *= i / (p + i);
    }
    return share;
  }),
);
