import type { ErrorCode } from '../../wire/service-error';
import type { Column, FileFormat } from '../cells/types';
import type { ColumnBatch } from '../columns/column-batch';
import type { SampleChoice, TableSample } from '../columns/table-sample';
import type { ProfileOptions } from '../inference/profile';
import type { FileVersion, Spill, Written } from '../storage/table-file';
import type { AsIsBounds, Origin, PathOrigin } from './files';

/** Of rows as JSON: stands between two of them, and nowhere else: inside a cell a line feed is escaped. */
export const ROW_SEPARATOR = ',\n';

/** What is known of a table without reading it. */
export interface OpenedTable {
  names: string[];
  rowCount: number | undefined;
  /** Of a file on disk. */
  version?: FileVersion;
  /** A Parquet file: what its columns are stored as (numbers of Arrow's type enumeration), and its size. */
  parquet?: { stored: number[]; bytes: number };
}

/** What the worker can be asked for. */
export type EncoderTask =
  /** Write batches, given here or sent one by one, to a file. Answers Written. */
  | {
      name: 'encode';
      columns: Column[];
      format: FileFormat;
      compress: boolean;
      spill: Spill;
      batches?: ColumnBatch[];
    }
  /** Answers OpenedTable. */
  | { name: 'open'; origin: Origin }
  | { name: 'profile'; origin: Origin; options: Omit<ProfileOptions, 'signal' | 'onRead'> }
  /** Sends batches, each when it is pulled. */
  | {
      name: 'read';
      origin: Origin;
      columns: Column[];
      options: { missingColumns?: 'error' | 'fill'; maxRows?: number };
    }
  /** Without an origin the batches are sent one by one. Answers WrittenTrainSet; sends the sample before, if one is asked for. */
  | {
      name: 'trainSet';
      columns: Column[];
      origin?: Origin;
      target: string;
      format: FileFormat;
      compress: boolean;
      spills: { x: Spill; y: Spill };
      sample?: SampleChoice;
    }
  /** Writes the columns of these names, or all, as JSON arrays, a row each. Answers {file: Written, rows, names}. */
  | { name: 'jsonRows'; origin: Origin; names: string[] | undefined; spill: Spill }
  /** Answers AsIs, or nothing where the file's columns are not these or it is larger. */
  | { name: 'asIs'; origin: PathOrigin; columns: Column[]; most: AsIsBounds };

/** To the worker. `job` numbers the pieces of work that run side by side. */
export type Request =
  | { job: number; kind: 'start'; task: EncoderTask }
  | { job: number; kind: 'batch'; batch: ColumnBatch }
  | { job: number; kind: 'end' }
  | { job: number; kind: 'pull' }
  | { job: number; kind: 'abort' };

/** From the worker. `written` acknowledges a batch: its rows are in the file, not merely received, `rows` with it. */
export type Answer =
  | { job: number; kind: 'written'; rows: number }
  /** The part of the table that has been looked at, 0 to 1. */
  | { job: number; kind: 'read'; part: number }
  /** `part` of the table has been read with it, where its size is known. */
  | { job: number; kind: 'batch'; batch: ColumnBatch; part?: number }
  | { job: number; kind: 'sample'; sample: TableSample }
  /** `retire`: the thread holds so much memory that it should end when it is idle. */
  | { job: number; kind: 'done'; result: unknown; retire?: boolean }
  | { job: number; kind: 'failed'; error: { code: ErrorCode; message: string }; retire?: boolean };

/** A train set as the worker wrote it. */
export interface WrittenTrainSet {
  x: Written;
  y: Written;
  rows: number;
  /** Cells that were made missing, by column. */
  cleaned: Record<string, number>;
}
