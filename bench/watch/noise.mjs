/* Errors whose neighbours are alike, from a seed. */
import { normals } from '../series/sources.mjs';

/** A first-order autoregressive series of variance 1. */
export function likeNeighbours(seed, likeness) {
  const normal = normals(seed);
  let last = normal();
  return () => (last = likeness * last + Math.sqrt(1 - likeness ** 2) * normal());
}

/** Quantiles 0.1 … 0.9 of a normal distribution. */
export const NORMAL = [-1.2816, -0.8416, -0.5244, -0.2533, 0, 0.2533, 0.5244, 0.8416, 1.2816];

/** As predict attaches quantiles to a row. */
export function quantilesAbout(middle, spread = 1) {
  return Object.fromEntries(NORMAL.map((z, k) => [`0.${k + 1}`, middle + z * spread]));
}
