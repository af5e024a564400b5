import { argsort } from '../../math/order';
import type { Random } from '../../math/random';
import type { TargetColumn } from '../../types';

/** Ranges of a numeric target that count as classes when clusters are assigned. */
const RANGES = 5;

/**
 * The part of each cluster. Clusters are assigned one by one, those with the largest share of any class first, to the
 * part that has least of their classes so far (after K. Sechidis et al., On the stratification of multi-label data,
 * 2011). With at least as many clusters as parts, no part stays empty.
 */
export function assignWhole(
  target: TargetColumn,
  { of, count }: { of: Int32Array; count: number },
  parts: number,
  random: Random,
): Uint8Array {
  const { classOf, classes } = asClasses(target);
  const shares = sharesOf(classOf, classes, of, count);
  const width = classes + 1;
  const filled = new Float64Array(parts * width);
  const order = random.shuffle(Int32Array.from({ length: count }, (_, cluster) => cluster));
  const largest = Float64Array.from({ length: count }, (_, cluster) =>
    Math.max(...shares.subarray(cluster * width, (cluster + 1) * width)),
  );
  order.sort((a, b) => largest[b] - largest[a]);
  const partOf = new Uint8Array(count);
  for (const cluster of order) {
    const own = shares.subarray(cluster * width, (cluster + 1) * width);
    let best = 0;
    let lowest = Infinity;
    for (let part = 0; part < parts; part++) {
      // Prefers an empty part; otherwise minimises the growth of the part's squared shares.
      let cost = filled[part * width + classes] === 0 ? -1 : 0;
      for (let k = 0; k < width; k++) {
        cost += own[k] * filled[part * width + k];
      }
      if (cost < lowest) {
        lowest = cost;
        best = part;
      }
    }
    partOf[cluster] = best;
    own.forEach((share, k) => (filled[best * width + k] += share));
  }
  return partOf;
}

/** Clusters × (classes + 1): each cluster's share of every class, and of all rows. */
function sharesOf(classOf: Int32Array, classes: number, of: Int32Array, count: number): Float64Array {
  const width = classes + 1;
  const shares = new Float64Array(count * width);
  const totals = new Float64Array(width);
  for (let row = 0; row < of.length; row++) {
    shares[of[row] * width + classOf[row]]++;
    shares[of[row] * width + classes]++;
    totals[classOf[row]]++;
    totals[classes]++;
  }
  for (let i = 0; i < shares.length; i++) {
    shares[i] /= totals[i % width] || 1;
  }
  return shares;
}

/** Classes as they are; numbers as ranges of equal counts. */
function asClasses(target: TargetColumn): { classOf: Int32Array; classes: number } {
  if (target.task === 'classification') {
    return { classOf: target.codes, classes: target.classes.length };
  }
  const { values } = target;
  const order = argsort(values);
  const classOf = new Int32Array(values.length);
  order.forEach((row, rank) => (classOf[row] = Math.floor((rank * RANGES) / values.length)));
  return { classOf, classes: RANGES };
}
