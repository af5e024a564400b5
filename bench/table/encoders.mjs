import { createReadStream, statSync } from 'node:fs';
import { createRequire } from 'node:module';

import { COLUMNS } from './rows.mjs';

const require = createRequire(import.meta.url);

/** The checksum that the service wants, of a file that a peer wrote. */
async function hashed(file) {
  const { buf } = require('crc-32/crc32c');
  let value = 0;
  for await (const chunk of createReadStream(file, { highWaterMark: 1 << 20 })) {
    value = buf(chunk, value);
  }
  return statSync(file).size;
}

async function ours(options) {
  const { encodeBatches, openTable, profileTable, readBatches } = require('../../dist/src/program-table');
  return async (rows) => {
    const source = await openTable(rows);
    const { columns } = await profileTable(source);
    const file = await encodeBatches(columns, readBatches(source, columns), options);
    await file.dispose();
    return file.bytes;
  };
}

/**
 * By name: a function that loads the encoder and answers (rows, file) → bytes. Ours, plain or compressed, finds
 * the types out by itself; the peers are told them.
 */
export const encoders = {
  ours: () => ours({ compress: true }),
  /** As the embedded service gets it: pages as they are. */
  'ours-plain': () => ours({ compress: false }),

  async 'parquetjs-lite'(warm) {
    const { ParquetSchema, ParquetWriter } = require('parquetjs-lite');
    const types = {
      number: 'DOUBLE',
      integer: 'INT64',
      boolean: 'BOOLEAN',
      date: 'TIMESTAMP_MILLIS',
      text: 'UTF8',
    };
    const fields = COLUMNS.map(({ name, type }) => [
      name,
      { type: types[type], optional: true, compression: 'SNAPPY' },
    ]);
    return async (rows, file = warm) => {
      const writer = await ParquetWriter.openFile(new ParquetSchema(Object.fromEntries(fields)), file);
      for (const row of rows) {
        await writer.appendRow(row);
      }
      await writer.close();
      return hashed(file);
    };
  },

  async 'hyparquet-writer'(warm) {
    const { parquetWrite } = await import('hyparquet-writer');
    const { fileWriter } = await import('hyparquet-writer/src/node.js').catch(() => ({}));
    const types = {
      number: 'DOUBLE',
      integer: 'INT64',
      boolean: 'BOOLEAN',
      date: 'TIMESTAMP',
      text: 'STRING',
    };
    return async (rows, file = warm) => {
      const columnData = COLUMNS.map(({ name, type }) => ({
        name,
        type: types[type],
        nullable: true,
        data: rows.map((row) => (type === 'integer' ? BigInt(row[name]) : row[name])),
      }));
      await parquetWrite({ writer: fileWriter(file), columnData, rowGroupSize: 20_000 });
      return hashed(file);
    };
  },

  async 'nodejs-polars'(warm) {
    const pl = require('nodejs-polars');
    const types = {
      number: pl.Float64,
      integer: pl.Int64,
      boolean: pl.Bool,
      date: pl.Datetime('ms'),
      text: pl.Utf8,
    };
    return async (rows, file = warm) => {
      const series = COLUMNS.map(({ name, type }) =>
        pl.Series(
          name,
          rows.map((row) => row[name]),
          types[type],
        ),
      );
      pl.DataFrame(series).writeParquet(file, { compression: 'zstd' });
      return hashed(file);
    };
  },

  async duckdb(warm) {
    const { DuckDBInstance, DuckDBTimestampMillisecondsValue } = await import('@duckdb/node-api');
    const instance = await DuckDBInstance.create(':memory:');
    const db = await instance.connect();
    const types = {
      number: 'DOUBLE',
      integer: 'BIGINT',
      boolean: 'BOOLEAN',
      date: 'TIMESTAMP_MS',
      text: 'VARCHAR',
    };
    const append = {
      number: (appender, value) => appender.appendDouble(value),
      integer: (appender, value) => appender.appendBigInt(BigInt(value)),
      boolean: (appender, value) => appender.appendBoolean(value),
      date: (appender, value) =>
        appender.appendTimestampMilliseconds(new DuckDBTimestampMillisecondsValue(BigInt(+value))),
      text: (appender, value) => appender.appendVarchar(value),
    };
    const columns = COLUMNS.map(({ name, type }) => ({ name, append: append[type] }));
    return async (rows, file = warm) => {
      await db.run(
        `CREATE OR REPLACE TABLE t (${COLUMNS.map(({ name, type }) => `"${name}" ${types[type]}`).join(', ')})`,
      );
      const appender = await db.createAppender('t');
      for (const row of rows) {
        for (const { name, append } of columns) {
          const value = row[name];
          if (value === null || value === undefined) {
            appender.appendNull();
          } else {
            append(appender, value);
          }
        }
        appender.endRow();
      }
      appender.closeSync();
      await db.run(`COPY t TO '${file}' (FORMAT parquet, COMPRESSION zstd)`);
      return hashed(file);
    };
  },
};
