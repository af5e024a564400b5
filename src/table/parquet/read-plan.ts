import type { ParquetMetaData } from 'parquet-wasm';

/** A row group as it is read: some columns at a time, where all of them would take too much memory. */
export interface GroupPlan {
  rows: number;
  /** Names of columns, by band. Undefined: all columns at once, without a choice. */
  bands: (string[] | undefined)[];
  /** Rows of a record batch. */
  batchRows: number;
}

/**
 * Bytes that may be read at once, compressed and decoded together: the reader holds all compressed bytes of the
 * columns that it reads, and a page of each decoded; some writers put a whole column into one page. A row group up to
 * the first number is read as it is, a larger one in bands of the second.
 */
const WHOLE_BYTES = 48 * 1024 * 1024;
const BAND_BYTES = 24 * 1024 * 1024;

/** Rows and bytes that are decoded at a time. */
const READ_ROWS = 16_384;
const READ_BYTES = 8 * 1024 * 1024;

interface ColumnSize {
  name: string;
  held: number;
  decoded: number;
}

/** Plans the reading of a row group: of these columns, or all. */
export function planGroup(
  metadata: ParquetMetaData,
  group: number,
  names: readonly string[],
  wanted: readonly string[] | undefined,
): GroupPlan {
  const { rows, sizes } = sizesOf(metadata, group, wanted);
  const decoded = Math.max(
    1,
    sizes.reduce((sum, size) => sum + size.decoded, 0),
  );
  const batchRows = Math.max(1, Math.min(READ_ROWS, Math.floor((READ_BYTES * rows) / decoded)));
  const held = sizes.reduce((sum, size) => sum + size.held, 0);
  if (held <= WHOLE_BYTES || !canChoose(names)) {
    return { rows, bands: [canChoose(names) ? wanted?.slice() : undefined], batchRows };
  }
  return { rows, bands: packed(sizes), batchRows };
}

function sizesOf(
  metadata: ParquetMetaData,
  group: number,
  wanted: readonly string[] | undefined,
): { rows: number; sizes: ColumnSize[] } {
  const info = metadata.rowGroup(group);
  const chosen = wanted === undefined ? undefined : new Set(wanted);
  const sizes = new Map<string, ColumnSize>();
  try {
    for (let index = 0; index < info.numColumns(); index++) {
      const column = info.column(index);
      const name = column.columnPath()[0]!;
      if (chosen === undefined || chosen.has(name)) {
        const size = sizes.get(name) ?? { name, held: 0, decoded: 0 };
        size.decoded += column.uncompressedSize();
        size.held += column.compressedSize() + column.uncompressedSize();
        sizes.set(name, size);
      }
      column.free();
    }
    return { rows: info.numRows(), sizes: [...sizes.values()] };
  } finally {
    info.free();
  }
}

/** Neighbouring columns together, as many as there is room for; a column that is too large alone. */
function packed(sizes: readonly ColumnSize[]): string[][] {
  const bands: string[][] = [];
  let room = 0;
  for (const { name, held } of sizes) {
    if (held > room) {
      bands.push([]);
      room = BAND_BYTES;
    }
    bands.at(-1)!.push(name);
    room -= held;
  }
  return bands;
}

const known = new WeakMap<readonly string[], boolean>();

/**
 * False where asking parquet-wasm for some columns would trap: it counts a name's bytes as characters where the name
 * begins another one.
 */
function canChoose(names: readonly string[]): boolean {
  let safe = known.get(names);
  if (safe === undefined) {
    const sorted = [...names].sort();
    safe = !sorted.some(
      (name, index) => /[^\0-\x7f]/.test(name) && sorted[index + 1]?.startsWith(name) === true,
    );
    known.set(names, safe);
  }
  return safe;
}
