/* A simulated machine, row by row: four sensors that wander, and what came of them. */

/** mulberry32 */
export function randomOf(seed) {
  let state = seed | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

function normalOf(random) {
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

export const SENSORS = 4;
const MEMORY = 0.9;

/**
 * @param lawAt row from which another law holds (Infinity: never)
 * @param wornAt row from which the law is a little other: the first sensor says a third of what it said
 * @param sensorAt row from which the first sensor has another scale
 * @param flipped rows [from, to) of which 30 % of the labels are wrong
 * @param fahrenheitAt row from which the number to predict is told in another unit
 * @param senseless rows [from, to) in which the first sensor reads anything, up to thirty times its usual range
 * @param code rows [from, to) in which the first sensor reads -999
 * @param stuck rows [from, to) in which it stands still where it was
 * @param high rows [from, to) of which the number to predict is told far too high
 * @param anything rows [from, to) of which it is anything
 * @param still rows [from, to) of which it stands still
 */
export function stream({
  task,
  rows,
  seed,
  lawAt = Infinity,
  wornAt = Infinity,
  sensorAt = Infinity,
  flipped = [0, 0],
  fahrenheitAt = Infinity,
  senseless = [0, 0],
  code = [0, 0],
  stuck = [0, 0],
  high = [0, 0],
  anything = [0, 0],
  still = [0, 0],
}) {
  const random = randomOf(seed);
  const normal = normalOf(random);
  const [senses, outcomes] = [1_000_000, 2_000_000].map((more) => randomOf(seed + more));
  const isIn = (row, [from, to]) => row >= from && row < to;
  const features = Array.from({ length: SENSORS }, () => new Float64Array(rows));
  const target = new Float64Array(rows);
  const state = features.map(() => normal());
  let noise = 0;
  for (let row = 0; row < rows; row++) {
    for (let k = 0; k < SENSORS; k++) {
      state[k] = MEMORY * state[k] + Math.sqrt(1 - MEMORY ** 2) * normal();
      features[k][row] = k === 0 && row >= sensorAt ? 3 * state[k] + 2 : state[k];
    }
    const [a, b, c] = state;
    // Errors of neighbours are alike, as on every machine.
    noise = 0.8 * noise + 0.6 * normal();
    const law =
      row >= lawAt
        ? -0.5 * a + 0.5 * b * b + 0.3 * c + 1
        : (row >= wornAt ? 0.3 * a + 0.3 : a) + 0.5 * b * b + 0.3 * c;
    if (task === 'regression') {
      target[row] = law + 0.5 * noise;
    } else {
      target[row] = law + 0.4 * noise > 1.3 ? 1 : 0;
      if (isIn(row, flipped) && random() < 0.3) {
        target[row] = 1 - target[row];
      }
    }
    if (isIn(row, senseless)) {
      features[0][row] = 120 * (senses() - 0.5);
    } else if (isIn(row, code)) {
      features[0][row] = -999;
    } else if (isIn(row, stuck)) {
      features[0][row] = features[0][stuck[0]];
    } else if (isIn(row, high)) {
      target[row] += 20;
    } else if (isIn(row, anything)) {
      target[row] = 120 * (outcomes() - 0.5);
    } else if (isIn(row, still)) {
      target[row] = target[still[0]];
    } else if (row >= fahrenheitAt) {
      target[row] = 1.8 * target[row] + 32;
    }
  }
  return { task, features, target };
}
