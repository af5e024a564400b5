import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';

import { DuckDBInstance } from '@duckdb/node-api';
import * as arrow from 'apache-arrow';
import { Table, writeParquet } from 'parquet-wasm';

import { type FeatureShape, readFeatures } from '../doors/service';

const BOUNDS = { rows: 1000, cells: 1e6, columns: 100 };
/** Moments with and without milliseconds, before and after 1970; the last is missing. */
const MOMENTS = ['2026-01-31 12:34:56.789', '1969-12-31 23:59:58.001', '1815-06-18 11:35:00', null];
const MS = MOMENTS.map((moment) => (moment === null ? NaN : Date.parse(`${moment.replace(' ', 'T')}Z`)));

/** A file goes to the service as it is, whoever has written it: what it holds must come out the same. */
describe('Service: Parquet files of other writers', function () {
  this.timeout(30_000);
  let folder: string;
  let files = 0;
  let run: (sql: string) => Promise<unknown>;
  let close: () => void;
  before(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'other-writers-'));
    const db = await (await DuckDBInstance.create()).connect();
    run = (sql) => db.run(sql);
    close = () => db.closeSync();
  });
  after(async () => {
    close();
    await rm(folder, { recursive: true, force: true });
  });

  const read = (file: string, wanted?: FeatureShape[]) =>
    readFeatures({ file, format: 'parquet' }, BOUNDS, wanted);
  async function duck(select: string): Promise<string> {
    const file = path.join(folder, `${++files}.parquet`);
    await run(`COPY (${select}) TO '${file}' (FORMAT parquet)`);
    return file;
  }
  async function written(columns: Record<string, arrow.Vector>): Promise<string> {
    const file = path.join(folder, `${++files}.parquet`);
    const ipc = arrow.tableToIPC(new arrow.Table(columns), 'stream');
    await writeFile(file, writeParquet(Table.fromIPCStream(ipc)));
    return file;
  }
  /** The values of each column, text as itself. */
  async function valuesOf(file: string, wanted?: FeatureShape[]): Promise<Record<string, unknown[]>> {
    const { columns } = await read(file, wanted);
    return Object.fromEntries(
      columns.map((column) => [
        column.name,
        column.kind === 'text'
          ? Array.from(column.codes, (code) => (code < 0 ? null : column.dictionary[code]))
          : [...column.values],
      ]),
    );
  }
  const unnest = (type: string, list: (string | null)[]): string =>
    `unnest([${list.map((value) => (value === null ? 'NULL' : `'${value}'::${type}`)).join(', ')}])`;

  it('reads the same moments from every unit, as dates', async () => {
    for (const type of ['TIMESTAMP_MS', 'TIMESTAMP', 'TIMESTAMP_NS', 'TIMESTAMPTZ']) {
      const { columns, shapes } = await read(await duck(`SELECT ${unnest(type, MOMENTS)} AS d`));
      assert.deepEqual([shapes[0]!.type, shapes[0]!.kind], ['date', 'date'], type);
      assert.deepEqual([...(columns[0] as { values: Float64Array }).values], MS, type);
    }
    const whole = MS.map((ms) => Math.floor(ms / 1000) * 1000);
    const days = MS.map((ms) => Math.floor(ms / 86_400_000) * 86_400_000);
    const dates = (list: number[]) => list.map((ms) => (Number.isNaN(ms) ? null : new Date(ms)));
    const numbers = (list: number[]) => list.map((ms) => (Number.isNaN(ms) ? null : ms));
    const kinds: [string, arrow.Vector, number[]][] = [
      ['seconds', arrow.vectorFromArray(numbers(whole), new arrow.TimestampSecond()), whole],
      ['milliseconds', arrow.vectorFromArray(numbers(MS), new arrow.TimestampMillisecond()), MS],
      ['microseconds', arrow.vectorFromArray(numbers(MS), new arrow.TimestampMicrosecond()), MS],
      ['nanoseconds', arrow.vectorFromArray(numbers(whole), new arrow.TimestampNanosecond()), whole],
      ['with a zone', arrow.vectorFromArray(numbers(MS), new arrow.TimestampMillisecond('Asia/Tokyo')), MS],
      ['date32', arrow.vectorFromArray(dates(days), new arrow.DateDay()), days],
      ['date64', arrow.vectorFromArray(dates(days), new arrow.DateMillisecond()), days],
    ];
    for (const [name, vector, expected] of kinds) {
      assert.deepEqual((await valuesOf(await written({ d: vector }))).d, expected, name);
    }
    assert.deepEqual((await valuesOf(await duck(`SELECT ${unnest('DATE', MOMENTS)} AS d`))).d, days);
  });

  it('drops what is finer than a millisecond alike in every unit and in text, before 1970 too', async () => {
    const fine = ['1969-12-31 23:59:59.9995', '1970-01-01 00:00:00.0005', '2026-01-31 12:00:00.123999'];
    const expected = [-1, 0, Date.UTC(2026, 0, 31, 12, 0, 0, 123)];
    for (const type of ['TIMESTAMP', 'TIMESTAMP_NS']) {
      assert.deepEqual((await valuesOf(await duck(`SELECT ${unnest(type, fine)} AS d`))).d, expected, type);
    }
    const wanted: FeatureShape[] = [{ name: 'd', kind: 'date', type: 'date' }];
    assert.deepEqual(
      (await valuesOf(await duck(`SELECT ${unnest('VARCHAR', fine)} AS d`), wanted)).d,
      expected,
    );
  });

  it('takes a moment that no date can hold as missing', async () => {
    const odd = ['infinity', '-infinity', '290000-01-01 00:00:00', '2026-01-01 00:00:00'];
    const { d } = await valuesOf(await duck(`SELECT ${unnest('TIMESTAMP', odd)} AS d`));
    assert.deepEqual(d, [NaN, NaN, NaN, Date.UTC(2026, 0, 1)]);
  });

  it('reads a time without a zone in text as UTC, whatever the zone of the machine', async () => {
    const texts = ['2026-01-31 12:34:56.789', '2026-01-31T12:34', '2026-01-31', '', 'NA', null];
    const file = await duck(`SELECT ${unnest('VARCHAR', texts)} AS d`);
    const script = `require(${JSON.stringify(path.resolve(__dirname, '../../dist/src/service/work/columns'))})
      .readFeatures({ file: ${JSON.stringify(file)}, format: 'parquet' }, ${JSON.stringify(BOUNDS)},
        [{ name: 'd', kind: 'date', type: 'date' }])
      .then(({ columns }) => console.log(JSON.stringify([...columns[0].values])));`;
    for (const TZ of ['America/New_York', 'Asia/Tokyo', 'UTC']) {
      const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], {
        env: { ...process.env, TZ },
      });
      assert.deepEqual(JSON.parse(stdout), [MS[0], 1769862840000, 1769817600000, null, null, null], TZ);
    }
  });

  it('reads numbers of every width, decimals, times and durations', async () => {
    const file = await duck(`SELECT
      unnest([1.25::DECIMAL(4, 2), -0.5, NULL]) AS decimal32,
      unnest([123456789.125::DECIMAL(18, 3), -1, NULL]) AS decimal64,
      unnest([12345678901234567890.5::DECIMAL(38, 4), -1, NULL]) AS decimal128,
      unnest([(-128)::TINYINT, 1, NULL]) AS int8,
      unnest([65535::USMALLINT, 1, NULL]) AS uint16,
      unnest([4294967295::UINTEGER, 1, NULL]) AS uint32,
      unnest([9007199254740993::BIGINT, -5, NULL]) AS int64,
      unnest([18446744073709551615::HUGEINT, -1, NULL]) AS int128,
      unnest([1.5::FLOAT, 'nan', NULL]) AS float32,
      unnest(['inf'::DOUBLE, '-inf', NULL]) AS float64,
      unnest([true, false, NULL]) AS flag,
      unnest(['12:34:56.789'::TIME, '00:00:00.000001', NULL]) AS time`);
    assert.deepEqual(await valuesOf(file), {
      decimal32: [1.25, -0.5, NaN],
      decimal64: [123456789.125, -1, NaN],
      decimal128: [Number('12345678901234567890.5'), -1, NaN],
      int8: [-128, 1, NaN],
      uint16: [65535, 1, NaN],
      uint32: [4294967295, 1, NaN],
      int64: [9007199254740992, -5, NaN],
      int128: [2 ** 64, -1, NaN],
      float32: [1.5, NaN, NaN],
      float64: [Infinity, -Infinity, NaN],
      flag: [1, 0, NaN],
      time: [45_296_789, 0.001, NaN],
    });
    assert.deepEqual(
      await valuesOf(
        await written({
          float16: arrow.vectorFromArray([1.5, null], new arrow.Float16()),
          time: arrow.vectorFromArray([1500, null], new arrow.TimeMillisecond()),
          span: arrow.vectorFromArray([1500n, null], new arrow.DurationMillisecond()),
          code: arrow.vectorFromArray([7, null], new arrow.Dictionary(new arrow.Int32(), new arrow.Int8())),
          nothing: arrow.vectorFromArray([null, null], new arrow.Null()),
        }),
      ),
      { float16: [1.5, NaN], time: [1500, NaN], span: [1500, NaN], code: [7, NaN], nothing: [null, null] },
    );
  });

  it('keeps whole numbers beyond 64 bits apart, as text', async () => {
    const { columns } = await read(
      await duck(`SELECT unnest([18446744073709551615::UBIGINT, 18446744073709551614]) AS n`),
    );
    assert.deepEqual((columns[0] as { dictionary: string[] }).dictionary, [
      '18446744073709551615',
      '18446744073709551614',
    ]);
  });

  it('reads text however it is stored', async () => {
    const texts = ['a', 'é 😀', '', null, 'a'];
    const words = arrow.vectorFromArray(texts, new arrow.Utf8());
    const file = await written({
      utf8: words,
      large: arrow.vectorFromArray(texts, new arrow.LargeUtf8()),
      dictionary: arrow.vectorFromArray(texts, new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32())),
      binary: arrow.vectorFromArray(
        texts.map((text) => (text === null ? null : Buffer.from(text))),
        new arrow.Binary(),
      ),
    });
    const values = await valuesOf(file);
    for (const [name, column] of Object.entries(values)) {
      assert.deepEqual(column, texts, name);
    }
    const duckFile = await duck(`SELECT unnest(['b', 'a', NULL])::ENUM('a', 'b') AS enum,
      unnest(['x'::BLOB, 'y', NULL]) AS blob, unnest(['{"a":1}'::JSON, '2', NULL]) AS json`);
    assert.deepEqual(await valuesOf(duckFile), {
      enum: ['b', 'a', null],
      blob: ['x', 'y', null],
      json: ['{"a":1}', '2', null],
    });
  });

  it('refuses what is no plain value, by column and row', async () => {
    for (const [cell, about] of [
      ['[1, 2]', /"l", row 2/],
      ["{'a': 1}", /"l", row 2/],
      ['MAP {1: 2}', /"l", row 2/],
      ['INTERVAL 1 DAY', /"l", row 2/],
      ["'\\xFF\\xFE'::BLOB", /"l", row 2.*no text/],
    ] as const) {
      const file = await duck(`SELECT i AS n, CASE WHEN i = 1 THEN ${cell} END AS l FROM range(3) t(i)`);
      await assert.rejects(read(file), (error: Error & { status: number }) => {
        assert.equal(error.status, 422, cell);
        assert.match(error.message, about);
        return true;
      });
      const { n } = await valuesOf(file, [{ name: 'n', kind: 'number', type: 'integer' }]);
      assert.deepEqual(n, [0, 1, 2], 'a column that nobody asked for may hold anything');
    }
  });
});
