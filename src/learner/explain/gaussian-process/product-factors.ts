import { distance, type Kernel, matern, positions } from '../../gaussian/kernel';
import { pointsOf } from '../../gaussian/scores';
import type { Background } from '../../model/background';
import type { Compared } from '../shapley/compared';
import { ProductRoom } from './product-room';

/** Factors below count as this, so that a product of all columns of a kernel can be divided by any of its factors. */
const LEAST = 1e-15;

/** Factors of a kernel that is a product over groups, for a row and for the background's rows. */
export interface GroupFactors {
  /** The groups, by their numbers. */
  groups: number[];
  /** Has the factors until those of another row are asked for. */
  room: ProductRoom;
}

/**
 * @param outputs scores
 * @param mixtures of those that are followed along orders at a time
 */
export function groupFactors(
  kernel: Kernel,
  { bins, numbers, background, groupOf }: Compared,
  outputs: number,
  mixtures = 0,
): GroupFactors {
  const row = {
    columns: Array.from(bins, (bin) => Uint8Array.of(bin)),
    numbers: Array.from(numbers, (value) => Float64Array.of(value)),
  };
  const groups = [...new Set(Array.from(kernel.columns, (column) => groupOf[column]))];
  const groupAt = Int32Array.from(kernel.columns, (column) => groups.indexOf(groupOf[column]));
  const room = roomOf(kernel, background, groupAt, { groups: groups.length, outputs, mixtures });
  const each = factorsOf(kernel, positions(kernel, row, Int32Array.of(0)), 1);
  multiplyByGroup(each, groupAt, groups.length, room.own);
  return { groups, room };
}

/** @param factors any number × dimensions */
function multiplyByGroup(
  factors: Float64Array,
  groupAt: Int32Array,
  groups: number,
  out: Float64Array,
): void {
  out.fill(1);
  for (let at = 0, to = 0; at < factors.length; to += groups) {
    for (let d = 0; d < groupAt.length; d++, at++) {
      out[to + groupAt[d]] *= factors[at];
    }
  }
}

/** Of each point the factors of the kernel with each of `count` positions: points × positions × dimensions. */
function factorsOf({ kinds, rates, points }: Kernel, at: Float64Array, count: number): Float64Array {
  const width = rates.length;
  const out = new Float64Array(points.length * count);
  let to = 0;
  for (let point = 0; point < points.length; point += width) {
    for (let i = 0; i < count; i++) {
      for (let d = 0; d < width; d++) {
        const gap = distance(kinds[d], at[i * width + d], points[point + d]);
        out[to++] = Math.max(LEAST, matern(rates[d] * gap));
      }
    }
  }
  return out;
}

const ofBackgrounds = new WeakMap<
  Kernel,
  { background: Background; groupAt: Int32Array; room: ProductRoom }
>();

/** A room with the factors of the background's rows. Kept: they are alike for every row explained. */
function roomOf(
  kernel: Kernel,
  background: Background,
  groupAt: Int32Array,
  { groups, outputs, mixtures }: { groups: number; outputs: number; mixtures: number },
): ProductRoom {
  const known = ofBackgrounds.get(kernel);
  if (
    known?.background === background &&
    known.room.size.outputs === outputs &&
    known.room.size.mixtures >= mixtures &&
    known.groupAt.every((group, d) => group === groupAt[d])
  ) {
    return known.room;
  }
  const table = { columns: background.columns, numbers: background.numbers ?? [] };
  const rows = Int32Array.from({ length: background.rows }, (_, row) => row);
  const each = factorsOf(kernel, positions(kernel, table, rows), background.rows);
  const room = new ProductRoom({
    ...{ groups, outputs, mixtures },
    ...{ points: pointsOf(kernel), rows: background.rows },
  });
  multiplyByGroup(each, groupAt, groups, room.others);
  if (mixtures > 0) {
    findStarts(room);
  }
  ofBackgrounds.set(kernel, { background, groupAt, room });
  return room;
}

/** The kernel at the background's rows, and their factors by group. */
function findStarts({ size: { groups, points, rows }, others, othersByGroup, starts }: ProductRoom): void {
  starts.fill(1);
  for (let point = 0, from = 0; point < points; point++) {
    for (let row = 0; row < rows; row++) {
      for (let g = 0; g < groups; g++, from++) {
        starts[row * points + point] *= others[from];
        othersByGroup[(row * groups + g) * points + point] = others[from];
      }
    }
  }
}
