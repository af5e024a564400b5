import {
  binCenters,
  type ColumnSpec,
  columnSpecs,
  encodeColumn,
  type EncodedTable,
  type Encoder,
  measuredValues,
  numbersOf,
} from '../../features/encode';
import type { FeatureColumn } from '../../types';

/** A train set as trees and linear models see it. */
export interface Encoded extends EncodedTable {
  encoders: Encoder[];
  specs: ColumnSpec[];
  /** Per encoder, the index of its first column. */
  firstColumn: number[];
  /** Columns × bins: the mean value of each bin; undefined for categories. */
  centers: (Float64Array | undefined)[];
}

/** Encodes all columns; bins are in shared memory. */
export function encodeAll(encoders: Encoder[], features: FeatureColumn[]): Encoded {
  const specs = columnSpecs(encoders);
  const table: Encoded = { encoders, specs, columns: [], numbers: [], centers: [], firstColumn: [] };
  for (const encoder of encoders) {
    const feature = features[encoder.source];
    const values = measuredValues(encoder, feature);
    const bins = encodeColumn(encoder, feature, values, sharedBytes);
    table.firstColumn.push(table.columns.length);
    table.columns.push(...bins);
    const numbers = numbersOf(encoder, values);
    table.numbers.push(...bins.map(() => numbers));
    table.centers.push(...binCenters(encoder, feature, values, bins));
  }
  return table;
}

function sharedBytes(length: number): Uint8Array {
  return new Uint8Array(new SharedArrayBuffer(length));
}
