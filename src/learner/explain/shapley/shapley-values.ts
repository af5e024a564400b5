import { bitCount } from '../../math/bits';

/** Exact Shapley values from the value of every coalition. Bit i of a coalition stands for player i. */
export function shapleyValues(values: Float64Array, players: number): Float64Array {
  // The weight of a coalition by its size: size! (players - size - 1)! / players!
  const shares = new Float64Array(players);
  shares[0] = 1 / players;
  for (let size = 1; size < players; size++) {
    shares[size] = (shares[size - 1] * size) / (players - size);
  }
  const effects = new Float64Array(players);
  for (let coalition = 0; coalition < values.length; coalition++) {
    const share = shares[bitCount(coalition)];
    for (let player = 0; player < players; player++) {
      if ((coalition & (1 << player)) === 0) {
        effects[player] += share * (values[coalition | (1 << player)] - values[coalition]);
      }
    }
  }
  return effects;
}
