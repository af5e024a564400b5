/** As many rows of the train set are kept, evenly spread. */
const NEAR_ROWS = 400;
/** Of the kept rows, the nearest by the other sensors correct an expectation. */
const NEAREST = 10;
/** The squared difference of one sensor counts for as much at most. */
const MOST_APART = 9;
/** How fast a kept row loses its say with its distance, and what pulls the correction to nothing far from all. */
const REACH = 0.5;
const SHRINK = 2;
/** How unlike all rows a row is: its distance to the fifth nearest. */
const NEIGHBOUR = 5;

/** Rows of the train set with what the ridge of each sensor from the others missed there. */
export interface NearRows {
  /** kept × sensors, standardised */
  rows: Float64Array;
  /** kept × sensors */
  missed: Float64Array;
}

/** Evenly spread places among `count`: at most `NEAR_ROWS`. */
export function keptPlaces(count: number): number[] {
  const kept = Math.min(NEAR_ROWS, count);
  return Array.from({ length: kept }, (_, i) =>
    kept === 1 ? 0 : Math.floor((i * (count - 1)) / (kept - 1)),
  );
}

/**
 * Corrects what each sensor is expected to be by what was missed in the nearest kept rows: a kernel regression of the
 * residuals, which bends the straight lines of the ridge and fades far from every known row. As in auto-associative
 * kernel regression, distances are those of the other sensors.
 *
 * @param row sensors, standardised
 * @param expected sensors: corrected in place
 * @returns the distance to the fifth nearest kept row
 */
export function correctByNearRows(near: NearRows, row: Float64Array, expected: Float64Array): number {
  const sensors = row.length;
  const kept = near.rows.length / sensors;
  if (kept === 0) {
    return 0;
  }
  const apart = distances.length >= kept ? distances : (distances = new Float64Array(kept));
  for (let k = 0; k < kept; k++) {
    let sum = 0;
    for (let j = 0, at = k * sensors; j < sensors; j++, at++) {
      const difference = row[j] - near.rows[at];
      const square = difference * difference;
      sum += square < MOST_APART ? square : MOST_APART;
    }
    apart[k] = sum;
  }
  const reach = REACH * Math.max(1, sensors - 1);
  const count = Math.min(NEAREST, kept);
  for (let j = 0; j < sensors; j++) {
    nearest.fill(Infinity);
    for (let k = 0, at = j; k < kept; k++, at += sensors) {
      const difference = row[j] - near.rows[at];
      const square = difference * difference;
      const distance = apart[k] - (square < MOST_APART ? square : MOST_APART);
      if (distance < nearest[count - 1]) {
        insert(distance, k, count);
      }
    }
    let weights = SHRINK;
    let sum = 0;
    for (let i = 0; i < count; i++) {
      const weight = Math.exp(-nearest[i] / reach);
      weights += weight;
      sum += weight * near.missed[places[i] * sensors + j];
    }
    expected[j] += sum / weights;
  }
  nearest.fill(Infinity);
  const neighbour = Math.min(NEIGHBOUR, kept);
  for (let k = 0; k < kept; k++) {
    if (apart[k] < nearest[neighbour - 1]) {
      insert(apart[k], k, neighbour);
    }
  }
  return Math.sqrt(Math.max(0, nearest[neighbour - 1]));
}

let distances = new Float64Array(NEAR_ROWS);
const nearest = new Float64Array(NEAREST);
const places = new Int32Array(NEAREST);

/** Puts a distance in its place among the `count` least. */
function insert(distance: number, place: number, count: number): void {
  let at = count - 1;
  while (at > 0 && nearest[at - 1] > distance) {
    nearest[at] = nearest[at - 1];
    places[at] = places[at - 1];
    at--;
  }
  nearest[at] = distance;
  places[at] = place;
}
