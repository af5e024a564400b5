import { distance, type Kernel, matern, positions } from '../../gaussian/kernel';
import { pointsOf } from '../../gaussian/scores';
import type { Background } from '../../model/background';
import type { ForegroundRow } from '../shapley/foreground';
import { ProductBuffers } from './product-buffers';

/** Lower bound of a factor, so that the kernel can be divided by any of its factors. */
const MIN_FACTOR = 1e-15;

/**
 * A kernel that is a product over columns, as a product over groups: its factors for the foreground row and the
 * background.
 */
export interface GroupFactors {
  /** Indices of the groups. */
  groups: number[];
  /** Hold the factors until the next row asks for its own. */
  buffers: ProductBuffers;
}

/**
 * @param outputs scores
 * @param mixtures most mixtures along the permutations of a member; 0 for none
 */
export function groupFactors(
  kernel: Kernel,
  { bins, numbers, background, groupOf }: ForegroundRow,
  outputs: number,
  mixtures = 0,
): GroupFactors {
  const row = {
    columns: Array.from(bins, (bin) => Uint8Array.of(bin)),
    numbers: Array.from(numbers, (value) => Float64Array.of(value)),
  };
  const groups = [...new Set(Array.from(kernel.columns, (column) => groupOf[column]))];
  const groupAt = Int32Array.from(kernel.columns, (column) => groups.indexOf(groupOf[column]));
  const buffers = buffersFor(kernel, background, groupAt, { groups: groups.length, outputs, mixtures });
  const each = factorsOf(kernel, positions(kernel, row, Int32Array.of(0)), 1);
  multiplyByGroup(each, groupAt, groups.length, buffers.own);
  return { groups, buffers };
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

/** The kernel's factors between each point and each of `count` positions: points × positions × dimensions. */
function factorsOf({ kinds, rates, points }: Kernel, at: Float64Array, count: number): Float64Array {
  const width = rates.length;
  const out = new Float64Array(points.length * count);
  let to = 0;
  for (let point = 0; point < points.length; point += width) {
    for (let i = 0; i < count; i++) {
      for (let d = 0; d < width; d++) {
        const gap = distance(kinds[d], at[i * width + d], points[point + d]);
        out[to++] = Math.max(MIN_FACTOR, matern(rates[d] * gap));
      }
    }
  }
  return out;
}

const ofBackgrounds = new WeakMap<
  Kernel,
  { background: Background; groupAt: Int32Array; buffers: ProductBuffers }
>();

/** Buffers with the background's factors. Cached, since they are the same for every row explained. */
function buffersFor(
  kernel: Kernel,
  background: Background,
  groupAt: Int32Array,
  { groups, outputs, mixtures }: { groups: number; outputs: number; mixtures: number },
): ProductBuffers {
  const known = ofBackgrounds.get(kernel);
  if (
    known?.background === background &&
    known.buffers.size.outputs === outputs &&
    known.buffers.size.mixtures >= mixtures &&
    known.groupAt.every((group, d) => group === groupAt[d])
  ) {
    return known.buffers;
  }
  const table = { columns: background.columns, numbers: background.numbers ?? [] };
  const rows = Int32Array.from({ length: background.rows }, (_, row) => row);
  const each = factorsOf(kernel, positions(kernel, table, rows), background.rows);
  const buffers = new ProductBuffers({
    ...{ groups, outputs, mixtures },
    ...{ points: pointsOf(kernel), rows: background.rows },
  });
  multiplyByGroup(each, groupAt, groups, buffers.others);
  if (mixtures > 0) {
    findStarts(buffers);
  }
  ofBackgrounds.set(kernel, { background, groupAt, buffers });
  return buffers;
}

/** The kernel at the background rows, and their factors by group. */
function findStarts({ size: { groups, points, rows }, others, othersByGroup, starts }: ProductBuffers): void {
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
