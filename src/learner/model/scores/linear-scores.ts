import type { EncodedTable } from '../../features/encode';
import { alignedBytes, closing, openScratch, type Scratch } from '../../kernels/scratch';
import { addLinearScores, type LinearTables, valueAlong } from '../../linear/linear';

/** Below this many rows adding them one by one is faster, because the weights have to be copied first. */
const FEW_ROWS = 100;
/** Rows scored together, few enough to stay in the processor's cache. */
const BLOCK = 256;

/** The scores of rows, rows × outputs. */
export function linearScores(tables: LinearTables, table: EncodedTable, rows: Int32Array): Float64Array {
  const width = tables.base.length;
  const out = new Float64Array(rows.length * width);
  if (width > 1 && rows.length >= FEW_ROWS) {
    closing(openScratch(bytesFor(tables, width)), (scratch) =>
      addTogether(tables, table, rows, scratch, out),
    );
    return out;
  }
  for (let i = 0; i < rows.length; i++) {
    addLinearScores(tables, table, rows[i], 1, out, i * width);
  }
  return out;
}

/** With room for each column that is used, and for each number. */
function bytesFor({ at, scores, lines }: LinearTables, width: number): number {
  const used = at.reduce((count, own) => count + (own >= 0 ? 1 : 0), 0);
  const along = lines?.columns.length ?? 0;
  return (
    alignedBytes(scores.byteLength) +
    alignedBytes(used * BLOCK * 4) +
    alignedBytes(along * width * 8) +
    alignedBytes(along * BLOCK * 8) +
    alignedBytes(BLOCK * width * 8)
  );
}

/** Of several outputs, to the same bits as row by row. */
function addTogether(
  { base, at, scores, lines }: LinearTables,
  { columns, numbers }: EncodedTable,
  rows: Int32Array,
  scratch: Scratch,
  out: Float64Array,
): void {
  const width = base.length;
  const used = Array.from(at.keys()).filter((column) => at[column] >= 0);
  const along = lines ? Array.from(lines.columns) : [];
  const { kernels } = scratch;
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
    kernels.addLeaves(
      ...([cell, cell + used.length * count * 4, count * 4] as const),
      ...([cells.byteOffset, sums.byteOffset, width] as const),
    );
    kernels.addTerms(
      ...([factor, factor + along.length * count * 8, count * 8] as const),
      ...([weights.byteOffset, sums.byteOffset, width] as const),
    );
    out.set(sums.subarray(0, count * width), start * width);
  }
}
