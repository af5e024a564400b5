import type { Field } from 'apache-arrow';

import { arrow } from '../arrow/heavy-modules';
import type { BlobLike } from '../storage/blob';
import {
  FILE_METADATA,
  KEY_VALUE,
  listHead,
  PHYSICAL_TYPE,
  SCHEMA_ELEMENT,
  THRIFT,
  ThriftReader,
  thriftStruct,
} from './thrift';

/*
 * Times of 96 bits, as Spark, Hive and Impala write them, hold any day, but the decoder makes nanoseconds of 64 bits of
 * them, which hold the years 1678 to 2262: an open end such as 9999-12-31 comes out as another date. Where the footer has
 * a schema of Arrow, the decoder makes what that says. So such a file is given to it with a footer that asks for
 * milliseconds.
 */

/** At the end of a file: the length of the footer in 4 bytes, and the magic word. */
const TAIL_BYTES = 8;
const KEY = 'ARROW:schema';

/**
 * The same file with a footer that has times of 96 bits decoded to milliseconds; undefined where it has none of these, or
 * tells itself what they are.
 *
 * @param fields its columns, as the decoder tells them
 */
export async function withWholeTimes(
  blob: BlobLike,
  fields: readonly Field[],
): Promise<BlobLike | undefined> {
  const { DataType, Field, Schema, Table, tableToIPC, TimeUnit, Timestamp } = arrow();
  const isLong = ({ type }: Field): boolean =>
    DataType.isTimestamp(type) && type.unit === TimeUnit.NANOSECOND;
  if (!fields.some(isLong)) {
    return undefined;
  }
  const end = blob.size - TAIL_BYTES;
  const tail = Buffer.from(await blob.slice(end).arrayBuffer());
  const start = end - tail.readUInt32LE(0);
  const footer = Buffer.from(await blob.slice(start, end).arrayBuffer());
  const names = int96Columns(footer);
  if (names.size === 0 || footer.includes(KEY)) {
    return undefined;
  }
  const wanted = fields.map((field) =>
    isLong(field) && names.has(field.name)
      ? new Field(field.name, new Timestamp(TimeUnit.MILLISECOND, null), field.nullable)
      : field,
  );
  const ipc = tableToIPC(new Table(new Schema(wanted)), 'stream');
  const asked = withPair(footer, KEY, Buffer.from(ipc).toString('base64'));
  const length = Buffer.alloc(4);
  length.writeUInt32LE(asked.length);
  return new JoinedBlob(blob.slice(0, start), Buffer.concat([asked, length, tail.subarray(4)]));
}

/** Names of the columns of 96 bits. */
function int96Columns(footer: Buffer): Set<string> {
  const names = new Set<string>();
  const schema = [...new ThriftReader(footer).fields()].find(({ id }) => id === FILE_METADATA.schema);
  if (schema === undefined) {
    return names;
  }
  const reader = new ThriftReader(footer, schema.at);
  for (let left = reader.list(); left > 0; left--) {
    const fields = [...reader.fields()];
    const readValue = (field: number): ThriftReader | undefined => {
      const found = fields.find(({ id }) => id === field);
      return found === undefined ? undefined : new ThriftReader(footer, found.at);
    };
    if (readValue(SCHEMA_ELEMENT.type)?.zigzag() === PHYSICAL_TYPE.int96) {
      names.add(readValue(SCHEMA_ELEMENT.name)?.text() ?? '');
    }
  }
  return names;
}

/** A footer with one more pair of a key and a value. */
function withPair(footer: Buffer, key: string, value: string): Buffer {
  const pair = thriftStruct([
    [KEY_VALUE.key, THRIFT.binary, key],
    [KEY_VALUE.value, THRIFT.binary, value],
  ]);
  const fields = [...new ThriftReader(footer).fields()];
  const pairs = fields.find(({ id }) => id === FILE_METADATA.keyValues);
  if (pairs !== undefined) {
    const reader = new ThriftReader(footer, pairs.at);
    const count = reader.list();
    return Buffer.concat([
      footer.subarray(0, pairs.at),
      Buffer.from(listHead(THRIFT.struct, count + 1)),
      pair,
      footer.subarray(reader.at),
    ]);
  }
  const before = fields.findLast(({ id }) => id < FILE_METADATA.keyValues);
  const next = fields.find(({ id }) => id > FILE_METADATA.keyValues);
  const at = before?.end ?? 0;
  const rest = Buffer.from(footer.subarray(at));
  // A head tells how far a field is from the one before it, unless it tells its number.
  if (next !== undefined && rest[0]! >> 4 !== 0) {
    rest[0] = ((next.id - FILE_METADATA.keyValues) << 4) | next.type;
  }
  const head = Buffer.from([((FILE_METADATA.keyValues - (before?.id ?? 0)) << 4) | THRIFT.list]);
  return Buffer.concat([footer.subarray(0, at), head, Buffer.from(listHead(THRIFT.struct, 1)), pair, rest]);
}

/** Bytes behind those of another Blob. */
class JoinedBlob implements BlobLike {
  readonly size: number;

  constructor(
    private readonly front: BlobLike,
    private readonly back: Buffer,
  ) {
    this.size = front.size + back.length;
  }

  slice(start = 0, end = this.size): BlobLike {
    const { size } = this.front;
    return new JoinedBlob(
      this.front.slice(Math.min(start, size), Math.min(end, size)),
      this.back.subarray(Math.max(0, start - size), Math.max(0, end - size)),
    );
  }

  async arrayBuffer(): Promise<ArrayBuffer> {
    if (this.back.length === 0) {
      return this.front.arrayBuffer();
    }
    const bytes = new Uint8Array(this.size);
    bytes.set(new Uint8Array(await this.front.arrayBuffer()));
    bytes.set(this.back, this.front.size);
    return bytes.buffer;
  }
}
