import { MAX_SLOTS } from '../../kernels/blocks-layout';

/**
 * SHAPLEY_WEIGHTS[p][q] = (p - 1)! q! / (p + q)!: the Shapley value of each of p players in a game that is won if
 * they are all in and q others are all out. Each of the others has -SHAPLEY_WEIGHTS[q][p].
 */
export const SHAPLEY_WEIGHTS = Array.from({ length: MAX_SLOTS + 1 }, (_, p) =>
  Float64Array.from({ length: MAX_SLOTS + 1 }, (_, q) => {
    let share = 1 / Math.max(1, p);
    for (let i = 1; i <= q; i++) {
      share *= i / (p + i);
    }
    return share;
  }),
);
