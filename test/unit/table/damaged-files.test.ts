import assert from 'node:assert/strict';

import * as arrow from 'apache-arrow';

import { closeEncoder, encodeBatches, openTable, profileTable, readBatches } from '../../../dist/src/table';
import { bytesOf } from './helpers';

const rows = Array.from({ length: 300 }, (_, row) => ({
  whole: row,
  part: row / 3,
  text: `t${row % 7}`,
  flag: row % 2 === 0,
  date: new Date(1e12 + row * 1e6),
  some: row % 5 === 0 ? 'x' : null,
}));

/** The code that reading the bytes ends in, or `ok`. */
async function outcomeOf(bytes: Uint8Array): Promise<string> {
  try {
    const source = await openTable(bytes);
    const { columns } = await profileTable(source);
    for await (const batch of readBatches(source, columns)) {
      assert.equal(batch.columns.length, columns.length);
    }
    return 'ok';
  } catch (error) {
    return (error as { code?: string }).code ?? String(error);
  }
}

/** Turns some bytes of a file, or cuts it, by a seed. */
function damaged(good: Uint8Array, seed: number): Buffer {
  const bytes = Buffer.from(good);
  let state = seed * 7919 + 1;
  const next = (below: number): number => (state = (state * 48_271) % 2_147_483_647) % below;
  for (let turns = 1 + next(4); turns > 0; turns--) {
    // The metadata is where a wrong byte does most.
    const at = next(2) === 0 ? bytes.length - 1 - next(Math.min(bytes.length, 900)) : next(bytes.length);
    bytes[at] = [next(256), 255, 0][next(3)]!;
  }
  return seed % 10 === 9 ? bytes.subarray(0, next(bytes.length)) : bytes;
}

describe('Damaged files', function () {
  this.timeout(120_000);
  const table = arrow.tableFromArrays({
    part: Float64Array.from(rows, ({ part }) => part),
    text: rows.map(({ text }) => text),
    flag: rows.map(({ flag }) => flag),
    date: rows.map(({ date }) => date),
  });

  after(() => closeEncoder());

  async function parquet(): Promise<Uint8Array> {
    const source = await openTable(rows);
    const { columns } = await profileTable(source);
    return bytesOf(await encodeBatches(columns, readBatches(source, columns)));
  }

  const files: [string, number, () => Promise<Uint8Array> | Uint8Array][] = [
    ['Parquet', 30, parquet],
    ['Arrow, the stream kind', 150, () => arrow.tableToIPC(table, 'stream')],
    ['Arrow, the file kind', 150, () => arrow.tableToIPC(table, 'file')],
  ];
  for (const [name, count, make] of files) {
    it(`${name}: end in a code of the table that is not internal`, async () => {
      const good = await make();
      assert.equal(await outcomeOf(good), 'ok');
      const known = new Set<string>(['ok', 'table.invalid', 'table.empty', 'limit.exceeded']);
      for (let seed = 0; seed < count; seed++) {
        const outcome = await outcomeOf(damaged(good, seed));
        assert.ok(known.has(outcome), `seed ${seed}: ${outcome}`);
      }
    });
  }

  it('Arrow metadata that tells of more than its bytes is refused at once', async () => {
    const good = Buffer.from(arrow.tableToIPC(table, 'stream'));
    const started = performance.now();
    let refused = 0;
    for (let at = 8; at < 1000; at += 4) {
      const length = good.readInt32LE(at);
      if (length > 0 && length < 64) {
        const bytes = Buffer.from(good);
        bytes.writeInt32LE(0x07_00_00_01, at);
        refused += (await outcomeOf(bytes)) === 'table.invalid' ? 1 : 0;
      }
    }
    assert.ok(refused > 10, `${refused}`);
    assert.ok(performance.now() - started < 30_000);
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
      assert.equal(await outcomeOf(broken as never), 'table.invalid', name);
    }
  });
});
