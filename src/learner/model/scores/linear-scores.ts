import type { EncodedTable } from '../../features/encode';
import { addLinearScores, type LinearTables, valueAlong } from '../../linear/linear';
import { alignedBytes } from '../../wasm/scratch';
import { classScratch } from '../quick-scorer/class-kernel';

/** Below this many rows JavaScript is faster, because the weights have to be copied first. */
const FEW_ROWS = 100;
/** Rows scored together, few enough to stay in the processor's cache. */
const BLOCK = 256;

/** The scores of rows, rows × outputs. Several outputs use SIMD, with the same bits as one by one. */
export function linearScores(tables: LinearTables, table: EncodedTable, rows: Int32Array): Float64Array {
  const width = tables.base.length;
  const out = new Float64Array(rows.length * width);
  if (width < 2 || rows.length < FEW_ROWS || !addTogether(tables, table, rows, out)) {
    for (let i = 0; i < rows.length; i++) {
      addLinearScores(tables, table, rows[i], 1, out, i * width);
    }
  }
  return out;
}

/** @returns false, with nothing added, without SIMD */
function addTogether(
  { base, at, scores, lines }: LinearTables,
  { columns, numbers }: EncodedTable,
  rows: Int32Array,
  out: Float64Array,
): boolean {
  const width = base.length;
  const used = Array.from(at.keys()).filter((column) => at[column] >= 0);
  const along = lines ? Array.from(lines.columns) : [];
  const scratch = classScratch(width).open(
    alignedBytes(scores.byteLength) +
      alignedBytes(used.length * BLOCK * 4) +
      alignedBytes(along.length * width * 8) +
      alignedBytes(along.length * BLOCK * 8) +
      alignedBytes(BLOCK * width * 8),
  );
  const { functions } = scratch;
  if (!functions) {
    return false;
  }
  const cells = scratch.floats(scores.length);
  cells.set(scores);
  const places = scratch.wholes(used.length * BLOCK);
  const weights = scratch.numbers(along.length * width);
  weights.set(lines?.weights ?? []);
  const factors = scratch.numbers(along.length * BLOCK);
  const sums = scratch.numbers(BLOCK * width);
  for (let start = 0; start < rows.length; start += BLOCK) {
    const count = Math.min(BLOCK, rows.length - start);
    for (let i = 0; i < count * width; i++) {
      sums[i] = base[i % width];
    }
    used.forEach((column, place) => {
      const bins = columns[column];
      for (let i = 0; i < count; i++) {
        places[place * count + i] = at[column] + bins[rows[start + i]] * width;
      }
    });
    along.forEach((column, line) => {
      const values = numbers[column]!;
      for (let i = 0; i < count; i++) {
        factors[line * count + i] = valueAlong(lines!, line, values[rows[start + i]]);
      }
    });
    const [cell, factor] = [places.byteOffset, factors.byteOffset];
    functions.addLeaves(
      ...([cell, cell + used.length * count * 4, count * 4] as const),
      ...([cells.byteOffset, sums.byteOffset] as const),
    );
    functions.addTerms(
      ...([factor, factor + along.length * count * 8, count * 8] as const),
      ...([weights.byteOffset, sums.byteOffset] as const),
    );
    out.set(sums.subarray(0, count * width), start * width);
  }
  scratch.close();
  return true;
}
