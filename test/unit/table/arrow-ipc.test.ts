import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';

import * as arrow from 'apache-arrow';

import { profileTable, readBatches, readRows } from '../../../dist/src/program-table';
import { cellAt, closeEncoder, type Column, openTable, openTableFile } from '../../../dist/src/table';
import { collect, rejectsWith, withFolder } from './helpers';

const BATCH = 50;
const table = arrow.tableFromArrays({
  part: Float64Array.from({ length: 3 * BATCH }, (_, row) => row / 3),
  text: Array.from({ length: 3 * BATCH }, (_, row) => `t${row % 7}`),
});
const batches = [0, 1, 2].flatMap((batch) => table.slice(batch * BATCH, (batch + 1) * BATCH).batches);

/** Three record batches and a dictionary. */
const fileBytes = (): Buffer => Buffer.from(arrow.RecordBatchFileWriter.writeAll(batches).toUint8Array(true));
const streamBytes = (): Buffer =>
  Buffer.from(arrow.RecordBatchStreamWriter.writeAll(batches).toUint8Array(true));

/** A message of the stream kind. */
interface Place {
  at: number;
  end: number;
}

/** Where the dictionary and the three record batches lie; this writer gives a file no schema but that of its footer. */
function messagesIn(bytes: Buffer, start: number): Place[] {
  const places: Place[] = [];
  for (let at = start; ;) {
    const length = bytes.readInt32LE(at + 4);
    if (length === 0) {
      return places;
    }
    const message = arrow.Message.decode(bytes.subarray(at + 8, at + 8 + length));
    const end = at + 8 + length + message.bodyLength;
    if (message.headerType !== arrow.MessageHeader.Schema) {
      places.push({ at, end });
    }
    at = end;
  }
}

/** Where the footer begins. */
const footerOf = (bytes: Buffer): number => bytes.length - 10 - bytes.readInt32LE(bytes.length - 10);

/** Where the footer keeps the block of a message: its offset in 8 bytes, two lengths behind it. */
function blockOf(bytes: Buffer, { at }: Place): number {
  const offset = Buffer.alloc(8);
  offset.writeBigInt64LE(BigInt(at));
  const found = bytes.indexOf(offset, footerOf(bytes));
  assert.ok(found > 0);
  return found;
}

/** A file in which the block of its second record batch says something else. */
function withBlock(change: (bytes: Buffer, block: number, places: Place[]) => void): Buffer {
  const bytes = fileBytes();
  const places = messagesIn(bytes, 8);
  change(bytes, blockOf(bytes, places[2]!), places);
  return bytes;
}

const writeOffset = (bytes: Buffer, block: number, offset: number): unknown =>
  bytes.writeBigInt64LE(BigInt(offset), block);

/** As a Buffer in a message, and as a file on disk. */
async function eachWay(bytes: Buffer, check: (open: () => Promise<unknown>) => Promise<void>): Promise<void> {
  const read = async (source: Awaited<ReturnType<typeof openTable>>): Promise<unknown> => {
    const { rows, warnings } = await profileTable(source);
    return { rows, last: (await readRows(source)).at(-1), warnings };
  };
  await check(async () => read(await openTable(bytes)));
  await withFolder(async (folder) => {
    const file = path.join(folder, 'table.arrow');
    await writeFile(file, bytes);
    await check(async () => read(await openTableFile(file)));
  });
}

interface Builder {
  startVector(itemBytes: number, length: number, alignment: number): void;
  addOffset(offset: number): void;
  endVector(): number;
  startObject(fields: number): void;
  addFieldInt8(field: number, value: number, standard: number): void;
  addFieldInt16(field: number, value: number, standard: number): void;
  addFieldOffset(field: number, value: number, standard: number): void;
  endObject(): number;
  finish(root: number): void;
  asUint8Array(): Uint8Array;
}

/** A stream of a schema alone, written by hand. */
function schemaAlone(make: (builder: Builder) => { fields: number[]; endianness?: number }): Buffer {
  const { Builder } = createRequire(require.resolve('apache-arrow'))('flatbuffers') as {
    Builder: new () => Builder;
  };
  const builder = new Builder();
  const { fields, endianness = 0 } = make(builder);
  const list = vectorOf(builder, fields);
  builder.startObject(4);
  builder.addFieldInt16(0, endianness, 0);
  builder.addFieldOffset(1, list, 0);
  const schema = builder.endObject();
  builder.startObject(5);
  builder.addFieldInt16(0, 4, 0);
  builder.addFieldInt8(1, 1, 0);
  builder.addFieldOffset(2, schema, 0);
  builder.finish(builder.endObject());
  const message = builder.asUint8Array();
  const padded = Buffer.concat([message, Buffer.alloc(-message.length & 7)]);
  const head = Buffer.from([255, 255, 255, 255, 0, 0, 0, 0]);
  head.writeInt32LE(padded.length, 4);
  return Buffer.concat([head, padded, Buffer.from([255, 255, 255, 255, 0, 0, 0, 0])]);
}

function vectorOf(builder: Builder, offsets: readonly number[]): number {
  builder.startVector(4, offsets.length, 4);
  for (const offset of [...offsets].reverse()) {
    builder.addOffset(offset);
  }
  return builder.endVector();
}

/** A column without a name: a struct of these, or a null. */
function fieldOf(builder: Builder, children?: number): number {
  builder.startObject(0);
  const type = builder.endObject();
  const [NULL, STRUCT] = [1, 13];
  builder.startObject(7);
  builder.addFieldInt8(2, children === undefined ? NULL : STRUCT, 0);
  builder.addFieldOffset(3, type, 0);
  builder.addFieldOffset(5, children ?? 0, 0);
  return builder.endObject();
}

describe('Arrow in its IPC format', () => {
  after(() => closeEncoder());

  it('gives all rows of a file and of a stream', async () => {
    for (const bytes of [fileBytes(), streamBytes()]) {
      await eachWay(bytes, async (open) => {
        const all = { rows: 3 * BATCH, last: { part: (3 * BATCH - 1) / 3, text: 't2' }, warnings: [] };
        assert.deepEqual(await open(), all);
      });
    }
  });

  const blocks: [string, RegExp, Buffer][] = [
    [
      'at the footer',
      /record batch 2 of 3 is at bytes \d+ to \d+, where it cannot be/,
      withBlock((bytes, block) => writeOffset(bytes, block, footerOf(bytes))),
    ],
    [
      'at another record batch',
      /record batch [23] of 3 begins at byte \d+, inside of another/,
      withBlock((bytes, block, places) => writeOffset(bytes, block, places[3]!.at)),
    ],
    [
      'into another one',
      /inside of another/,
      withBlock((bytes, block, places) => writeOffset(bytes, block, places[2]!.at + 8)),
    ],
    [
      'at the dictionary',
      /record batch 2 of 3 is at|inside of another|is not at byte/,
      withBlock((bytes, block, places) => writeOffset(bytes, block, places[0]!.at)),
    ],
    ['before the file', /where it cannot be/, withBlock((bytes, block) => writeOffset(bytes, block, -64))],
    [
      'behind the file',
      /where it cannot be/,
      withBlock((bytes, block) => writeOffset(bytes, block, 2 ** 52)),
    ],
    [
      'at no multiple of 8',
      /where it cannot be/,
      withBlock((bytes, block, places) => writeOffset(bytes, block, places[2]!.at + 4)),
    ],
    ['at nothing', /where it cannot be/, withBlock((bytes, block) => bytes.fill(0, block, block + 24))],
    [
      'at less of it',
      /the lengths of record batch 2 of 3 are not those/,
      withBlock((bytes, block) => bytes.writeBigInt64LE(8n, block + 16)),
    ],
    [
      'at more metadata than there is',
      /where it cannot be/,
      withBlock((bytes, block) => bytes.writeInt32LE(2 ** 31 - 8, block + 8)),
    ],
  ];
  for (const [name, message, bytes] of blocks) {
    it(`refuses a file whose footer points ${name}`, () =>
      eachWay(bytes, (open) => rejectsWith(open(), 'table.invalid', message)));
  }

  it('says which record batch of a file is missing where its bytes are zeros', () => {
    const bytes = fileBytes();
    const { at, end } = messagesIn(bytes, 8)[2]!;
    return eachWay(bytes.fill(0, at, end), (open) =>
      rejectsWith(open(), 'table.invalid', /record batch 2 of 3 is not at byte/),
    );
  });

  it('and where the record batches of a stream end too early', () => {
    const bytes = streamBytes();
    const { at, end } = messagesIn(bytes, 0)[2]!;
    return eachWay(bytes.fill(0, at, end), (open) =>
      rejectsWith(open(), 'table.invalid', /ends behind record batch 1 at byte \d+, but \d+ bytes follow/),
    );
  });

  it('refuses a file with a record batch that its footer does not tell of', () => {
    const bytes = fileBytes();
    // The number of blocks stands before the first of them.
    const count = blockOf(bytes, messagesIn(bytes, 8)[1]!) - 4;
    assert.equal(bytes.readInt32LE(count), 3);
    bytes.writeInt32LE(2, count);
    return eachWay(bytes, (open) =>
      rejectsWith(open(), 'table.invalid', /the footer does not tell of the record batch at byte/),
    );
  });

  it('refuses any record batch that has other rows than its columns', async () => {
    const rows = Buffer.alloc(8);
    rows.writeBigInt64LE(BigInt(BATCH));
    for (const [bytes, start] of [
      [fileBytes(), 8],
      [streamBytes(), 0],
    ] as const) {
      for (const { at, end } of messagesIn(bytes, start).slice(1)) {
        for (let place = bytes.indexOf(rows, at); place > 0 && place < end;) {
          const wrong = Buffer.from(bytes);
          wrong.writeBigInt64LE(20n, place);
          await eachWay(wrong, (open) =>
            rejectsWith(open(), 'table.invalid', /record batch \d.* has \d+ rows, but \d+ in column "/),
          );
          place = bytes.indexOf(rows, place + 8);
        }
      }
    }
  });

  it('decimals with a damaged scale are refused, not computed for minutes', async () => {
    for (const scale of [-406_049_331, 2_000_000_000]) {
      const type = new arrow.Decimal(scale, 38, 128);
      const data = arrow.makeData({ type, length: 1, nullCount: 0, data: Uint32Array.of(1, 0, 0, 0) });
      const table = new arrow.Table({ a: new arrow.Vector([data]) });
      for (const given of [table, Buffer.from(arrow.tableToIPC(table, 'file'))]) {
        const read = async (): Promise<unknown> => profileTable(await openTable(given));
        await rejectsWith(
          read(),
          'table.invalid',
          /column "a" has decimals with -?\d+ digits behind the point/,
        );
      }
    }
  });

  it('a stream that is cut off in a message is refused; one without its end mark is told of', async () => {
    const bytes = streamBytes();
    const [, , second, third] = messagesIn(bytes, 0);
    for (const end of [second!.end + 3, second!.end + 6, second!.end + 40, third!.end - 8]) {
      await eachWay(bytes.subarray(0, end), (open) =>
        rejectsWith(open(), 'table.invalid', /message behind record batch 2 (is cut off|has)/),
      );
    }
    await eachWay(bytes.subarray(0, third!.end), async (open) => {
      const { rows, warnings } = (await open()) as { rows: number; warnings: string[] };
      assert.equal(rows, 3 * BATCH);
      assert.match(warnings.join(), /has no end mark\. Its 150 rows are all of it, unless/);
    });
    await eachWay(bytes.subarray(0, messagesIn(bytes, 0)[0]!.at), (open) =>
      rejectsWith(open(), 'table.empty', /without rows and without its end mark: it was cut off/),
    );
  });

  it('what follows the end mark may be zeros, but no second table', async () => {
    const bytes = streamBytes();
    await eachWay(Buffer.concat([bytes, Buffer.alloc(200)]), async (open) =>
      assert.equal(((await open()) as { rows: number }).rows, 3 * BATCH),
    );
    await eachWay(Buffer.concat([bytes, bytes]), (open) =>
      rejectsWith(open(), 'table.invalid', /ends behind record batch 3 at byte \d+, but \d+ bytes follow/),
    );
  });

  it('a file that is cut off says so', () =>
    eachWay(fileBytes().subarray(0, -20), (open) =>
      rejectsWith(open(), 'table.invalid', /the end of the file is missing/),
    ));

  it('a few hundred bytes that tell of billions of columns end at once', () => {
    const bytes = schemaAlone((builder) => {
      let field = fieldOf(builder);
      for (let level = 0; level < 40; level++) {
        field = fieldOf(builder, vectorOf(builder, [field, field]));
      }
      return { fields: [field] };
    });
    assert.ok(bytes.length < 4000, `${bytes.length}`);
    return eachWay(bytes, (open) =>
      rejectsWith(open(), 'table.invalid', /tells of more than its bytes hold/),
    );
  });

  it('big-endian numbers are refused instead of read the other way round', () =>
    eachWay(
      schemaAlone((builder) => ({ fields: [fieldOf(builder)], endianness: 1 })),
      (open) => rejectsWith(open(), 'table.invalid', /big-endian/),
    ));
});

describe('Times of day in Arrow', () => {
  it('are seconds for a model of text such as 9:05, and milliseconds for one of Arrow', async () => {
    const seconds = [0, 33_900, 86_399];
    const text = `start,n\n0:00:00,1\n9:25:00,2\n23:59:59,3\n`;
    const learned = await profileTable(await openTable(text));
    for (const [type, perSecond] of [
      [new arrow.TimeSecond(), 1],
      [new arrow.TimeMillisecond(), 1000],
      [new arrow.TimeMicrosecond(), 1_000_000],
    ] as const) {
      const cells = seconds.map((second) =>
        perSecond > 1000 ? BigInt(second * perSecond) : second * perSecond,
      );
      const start = arrow.vectorFromArray(cells, type as arrow.TimeMillisecond);
      const times = new arrow.Table({ start, n: arrow.vectorFromArray([1, 2, 3], new arrow.Int32()) });
      for (const given of [times, arrow.tableToIPC(times, 'file')]) {
        const source = await openTable(given);
        const { columns } = await profileTable(source);
        assert.deepEqual([columns[0]!.type, columns[0]!.unit], ['number', undefined]);
        const cellsOf = async (as: Column[]): Promise<number[]> => {
          const [batch] = await collect(readBatches(source, as));
          return [0, 1, 2].map((row) => cellAt(batch!.columns[0]!, row) as number);
        };
        assert.deepEqual(await cellsOf(learned.columns), seconds);
        assert.deepEqual(
          await cellsOf(columns),
          seconds.map((second) => second * 1000),
        );
      }
    }
  });
});
