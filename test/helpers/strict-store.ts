/* What the strict service keeps: uploads with their chunks, fitted models, and the predictions it makes up. */
import { randomUUID } from 'node:crypto';

import { crc32cBase64, decodeTable, type Row, type Table } from './strict-tables';

export interface StoredFile {
  format: 'csv' | 'parquet';
  hash: string | null;
  size: number | null;
  /** One per signed URL; undefined until it came. */
  chunks: (Buffer | undefined)[];
  /** One path part per signed URL. */
  keys: string[];
  requiredHeaders: Record<string, string>;
}

export interface Upload {
  id: string;
  set: 'train' | 'test';
  files: StoredFile[];
  fittedId?: string;
}

export interface Model {
  id: string;
  upload: Upload;
  task: 'classification' | 'regression';
  columns: string[];
  rows: number;
  classes: (string | number | boolean)[];
}

export function newFile(info: Record<string, unknown>, chunks: number): StoredFile {
  const name = typeof info.filename === 'string' ? info.filename : '';
  const format = (info.format ?? (name.endsWith('.csv') ? 'csv' : 'parquet')) as 'csv' | 'parquet';
  return {
    format,
    hash: (info.hash ?? info.content_hash ?? null) as string | null,
    size: (info.size_bytes ?? null) as number | null,
    chunks: Array.from({ length: chunks }, () => undefined),
    keys: Array.from({ length: chunks }, () => randomUUID()),
    requiredHeaders: {
      'content-type': format === 'csv' ? 'text/csv' : 'application/octet-stream',
      'x-upload-token': randomUUID(),
    },
  };
}

/** Bytes that a chunk must have: floor(size / N), the last takes the rest. Unknown where the size is. */
export function chunkSize(file: StoredFile, i: number): number | undefined {
  if (file.size === null) {
    return undefined;
  }
  const n = file.chunks.length;
  const size = Math.floor(file.size / n);
  return i === n - 1 ? file.size - size * (n - 1) : size;
}

export function isComplete(upload: Upload): boolean {
  return upload.files.every((file) => file.chunks.every((chunk) => chunk !== undefined));
}

/** What contradicts the announced size and hash of a complete file. */
export function fileFaults(file: StoredFile): string[] {
  const bytes = bytesOf(file);
  const wrong: string[] = [];
  if (file.size !== null && bytes.length !== file.size) {
    wrong.push(`size ${bytes.length}, not ${file.size}`);
  }
  if (file.hash !== null && crc32cBase64(bytes) !== file.hash) {
    wrong.push(`hash ${crc32cBase64(bytes)}, not ${file.hash}`);
  }
  return wrong;
}

export function tableOf(file: StoredFile): Promise<Table> {
  return decodeTable(bytesOf(file), file.format);
}

export function bytesOf(file: StoredFile): Buffer {
  return Buffer.concat(file.chunks.map((chunk) => chunk ?? Buffer.alloc(0)));
}

/** Labels in sorted order: numbers by value, text by code point. */
export function classesOf(target: Row[], column: string): (string | number | boolean)[] {
  const labels = new Set(target.map((row) => row[column]).filter((v) => v !== null && v !== undefined));
  return ([...labels] as (string | number | boolean)[]).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
}

const DEFAULT_LEVELS = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9];

/** The prediction for rows whose values are `v`: see StrictService.predictionFor. */
export function makePrediction(
  values: number[],
  output: string,
  levels: number[] | undefined,
  classes: (string | number | boolean)[],
): unknown {
  const n = Math.max(classes.length, 1);
  switch (output) {
    case 'preds':
      return values.map((v) => classes[((Math.trunc(v) % n) + n) % n]);
    case 'probas':
      return values.map((v) => {
        const first = n === 1 ? 1 : 1 / (Math.abs(v) + 2);
        return Array.from({ length: n }, (_, k) => (k === 0 ? first : (1 - first) / (n - 1)));
      });
    case 'median':
      return values.map((v) => v + 0.25);
    case 'mode':
      return values.map((v) => v + 0.5);
    case 'quantiles':
      return (levels ?? DEFAULT_LEVELS).map((q) => values.map((v) => v + q));
    case 'main':
      return statistics(values, levels ?? DEFAULT_LEVELS);
    case 'full':
      return {
        ...statistics(values, DEFAULT_LEVELS),
        borders: [0, 1, 2],
        logits: values.map((v) => [v, null]),
      };
    default:
      return values;
  }
}

function statistics(values: number[], levels: number[]): Record<string, unknown> {
  return {
    mean: values,
    median: values.map((v) => v + 0.25),
    mode: values.map((v) => v + 0.5),
    quantiles: levels.map((q) => values.map((v) => v + q)),
  };
}
