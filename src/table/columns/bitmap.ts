import { type ColumnData, MISSING_BOOLEAN } from './column-batch';

/** Whether the cell of a row is missing; undefined where the column cannot say, so that none is. */
export function missingTest(column: ColumnData): ((row: number) => boolean) | undefined {
  switch (column.type) {
    case 'text':
    case 'bigint': {
      const { missing } = column;
      return missing === undefined ? undefined : (row) => missing[row] === 1;
    }
    case 'boolean':
      return (row) => column.values[row] === MISSING_BOOLEAN;
    default:
      return (row) => Number.isNaN(column.values[row]);
  }
}

/** A bit per row, the first in the lowest bit of the first byte, as Arrow and Parquet have it. */
export function bits(length: number, isSet: (row: number) => boolean): Uint8Array {
  const result = new Uint8Array((length + 7) >> 3);
  for (let i = 0; i < length; i++) {
    if (isSet(i)) {
      result[i >> 3]! |= 1 << (i & 7);
    }
  }
  return result;
}

/** Doubles as 64-bit whole numbers, by their halves: a BigInt for each would be ten times slower. */
export function wholeNumbers(values: Float64Array): BigInt64Array {
  const result = new BigInt64Array(values.length);
  const halves = new Int32Array(result.buffer);
  for (let i = 0; i < values.length; i++) {
    const value = Math.floor(values[i]!);
    if (!Number.isNaN(value)) {
      const high = Math.floor(value / 2 ** 32);
      halves[i * 2] = value - high * 2 ** 32;
      halves[i * 2 + 1] = high;
    }
  }
  return result;
}
