import { binAll, findBorders } from '../features/binning';
import type { ColumnSpec } from '../features/encode';
import { argsort } from '../math/order';
import type { Random } from '../math/random';
import { findLeaf, type Trees } from '../trees/trees';
import { LeafFinder } from '../trees/walk';
import { RESIDUALS } from '../tuned';
import { writeQuantiles } from './distribution';
import { growTrees } from './residual-trees';

/**
 * The distribution of residuals around a row: a quantile regression forest (N. Meinshausen, 2006) on out-of-fold
 * residuals. A leaf lists the residuals of its rows. A row's distribution weights the residuals of all its leaves,
 * mixed with those of all rows.
 */
export interface ResidualForest {
  /** Residuals, ascending, in units of the scaled target; thinned to at most 1024 by averaging neighbours. */
  atoms: Float64Array;
  /** Weight of each atom over all rows. */
  overall: Float64Array;
  /** Weight of all rows against the leaves, 0 to 1. */
  mix: number;
  /** Bin borders of the prediction, which is the last column of the trees. */
  borders: Float64Array;
  trees: Trees;
  /** Leaf l lists atoms `members[offsets[l] … offsets[l + 1] - 1]`. */
  offsets: Int32Array;
  members: Uint16Array;
}

const LEVELS = Float64Array.from({ length: 9 }, (_, i) => (i + 1) / 10);

export interface ResidualInput {
  columns: Uint8Array[];
  specs: ColumnSpec[];
  /** Table rows with an out-of-fold prediction; that prediction; and its residual, in the order of `rows`. */
  rows: Int32Array;
  predicted: Float64Array;
  residuals: Float64Array;
  /** Per table row, its cluster of similar rows, which a tree learns from as a whole or not at all. */
  clusters?: { of: Int32Array; count: number };
}

/** A forest, with its scores on rows that its trees had not seen. */
export interface ResidualFit {
  forest: ResidualForest;
  /** Of each of the rows, the mean residual around it by trees that had not seen it; 0 where there are more than trees learn from. */
  shifts: Float64Array;
  pinball: number;
  coverage80: number;
  work: number;
}

export function fitResiduals(input: ResidualInput, random: Random): ResidualFit {
  const { atoms, overall, atomOf } = makeAtoms(input.residuals);
  const chosen = random.sample(input.rows.length, Math.min(RESIDUALS.rows, input.rows.length));
  const borders = findBorders(input.predicted, random);
  const columns = [
    ...input.columns.map((bins) => pick(bins, input.rows, chosen)),
    new Uint8Array(chosen.length),
  ];
  binAll(
    Float64Array.from(chosen, (i) => input.predicted[i]),
    borders,
    columns[columns.length - 1],
  );
  const specs = [...input.specs, { source: -1, bins: borders.length + 2, category: false }];
  const grown = growTrees(
    columns,
    specs,
    Float64Array.from(chosen, (i) => input.residuals[i]),
    treeSampler(input, chosen),
    random,
  );
  const { offsets, members } = listMembers(grown.leafRows, pickAtoms(atomOf, chosen));
  const forest: ResidualForest = { atoms, overall, mix: 1, borders, trees: grown.trees, offsets, members };
  const residuals = Float64Array.from(chosen, (i) => input.residuals[i]);
  const tested = random.sample(chosen.length, Math.min(1000, chosen.length));
  const results = testForest(forest, columns, residuals, tested, grown.inSample);
  const best = results.reduce((a, b) => (b.pinball < a.pinball ? b : a));
  forest.mix = best.mix;
  const shifts = new Float64Array(input.rows.length);
  if (chosen.length === input.rows.length) {
    const ofChosen = meanResiduals(forest, columns, chosen.length, grown.inSample);
    chosen.forEach((i, at) => (shifts[i] = ofChosen[at]));
  }
  return { forest, shifts, pinball: best.pinball, coverage80: best.coverage80, work: grown.work };
}

function pick(bins: Uint8Array, rows: Int32Array, chosen: Int32Array): Uint8Array {
  const out = new Uint8Array(chosen.length);
  for (let i = 0; i < out.length; i++) {
    out[i] = bins[rows[chosen[i]]];
  }
  return out;
}

function makeAtoms(residuals: Float64Array): {
  atoms: Float64Array;
  overall: Float64Array;
  atomOf: Uint16Array;
} {
  const count = residuals.length;
  const order = argsort(residuals);
  const size = Math.max(1, Math.min(RESIDUALS.atoms, count));
  const atoms = new Float64Array(size);
  const overall = new Float64Array(size);
  const atomOf = new Uint16Array(count);
  for (let i = 0; i < count; i++) {
    const atom = Math.floor((i * size) / count);
    atomOf[order[i]] = atom;
    overall[atom]++;
    atoms[atom] += residuals[order[i]];
  }
  for (let atom = 0; atom < size; atom++) {
    atoms[atom] /= overall[atom] || 1;
    overall[atom] /= count || 1;
  }
  if (count === 0) {
    overall[0] = 1;
  }
  return { atoms, overall, atomOf };
}

/** Draws the rows of a tree: 63 % of the rows, or of the clusters, so that no row is tested against similar ones. */
function treeSampler({ rows, clusters }: ResidualInput, chosen: Int32Array): (random: Random) => Int32Array {
  const count = chosen.length;
  if (!clusters) {
    return (random) => random.sample(count, Math.max(1, Math.round(count * RESIDUALS.sampled)));
  }
  const clusterOf = Int32Array.from(chosen, (i) => clusters.of[rows[i]]);
  const all = Int32Array.from({ length: count }, (_, row) => row);
  return (random) => {
    const isTaken = new Uint8Array(clusters.count);
    for (const cluster of random.sample(
      clusters.count,
      Math.max(1, Math.round(clusters.count * RESIDUALS.sampled)),
    )) {
      isTaken[cluster] = 1;
    }
    return all.filter((row) => isTaken[clusterOf[row]] === 1);
  };
}

function pickAtoms(atomOf: Uint16Array, chosen: Int32Array): Uint16Array {
  return Uint16Array.from(chosen, (i) => atomOf[i]);
}

function listMembers(leafRows: Int32Array[], atomOf: Uint16Array) {
  const offsets = new Int32Array(leafRows.length + 1);
  leafRows.forEach((rows, leaf) => (offsets[leaf + 1] = offsets[leaf] + rows.length));
  const members = new Uint16Array(offsets[leafRows.length]);
  leafRows.forEach((rows, leaf) => {
    for (let i = 0, to = offsets[leaf]; i < rows.length; i++, to++) {
      members[to] = atomOf[rows[i]];
    }
  });
  return { offsets, members };
}

/** Writes the weights of the atoms for one row. */
export function atomWeights(
  forest: ResidualForest,
  mix: number,
  columns: Uint8Array[],
  row: number,
  out: Float64Array,
): void {
  const used = mix < 1 ? leafWeights(forest, columns, row, out, () => true) : 0;
  mixWithAll(forest, mix, out, used, out);
}

const knownLeafMeans = new WeakMap<ResidualForest, Float64Array>();

/** The mean residual of each leaf. Kept, because each row asks for one of each tree. */
function leafMeans(forest: ResidualForest): Float64Array {
  let means = knownLeafMeans.get(forest);
  if (means === undefined) {
    const { atoms, offsets, members } = forest;
    means = new Float64Array(offsets.length - 1);
    for (let leaf = 0; leaf < means.length; leaf++) {
      // In the order that a file has them in, so that a model which was read from one says the very same.
      const own = members.slice(offsets[leaf], offsets[leaf + 1]).sort();
      means[leaf] = own.reduce((sum, member) => sum + atoms[member] / own.length, 0);
    }
    knownLeafMeans.set(forest, means);
  }
  return means;
}

/**
 * The mean of the distribution around each row, without the weight of each atom.
 *
 * @param rows as many as there are
 * @param inSample per tree and row, 1 where the tree has no say
 */
export function meanResiduals(
  forest: ResidualForest,
  columns: Uint8Array[],
  rows: number,
  inSample?: Uint8Array[],
): Float64Array {
  const { trees, atoms, overall, mix } = forest;
  let ofAll = 0;
  let total = 0;
  for (let i = 0; i < atoms.length; i++) {
    ofAll += overall[i] * atoms[i];
    total += overall[i];
  }
  ofAll /= total;
  const means = leafMeans(forest);
  const out = new Float64Array(rows).fill(ofAll);
  if (mix === 1 || trees.roots.length === 0) {
    return out;
  }
  const finder = new LeafFinder(
    trees,
    columns,
    Int32Array.from({ length: rows }, (_, row) => row),
  );
  const leaves = new Int32Array(rows);
  const sums = new Float64Array(rows);
  const counts = new Int32Array(rows);
  for (let tree = 0; tree < trees.roots.length; tree++) {
    finder.findLeaves(tree, leaves);
    for (let row = 0; row < rows; row++) {
      if (inSample?.[tree][row] !== 1) {
        sums[row] += means[leaves[row]];
        counts[row]++;
      }
    }
  }
  for (let row = 0; row < rows; row++) {
    if (counts[row] > 0) {
      out[row] = (1 - mix) * (sums[row] / counts[row]) + mix * ofAll;
    }
  }
  return out;
}

/** Writes the sum of the weights that the accepted trees give each atom. Returns the number of trees. */
function leafWeights(
  { trees, offsets, members }: ResidualForest,
  columns: Uint8Array[],
  row: number,
  out: Float64Array,
  isAccepted: (tree: number) => boolean,
): number {
  out.fill(0);
  let used = 0;
  for (let tree = 0; tree < trees.roots.length; tree++) {
    if (!isAccepted(tree)) {
      continue;
    }
    used++;
    const leaf = findLeaf(trees, trees.roots[tree], columns, row);
    const start = offsets[leaf];
    const end = offsets[leaf + 1];
    const weight = 1 / (end - start);
    for (let i = start; i < end; i++) {
      out[members[i]] += weight;
    }
  }
  return used;
}

/** Mixes the weights from the leaves of `used` trees with those of all rows. `out` may be `weights`. */
function mixWithAll(
  { overall }: ResidualForest,
  mix: number,
  weights: Float64Array,
  used: number,
  out: Float64Array,
): void {
  const share = used > 0 ? (1 - mix) / used : 0;
  const rest = used > 0 ? mix : 1;
  for (let atom = 0; atom < out.length; atom++) {
    out[atom] = weights[atom] * share + overall[atom] * rest;
  }
}

/** Scores each of `RESIDUALS.mixes` on rows, each by the trees that had not seen it. */
function testForest(
  forest: ResidualForest,
  columns: Uint8Array[],
  residuals: Float64Array,
  tested: Int32Array,
  inSample: Uint8Array[],
): { mix: number; pinball: number; coverage80: number }[] {
  const leaves = new Float64Array(forest.atoms.length);
  const weights = new Float64Array(forest.atoms.length);
  const quantiles = new Float64Array(LEVELS.length);
  const sums = RESIDUALS.mixes.map((mix) => ({ mix, pinball: 0, covered: 0 }));
  for (const row of tested) {
    const used = leafWeights(forest, columns, row, leaves, (tree) => inSample[tree][row] === 0);
    const residual = residuals[row];
    for (const sum of sums) {
      mixWithAll(forest, sum.mix, leaves, used, weights);
      writeQuantiles({ atoms: forest.atoms, weights }, LEVELS, quantiles);
      for (let q = 0; q < LEVELS.length; q++) {
        const above = residual - quantiles[q];
        sum.pinball += above > 0 ? above * LEVELS[q] : above * (LEVELS[q] - 1);
      }
      if (residual >= quantiles[0] && residual <= quantiles[8]) {
        sum.covered++;
      }
    }
  }
  const count = Math.max(1, tested.length);
  return sums.map(({ mix, pinball, covered }) => ({
    mix,
    pinball: pinball / (count * LEVELS.length),
    coverage80: covered / count,
  }));
}
