import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';

import * as arrow from 'apache-arrow';
import fc from 'fast-check';
import { ParquetSchema, ParquetWriter } from 'parquetjs-lite';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { closeEncoder, openTable, openTableFile } from '../../../dist/src/table';
import { parquet } from '../../doors/table';
import { cpuWatch } from '../../helpers/clock';
import { fullCount } from '../../helpers/full-count';
import { equalRows } from '../../helpers/parquet-bombs';
import { withFolder } from './helpers';

const ROWS = 150;
const BATCH = 50;
const rows = Array.from({ length: ROWS }, (_, row) => ({
  whole: row,
  part: row / 3,
  text: `t${row % 7}`,
  flag: row % 2 === 0,
  date: new Date(1e12 + row * 1e6),
  some: row % 5 === 0 ? 'x' : null,
}));

/** What reading a table ends in: its rows, or a code. */
interface Outcome {
  code?: string;
  message?: string;
  rows?: number;
  warnings?: readonly string[];
}

async function outcomeOf(file: Uint8Array | string): Promise<Outcome> {
  try {
    const source = await (typeof file === 'string' ? openTableFile(file) : openTable(file));
    const { columns, warnings } = await profileTable(source);
    let count = 0;
    for await (const batch of readBatches(source, columns)) {
      assert.equal(batch.columns.length, columns.length);
      count += batch.rows;
    }
    return { rows: count, warnings };
  } catch (error) {
    const { code = 'none', message } = error as { code?: string; message: string };
    return { code, message };
  }
}

const ARROW = arrow.tableFromArrays({
  part: Float64Array.from(rows, ({ part }) => part),
  text: rows.map(({ text }) => text),
  flag: rows.map(({ flag }) => flag),
  date: rows.map(({ date }) => date),
});
const arrowBatches = [0, 1, 2].flatMap((batch) => ARROW.slice(batch * BATCH, (batch + 1) * BATCH).batches);
const arrowFile = (): Buffer =>
  Buffer.from(arrow.RecordBatchFileWriter.writeAll(arrowBatches).toUint8Array(true));
const arrowStream = (): Buffer =>
  Buffer.from(arrow.RecordBatchStreamWriter.writeAll(arrowBatches).toUint8Array(true));

function parquetFile(): Buffer {
  const { Table, writeParquet, WriterPropertiesBuilder } = parquet();
  const properties = new WriterPropertiesBuilder().setMaxRowGroupSize(BATCH).build();
  return Buffer.from(writeParquet(Table.fromIPCStream(arrow.tableToIPC(ARROW, 'stream')), properties));
}

/** One whose page index cannot be read, so that it is read as a whole. */
async function parquetOfParquetjs(folder: string): Promise<Buffer> {
  const file = path.join(folder, 'parquetjs');
  const schema = new ParquetSchema({
    part: { type: 'DOUBLE' },
    text: { type: 'UTF8', compression: 'GZIP' },
    flag: { type: 'BOOLEAN', optional: true },
  });
  const writer = await ParquetWriter.openFile(schema, file, { rowGroupSize: BATCH });
  for (const { part, text, flag } of rows) {
    await writer.appendRow({ part, text, flag });
  }
  await writer.close();
  return readFile(file);
}

/** A footer with another number of rows: Thrift keeps a number as twice itself, seven bits in a byte. */
function told(bytes: Buffer, from: number, to: number): Buffer {
  const number = (rows: number): number[] => [((2 * rows) % 128) | 128, Math.floor((2 * rows) / 128)];
  const at = bytes.lastIndexOf(Buffer.from(number(from)));
  bytes.set(number(to), at);
  return bytes;
}

/** What no longer begins as a table of its kind is read as text, or refused as neither. */
const isTable = (bytes: Buffer): boolean => /^(PAR1|ARROW1|\xff{4})/.test(bytes.toString('latin1', 0, 8));

/** One change of a file, by numbers from 0 to 1. */
type Damage = (bytes: Buffer, at: number, size: number, value: number) => Buffer;

/** The metadata is where a wrong byte does most: it stands at the end, or among the first bytes. */
const placeOf = (bytes: Buffer, at: number): number =>
  Math.floor(
    at < 0.5 ? bytes.length - 1 - at * 2 * Math.min(bytes.length - 1, 900) : (at - 0.5) * 2 * bytes.length,
  );

const DAMAGES: Record<string, Damage> = {
  byte: (bytes, at, _, value) => {
    bytes[placeOf(bytes, at)] = Math.floor(value * 256);
    return bytes;
  },
  bit: (bytes, at, _, value) => {
    bytes[placeOf(bytes, at)]! ^= 1 << Math.floor(value * 8);
    return bytes;
  },
  zeros: (bytes, at, size) => {
    const start = placeOf(bytes, at);
    return bytes.fill(0, start, Math.min(bytes.length, start + Math.ceil(size * 600)));
  },
  cut: (bytes, at) => bytes.subarray(0, placeOf(bytes, at)),
  'left out': (bytes, at, size) => {
    const start = placeOf(bytes, at) & ~7;
    return Buffer.concat([bytes.subarray(0, start), bytes.subarray(start + 8 * Math.ceil(size * 100))]);
  },
  'written twice': (bytes, at, size) => {
    const start = placeOf(bytes, at) & ~7;
    return Buffer.concat([bytes.subarray(0, start + 8 * Math.ceil(size * 100)), bytes.subarray(start)]);
  },
  'change of place': (bytes, at, size, value) => {
    const length = 8 * Math.ceil(size * 60);
    const [from, to] = [placeOf(bytes, at) & ~7, Math.floor(value * bytes.length) & ~7];
    const held = Buffer.from(bytes.subarray(from, from + length));
    bytes.copy(bytes, from, to, to + length);
    held.copy(bytes, to);
    return bytes;
  },
  'place of a message': (bytes, at, _, value) => {
    const place = Math.min(bytes.length - 8, placeOf(bytes, at / 2)) & ~7;
    bytes.writeBigInt64LE(BigInt(Math.floor(value * bytes.length) & ~7), Math.max(0, place));
    return bytes;
  },
  number: (bytes, at, size, value) => {
    const place = Math.min(placeOf(bytes, at) & ~3, bytes.length - 4);
    bytes.writeInt32LE(Math.floor((value - 0.5) * (size < 0.7 ? 400 : 2 ** 32 - 1)), place);
    return bytes;
  },
};

/** As likely anywhere in a file: not by preference at its ends, nor near zero as doubles are. */
const part = fc.noBias(fc.nat(999_999)).map((whole) => whole / 1_000_000);
const damage = fc.tuple(fc.constantFrom(...Object.keys(DAMAGES)), part, part, part);
const RUNS = Number(process.env['DAMAGED_FILES'] ?? fullCount(120, 50));

describe('Damaged files', function () {
  this.timeout(Math.max(120_000, RUNS * 500));

  after(() => closeEncoder());

  const files: [string, boolean, (folder: string) => Promise<Buffer> | Buffer][] = [
    ['Parquet', false, parquetFile],
    ['Parquet without a page index', false, parquetOfParquetjs],
    ['Arrow, the stream kind', false, arrowStream],
    ['Arrow, the file kind', false, arrowFile],
    ['Arrow on disk, the stream kind', true, arrowStream],
    ['Arrow on disk, the file kind', true, arrowFile],
  ];
  for (const [name, onDisk, make] of files) {
    it(`${name}: give all rows, or end in an error that is not internal`, () =>
      withFolder(async (folder) => {
        const file = path.join(folder, 'table');
        const read = async (bytes: Buffer): Promise<Outcome> => {
          if (!onDisk) {
            return outcomeOf(bytes);
          }
          await writeFile(file, bytes);
          return outcomeOf(file);
        };
        const good = await make(folder);
        assert.deepEqual(await read(good), { rows: ROWS, warnings: [] });
        const known = new Set(['table.invalid', 'table.empty', 'limit.exceeded']);
        await fc.assert(
          fc.asyncProperty(fc.array(damage, { minLength: 1, maxLength: 2 }), async (damages) => {
            const bytes = damages.reduce<Buffer>(
              (whole, [kind, at, size, value]) =>
                whole.length < 8 ? whole : DAMAGES[kind]!(whole, at, size, value),
              Buffer.from(good),
            );
            const { rows: count, code, message, warnings } = await read(bytes);
            if (count === undefined) {
              assert.ok(known.has(code!), `${code}: ${message}`);
            } else if (!warnings!.some((warning) => warning.includes('end mark')) && isTable(bytes)) {
              assert.equal(count, ROWS);
            }
          }),
          {
            seed: 20,
            numRuns: RUNS,
            ...(process.env['DAMAGED_FILES'] !== undefined && { seed: Date.now() }),
          },
        );
      }));
  }

  it('a Parquet footer that tells of other rows than there are is refused', () =>
    withFolder(async (folder) => {
      const wrong: [string, RegExp, Buffer][] = [
        ['fewer in all', /its footer says 100 rows, its row groups have 150/, told(parquetFile(), 150, 100)],
        [
          'fewer in all',
          /its footer says 100 rows, but 150/,
          told(await parquetOfParquetjs(folder), 150, 100),
        ],
        [
          'more in all',
          /its footer says 155 rows, but 150/,
          told(await parquetOfParquetjs(folder), 150, 155),
        ],
        ['more in its row group', /damaged|cannot be read/, equalRows(100, { rows: 110 })],
      ];
      for (const [name, message, bytes] of wrong) {
        const outcome = await outcomeOf(bytes);
        assert.equal(outcome.code, 'table.invalid', `${name}: ${outcome.message ?? outcome.rows}`);
        assert.match(outcome.message!, message, name);
      }
    }));

  it('Arrow metadata that tells of more than its bytes is refused at once', async () => {
    const good = Buffer.from(arrow.tableToIPC(ARROW, 'stream'));
    const spent = cpuWatch();
    let refused = 0;
    for (let at = 8; at < 1000; at += 4) {
      const length = good.readInt32LE(at);
      if (length > 0 && length < 64) {
        const bytes = Buffer.from(good);
        bytes.writeInt32LE(0x07_00_00_01, at);
        refused += (await outcomeOf(bytes)).code === 'table.invalid' ? 1 : 0;
      }
    }
    assert.ok(refused > 10, `${refused}`);
    assert.ok(spent() < 30_000);
  });

  it('Arrow buffers that are shorter than their rows, or out of order, are no missing values', async () => {
    const wrong = (type: arrow.DataType, parts: object): arrow.Table => {
      const field = new arrow.Field('a', type, true);
      const data = arrow.makeData({ type, length: 4, nullCount: 0, ...parts } as never);
      const whole = arrow.makeData({
        type: new arrow.Struct([field]),
        length: 4,
        nullCount: 0,
        children: [data] as never,
      });
      return new arrow.Table([new arrow.RecordBatch(new arrow.Schema([field]), whole)]);
    };
    const text = Buffer.from('abcdef');
    const tables: [string, arrow.Table][] = [
      ['numbers', wrong(new arrow.Float64(), { data: Float64Array.of(1, 2) })],
      ['big numbers', wrong(new arrow.Int64(), { data: BigInt64Array.of(1n) })],
      ['flags', wrong(new arrow.Bool(), { data: new Uint8Array(0) })],
      ['dates', wrong(new arrow.TimestampMillisecond(), { data: BigInt64Array.of(1n) })],
      ['few texts', wrong(new arrow.Utf8(), { data: text, valueOffsets: Int32Array.of(0, 1, 2) })],
      [
        'texts out of order',
        wrong(new arrow.Utf8(), { data: text, valueOffsets: Int32Array.of(0, 4, 2, 5, 6) }),
      ],
      [
        'texts beyond their bytes',
        wrong(new arrow.Utf8(), { data: text, valueOffsets: Int32Array.of(0, 1, 2, 3, 900) }),
      ],
    ];
    for (const [name, broken] of tables) {
      assert.equal((await outcomeOf(broken as never)).code, 'table.invalid', name);
    }
  });
});
