import assert from 'node:assert/strict';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { DuckDBConnection } from '@duckdb/node-api';

import type { TableFile } from '../../../dist/src/table';

/** All bytes of a table file. */
export async function bytesOf(file: TableFile): Promise<Buffer> {
  return Buffer.concat(await file.open().toArray());
}

export interface Decoded {
  names: string[];
  rows: unknown[][];
}

/** Reads Parquet by hyparquet, which shares no code with what wrote it. */
export async function readByHyparquet(bytes: Uint8Array): Promise<Decoded> {
  const { parquetMetadata, parquetRead } = await import('hyparquet');
  const { compressors } = await import('hyparquet-compressors');
  const file = new Uint8Array(bytes).buffer;
  const metadata = parquetMetadata(file);
  const names = metadata.schema.slice(1).map((column) => column.name);
  let rows: unknown[][] = [];
  if (metadata.num_rows > 0n) {
    await parquetRead({
      file,
      compressors,
      rowFormat: 'array',
      onComplete: (read) => (rows = read as unknown[][]),
    });
  }
  return { names, rows: rows.map((row) => row.map((cell) => cell ?? null)) };
}

let duckdb: Promise<DuckDBConnection> | undefined;

/** A database that all files read with: to start one takes longer than to read a small file. */
async function openDuckdb(): Promise<DuckDBConnection> {
  const { DuckDBInstance } = await import('@duckdb/node-api');
  const connection = await (await DuckDBInstance.create()).connect();
  // A file may be written again under its name.
  await connection.run('SET enable_external_file_cache = false');
  return connection;
}

/** Reads a Parquet file by DuckDB; whole numbers come as bigint, times as Date. */
export async function readByDuckdb(file: string): Promise<Decoded> {
  const { DuckDBTimestampTZValue } = await import('@duckdb/node-api');
  const connection = await (duckdb ??= openDuckdb());
  // Bound, as a path may hold a quote.
  const result = await connection.runAndReadAll('SELECT * FROM read_parquet($1)', [file]);
  const { names } = await parquetNames(file, connection);
  const rows = result
    .getRows()
    .map((row) =>
      row.map((cell) =>
        cell instanceof DuckDBTimestampTZValue ? new Date(Number(cell.micros / 1000n)) : cell,
      ),
    );
  return { names, rows };
}

/** The names in the file: those of a result are changed where they differ in case only. */
async function parquetNames(file: string, connection: DuckDBConnection): Promise<{ names: string[] }> {
  const schema = await connection.runAndReadAll('SELECT name FROM parquet_schema($1)', [file]);
  return {
    names: schema
      .getRows()
      .slice(1)
      .map(([name]) => String(name)),
  };
}

/** Runs with a folder of its own, removed afterwards. */
export async function withFolder<T>(work: (folder: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(path.join(tmpdir(), 'table-test-'));
  try {
    return await work(folder);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** The temporary files that this process has at the moment. */
export async function tempFiles(): Promise<string[]> {
  const own = (await readdir(tmpdir())).filter((name) =>
    name.startsWith(`tabular-prediction-${process.pid}-`),
  );
  const lists = await Promise.all(own.map((name) => readdir(path.join(tmpdir(), name))));
  return lists.flat();
}

export async function rejectsWith(work: Promise<unknown>, code: string, message: RegExp): Promise<void> {
  await assert.rejects(work, (error: { code?: string; message: string }) => {
    assert.equal(error.code, code, error.message);
    assert.match(error.message, message);
    return true;
  });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) {
    list.push(item);
  }
  return list;
}
