import type { Column, Row } from '../cells/types';
import type { ColumnBatch } from '../columns/column-batch';
import type { ReadOptions } from '../columns/read-batches';
import type { SliceColumn, TableForm } from '../columns/slices';
import type { TrainSetFiles, TrainSetFilesOptions } from '../encoder/encode-train-set';
import type { PathOrigin } from '../files/origin';
import type { ProfileOptions, TableProfile } from '../inference/profile';

/** A table that can be read more than once, in this thread or in the encoder thread. */
export interface TableSource {
  readonly form: TableForm;
  readonly names: readonly string[];
  /** Number of rows, where it is known without reading the table. */
  readonly rowCount?: number;
  /** The rows themselves, where the table came as objects. */
  readonly objects?: readonly Row[];
  /** Where the table is a Parquet file on disk. */
  readonly parquet?: ParquetOnDisk;
  /** The first pass: the type of every column, over all rows. Errors: as `profileTable`. */
  profile(options: ProfileOptions): Promise<TableProfile>;
  /** The rows as typed columns. Errors: as `readBatches`. */
  batches(columns: readonly Column[], options: ReadOptions): AsyncIterable<ColumnBatch>;
  /** The rows as objects. Errors: as `readRows`. */
  readRows(signal?: AbortSignal): Promise<Row[]>;
  /** The rows in blocks that can be kept for later: fields of text stay fields, all else becomes values. */
  blocks(signal?: AbortSignal): AsyncIterable<Block>;
  /** The features and the target, a file each. Errors: as `encodeTrainSet`. */
  encodeTrainSet(profile: TableProfile, options: TrainSetFilesOptions): Promise<TrainSetFiles>;
}

/** What is known of a Parquet file on disk from its footer. */
export interface ParquetOnDisk {
  origin: PathOrigin;
  /** What its columns are stored as: numbers of Arrow's type enumeration. */
  stored: readonly number[];
  bytes: number;
}

/** Some rows of a table, column by column in the order of `names`. */
export interface Block {
  rows: number;
  names: readonly string[];
  columns: SliceColumn[];
}
