/*
 * Detectors to compare with, as they are described: an isolation forest (Liu, Ting and Zhou, ICDM 2008: 100 trees of 256
 * rows), the distance to the fifth nearest of 400 rows, and T² with Q of principal components (Jackson and Mudholkar,
 * Technometrics 21, 1979: components for 85 % of the variance, each over its 99 % quantile).
 */
import { deviation } from '../../test/helpers/simulated-machine';

/** A detector that has learned from rows: how unusual a row is, and the sensor that is, where it tells one. */
export type Peer = (row: Float64Array) => { score: number; sensor: number | undefined };

type Rows = readonly Float64Array[];

interface Standard {
  apply: (row: Float64Array) => Float64Array;
}

function standardOf(rows: Rows): Standard {
  const sensors = rows[0]!.length;
  const columns = Array.from({ length: sensors }, (_, j) => rows.map((row) => row[j]!));
  const means = columns.map((column) => column.reduce((sum, value) => sum + value, 0) / column.length);
  const spreads = columns.map((column) => deviation(column) || 1);
  return { apply: (row) => row.map((value, j) => (value - means[j]!) / spreads[j]!) };
}

export function nearest(rows: Rows): Peer {
  const { apply } = standardOf(rows);
  const kept = Array.from({ length: 400 }, (_, i) => apply(rows[Math.floor((i * (rows.length - 1)) / 399)]!));
  return (row) => {
    const own = apply(row);
    const found = kept
      .map((other) => ({ other, distance: own.reduce((sum, value, j) => sum + (value - other[j]!) ** 2, 0) }))
      .sort((a, b) => a.distance - b.distance);
    const near = found.slice(0, 5).map(({ other }) => other);
    const apart = own.map((value, j) => near.reduce((sum, other) => sum + Math.abs(value - other[j]!), 0));
    return { score: found[4]!.distance, sensor: placeOfLargest(apart) };
  };
}

type Tree = { size: number } | { column: number; at: number; below: Tree; above: Tree };

export function isolationForest(rows: Rows, random: () => number): Peer {
  const sample = 256;
  const most = Math.ceil(Math.log2(sample));
  const grow = (some: Rows, depth: number): Tree => {
    const column = Math.floor(random() * rows[0]!.length);
    const values = some.map((row) => row[column]!);
    const [low, high] = [Math.min(...values), Math.max(...values)];
    if (depth >= most || some.length <= 1 || low === high) {
      return { size: some.length };
    }
    const at = low + random() * (high - low);
    return {
      ...{ column, at },
      below: grow(
        some.filter((row) => row[column]! < at),
        depth + 1,
      ),
      above: grow(
        some.filter((row) => row[column]! >= at),
        depth + 1,
      ),
    };
  };
  const trees = Array.from({ length: 100 }, () =>
    grow(
      Array.from({ length: sample }, () => rows[Math.floor(random() * rows.length)]!),
      0,
    ),
  );
  const depthOf = (tree: Tree, row: Float64Array): number =>
    'size' in tree
      ? meanDepth(tree.size)
      : 1 + depthOf(row[tree.column]! < tree.at ? tree.below : tree.above, row);
  return (row) => ({ score: -trees.reduce((sum, tree) => sum + depthOf(tree, row), 0), sensor: undefined });
}

/** Of an unsuccessful search in a binary tree of so many rows. */
function meanDepth(size: number): number {
  return size <= 1 ? 0 : 2 * (Math.log(size - 1) + 0.5772156649) - (2 * (size - 1)) / size;
}

export function principalComponents(rows: Rows): Peer {
  const { apply } = standardOf(rows);
  const standard = rows.map(apply);
  const sensors = rows[0]!.length;
  const covariance = Array.from({ length: sensors }, (_, i) =>
    Float64Array.from(
      { length: sensors },
      (_, j) => standard.reduce((sum, row) => sum + row[i]! * row[j]!, 0) / standard.length,
    ),
  );
  const pairs = eigen(covariance).sort((a, b) => b.value - a.value);
  const total = pairs.reduce((sum, { value }) => sum + value, 0);
  let share = 0;
  const kept = pairs.filter(({ value }) => {
    const isKept = share < 0.85;
    share += value / total;
    return isKept;
  });
  const both = (row: Float64Array): { t2: number; q: number; rest: Float64Array } => {
    const own = apply(row);
    const rest = own.slice();
    let t2 = 0;
    for (const { value, vector } of kept) {
      const along = vector.reduce((sum, one, j) => sum + one * own[j]!, 0);
      t2 += along ** 2 / Math.max(value, 1e-9);
      vector.forEach((one, j) => (rest[j]! -= along * one));
    }
    return { t2, q: rest.reduce((sum, value) => sum + value ** 2, 0), rest };
  };
  const told = rows.map(both);
  const bound = (values: number[]): number => values.sort((a, b) => a - b)[Math.floor(0.99 * values.length)]!;
  const [boundT2, boundQ] = [bound(told.map(({ t2 }) => t2)), bound(told.map(({ q }) => q))];
  return (row) => {
    const { t2, q, rest } = both(row);
    return { score: Math.max(t2 / boundT2, q / boundQ), sensor: placeOfLargest(rest.map(Math.abs)) };
  };
}

/** Eigenvalues and vectors of a symmetric matrix, by Jacobi's rotations. */
function eigen(matrix: readonly Float64Array[]): { value: number; vector: Float64Array }[] {
  const size = matrix.length;
  const a = matrix.map((row) => row.slice());
  const v = a.map((_, i) => Float64Array.from({ length: size }, (_, j) => Number(i === j)));
  for (let sweep = 0; sweep < 30; sweep++) {
    for (let p = 0; p < size; p++) {
      for (let q = p + 1; q < size; q++) {
        if (Math.abs(a[p]![q]!) < 1e-12) {
          continue;
        }
        const theta = (a[q]![q]! - a[p]![p]!) / (2 * a[p]![q]!);
        const t = Math.sign(theta || 1) / (Math.abs(theta) + Math.sqrt(theta ** 2 + 1));
        const c = 1 / Math.sqrt(t ** 2 + 1);
        const s = t * c;
        const rotate = (rows: Float64Array[], i: [number, number], j: [number, number]): void => {
          const [x, y] = [rows[i[0]]![i[1]]!, rows[j[0]]![j[1]]!];
          rows[i[0]]![i[1]] = c * x - s * y;
          rows[j[0]]![j[1]] = s * x + c * y;
        };
        for (let k = 0; k < size; k++) {
          rotate(a, [k, p], [k, q]);
        }
        for (let k = 0; k < size; k++) {
          rotate(a, [p, k], [q, k]);
          rotate(v, [k, p], [k, q]);
        }
      }
    }
  }
  return a.map((row, i) => ({ value: row[i]!, vector: Float64Array.from(v, (line) => line[i]!) }));
}

function placeOfLargest(values: Float64Array): number {
  return values.reduce((place, value, i) => (value > values[place]! ? i : place), 0);
}
