import { argsort, indices } from '../math/order';
import type { Random } from '../math/random';
import type { FeatureColumn, TargetColumn } from '../types';

/** How the user wants rows to be held out; by default, at random. */
export interface HoldOut {
  /** Most blocks of consecutive rows. Parts are made of whole blocks. */
  blocks: number | undefined;
  /** A fold does not learn from rows within this many rows of one that it holds out. */
  embargo: number;
  /** The index of the column whose equal values stay in one part. */
  group: number | undefined;
  groupIsFeature: boolean;
  /** Whether folds hold out whole groups, or blocks of rows that groups may span; rows `random` whatever their order. */
  folds: 'groups' | 'blocks' | 'random';
}

/** Rows that must stay together: per row its cluster (a block or a group), 0 … count - 1. */
export interface Clusters {
  kind: 'blocks' | 'groups';
  of: Int32Array;
  count: number;
  embargo: number;
  /** Which wishes could not be met. */
  reasons: string[];
}

/** Rounds: consecutive rows in which no group appears twice, such as the readings of all machines in one hour. */
interface Rounds {
  count: number;
  /** Per row, 1 if a border before it would cut a round. */
  within: Uint8Array;
}

/** Most of a fold's rows that an embargo may cost. */
const MAX_EMBARGOED = 0.25;

/** Equal values of a column form a group; each missing value is a group of its own. */
export function findGroups(column: FeatureColumn): Clusters {
  const values: ArrayLike<number> = column.kind === 'text' ? column.codes : column.values;
  const numbers = new Map<number, number>();
  const of = new Int32Array(values.length);
  let count = 0;
  for (let row = 0; row < values.length; row++) {
    const value = values[row];
    const isMissing = Number.isNaN(value) || (column.kind === 'text' && value < 0);
    const known = isMissing ? undefined : numbers.get(value);
    of[row] = known ?? count++;
    if (!isMissing && known === undefined) {
      numbers.set(value, of[row]);
    }
  }
  return { kind: 'groups', of, count, embargo: 0, reasons: [] };
}

/** The rounds of groups whose rows are in order of time. */
export function findRounds({ of, count: groups }: Pick<Clusters, 'of' | 'count'>): Rounds {
  const within = new Uint8Array(of.length);
  const roundOf = new Int32Array(groups).fill(-1);
  let round = 0;
  for (let row = 0; row < of.length; row++) {
    const isNext = roundOf[of[row]] === round;
    round += isNext ? 1 : 0;
    within[row] = isNext || row === 0 ? 0 : 1;
    roundOf[of[row]] = round;
  }
  return { count: round + 1, within };
}

/**
 * Cuts consecutive rows into blocks of about equal length, a multiple of `parts` of them. There are fewer blocks than
 * wanted, and finally a shorter embargo, if a fold would otherwise lose more than a quarter of its rows. A border
 * that would cut a round, or an event (a run of rows of a rarer class), moves to its nearer end.
 */
export function cutBlocks(
  target: TargetColumn,
  wish: HoldOut,
  wanted: number,
  parts: number,
  rounds?: Rounds,
): Clusters {
  const rows = target.task === 'classification' ? target.codes.length : target.values.length;
  const reasons: string[] = [];
  const learned = rows * (1 - 1 / parts);
  const affordable = wish.embargo > 0 ? (MAX_EMBARGOED * learned * parts) / (2 * wish.embargo) : rows;
  const whole = (blocks: number) => parts * Math.max(1, Math.floor(blocks / parts));
  const nearest = parts * Math.max(1, Math.round(wanted / parts));
  const count = whole(Math.min(nearest, affordable, rounds?.count ?? rows));
  let { embargo } = wish;
  const longest = Math.floor((MAX_EMBARGOED * learned * parts) / (2 * count));
  if (embargo > longest) {
    reasons.push(
      `The embargo is ${longest} rows instead of ${embargo}: with ${embargo}, too few would be left to learn from.`,
    );
    embargo = longest;
  }
  const within = withinEvents(target, embargo);
  rounds?.within.forEach((cut, row) => (within[row] |= cut));
  const starts = blockStarts(rows, count, within);
  const of = new Int32Array(rows);
  for (let row = 0, block = 0; row < rows; row++) {
    while (block + 1 < starts.length && row >= starts[block + 1]) {
      block++;
    }
    of[row] = block;
  }
  return { kind: 'blocks', of, count, embargo, reasons };
}

/** The first row of each block, ascending. */
function blockStarts(rows: number, count: number, within: Uint8Array): Int32Array {
  const reach = Math.floor((rows / count - 1) / 2);
  return Int32Array.from({ length: count }, (_, block) => {
    const start = Math.floor((block * rows) / count);
    for (let distance = 0; block > 0 && distance <= reach; distance++) {
      if (within[start - distance] === 0) {
        return start - distance;
      }
      if (within[start + distance] === 0) {
        return start + distance;
      }
    }
    return start;
  });
}

/**
 * Per row, 1 if a border before it would cut an event. Rows of any class but the most frequent belong to one event if
 * at most `gap` rows separate them, because several machines may report in turn.
 */
function withinEvents(target: TargetColumn, gap: number): Uint8Array {
  if (target.task === 'regression') {
    return new Uint8Array(target.values.length);
  }
  const { codes, classes } = target;
  const within = new Uint8Array(codes.length);
  const counts = new Int32Array(classes.length);
  for (const code of codes) {
    counts[code]++;
  }
  const common = counts.indexOf(Math.max(...counts));
  const last = new Int32Array(classes.length).fill(-1);
  for (let row = 0; row < codes.length; row++) {
    const code = codes[row];
    if (code !== common && last[code] >= 0 && row - last[code] <= gap + 1) {
      within.fill(1, last[code] + 1, row + 1);
    }
    last[code] = row;
  }
  return within;
}

/** The part of each row, 0 … parts - 1, in shared memory. All rows of a cluster are in the same part. */
export function assignParts(
  target: TargetColumn,
  clusters: Clusters | undefined,
  parts: number,
  random: Random,
): Uint8Array {
  const rows = target.task === 'classification' ? target.codes.length : target.values.length;
  const part = new Uint8Array(new SharedArrayBuffer(rows));
  if (!clusters) {
    assignRows(target, part, parts, random);
    return part;
  }
  // For regression, blocks go to the parts in rounds: each part has its share of every period.
  const inTurn = clusters.kind === 'blocks' && target.task === 'regression';
  const partOf = inTurn
    ? Uint8Array.from({ length: clusters.count }, (_, block) => block % parts)
    : assignWhole(target, clusters, parts, random);
  for (let row = 0; row < rows; row++) {
    part[row] = partOf[clusters.of[row]];
  }
  return part;
}

/** Assigns rows to parts at random, stratified by class or by rank of the target. */
function assignRows(target: TargetColumn, part: Uint8Array, parts: number, random: Random): void {
  const rows = part.length;
  const order = random.shuffle(indices(rows));
  if (target.task === 'classification') {
    const place = new Int32Array(target.classes.length + 1);
    for (const code of target.codes) {
      place[code + 1]++;
    }
    for (let k = 1; k < place.length; k++) {
      place[k] += place[k - 1];
    }
    for (const row of order) {
      part[row] = place[target.codes[row]]++ % parts;
    }
    return;
  }
  const ranked = argsort(Float64Array.from(order, (row) => target.values[row]));
  const shares = new Int32Array(parts);
  for (let start = 0; start < rows; start += parts) {
    for (let p = 0; p < parts; p++) {
      shares[p] = p;
    }
    random.shuffle(shares);
    for (let i = start; i < Math.min(rows, start + parts); i++) {
      part[order[ranked[i]]] = shares[i - start];
    }
  }
}

/** Per row, 1 if a row of `part` is at most `embargo` rows before or after it. */
export function embargoed(part: Uint8Array, heldOut: number, embargo: number): Uint8Array {
  const near = new Uint8Array(part.length);
  let last = -Infinity;
  for (let row = 0; row < part.length; row++) {
    last = part[row] === heldOut ? row : last;
    near[row] = row - last <= embargo ? 1 : 0;
  }
  let next = Infinity;
  for (let row = part.length - 1; row >= 0; row--) {
    next = part[row] === heldOut ? row : next;
    near[row] |= next - row <= embargo ? 1 : 0;
  }
  return near;
}

/** Ranges of a numeric target that count as classes when clusters are assigned. */
const RANGES = 5;

/**
 * The part of each cluster. Clusters are assigned one by one, those with the largest share of any class first, to the
 * part that has least of their classes so far (after K. Sechidis et al., On the stratification of multi-label data,
 * 2011). With at least as many clusters as parts, no part stays empty.
 */
function assignWhole(
  target: TargetColumn,
  { of, count }: { of: Int32Array; count: number },
  parts: number,
  random: Random,
): Uint8Array {
  const { classOf, classes } = asClasses(target);
  const shares = findShares(classOf, classes, of, count);
  const width = classes + 1;
  const filled = new Float64Array(parts * width);
  const order = random.shuffle(indices(count));
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
function findShares(classOf: Int32Array, classes: number, of: Int32Array, count: number): Float64Array {
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
