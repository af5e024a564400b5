/**
 * The numbers of Parquet's format, by the names that they have in parquet.thrift (apache/parquet-format): fields of
 * its Thrift structs first, then the values of its enumerations. Only what is written or read by ourselves.
 */
export const FILE_METADATA = {
  version: 1,
  schema: 2,
  numRows: 3,
  rowGroups: 4,
  keyValues: 5,
  createdBy: 6,
  columnOrders: 7,
};

export const SCHEMA_ELEMENT = {
  type: 1,
  repetitionType: 3,
  name: 4,
  numChildren: 5,
  convertedType: 6,
  logicalType: 10,
};

/** Unions: the field that is there says which one it is. */
export const LOGICAL_TYPE = { string: 1, timestamp: 8 };
export const TIMESTAMP_TYPE = { isAdjustedToUtc: 1, unit: 2 };
export const TIME_UNIT = { millis: 1 };

export const ROW_GROUP = { columns: 1, totalByteSize: 2, numRows: 3 };

export const COLUMN_CHUNK = { fileOffset: 2, metaData: 3 };

export const COLUMN_METADATA = {
  type: 1,
  encodings: 2,
  pathInSchema: 3,
  codec: 4,
  numValues: 5,
  totalUncompressedSize: 6,
  totalCompressedSize: 7,
  dataPageOffset: 9,
  dictionaryPageOffset: 11,
  statistics: 12,
};

export const STATISTICS = { nullCount: 3, maxValue: 5, minValue: 6 };

/** A union: bounds are by the order of the column's type. */
export const COLUMN_ORDER = { typeOrder: 1 };

export const PAGE_HEADER = {
  type: 1,
  uncompressedPageSize: 2,
  compressedPageSize: 3,
  dataPageHeader: 5,
  dictionaryPageHeader: 7,
};

export const DATA_PAGE_HEADER = {
  numValues: 1,
  encoding: 2,
  definitionLevelEncoding: 3,
  repetitionLevelEncoding: 4,
};

export const DICTIONARY_PAGE_HEADER = { numValues: 1, encoding: 2 };

export const PAGE_TYPE = { dataPage: 0, dictionaryPage: 2 };
export const KEY_VALUE = { key: 1, value: 2 };

export const PHYSICAL_TYPE = { boolean: 0, int64: 2, int96: 3, double: 5, byteArray: 6 };
export const CONVERTED_TYPE = { utf8: 0, timestampMillis: 9 };
export const REPETITION = { optional: 1 };
/** `plainDictionary` is the name of format 1 for numbers into a dictionary: every reader knows it. */
export const ENCODING = { plain: 0, rle: 3, plainDictionary: 2 };
export const CODEC = { uncompressed: 0, gzip: 2 };

/**
 * Types of Thrift's compact protocol, in which Parquet keeps its headers. A field of a boolean has its value for a type.
 */
export const THRIFT = {
  true: 1,
  false: 2,
  byte: 3,
  i32: 5,
  i64: 6,
  double: 7,
  binary: 8,
  list: 9,
  set: 10,
  struct: 12,
} as const;

/** A whole number in groups of seven bits, the lowest first. Arithmetic instead of shifts, which end at 32 bits. */
export function varint(value: number): number[] {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 128; rest = Math.floor(rest / 128)) {
    bytes.push((rest % 128) | 128);
  }
  bytes.push(rest);
  return bytes;
}

/** What stands in front of the items of a list. */
export function listHead(type: number, length: number): number[] {
  return length < 15 ? [(length << 4) | type] : [0xf0 | type, ...varint(length)];
}

/** A value of a type: a whole number, text or bytes, the fields of a struct, or a list after the type of its items. */
type ThriftValue = number | string | Uint8Array | ThriftFields | ThriftList | undefined;
type ThriftList = readonly [of: number, items: readonly Exclude<ThriftValue, ThriftList>[]];
/** A struct, as its fields in ascending order of their numbers: [number, type, value]. */
export type ThriftFields = readonly (readonly [id: number, type: number, value?: ThriftValue])[];

/** A struct in the compact protocol of Thrift. */
export function thriftStruct(fields: ThriftFields): Buffer {
  const writer = new ThriftWriter();
  writer.struct(fields);
  return writer.written();
}

class ThriftWriter {
  private bytes = Buffer.allocUnsafe(256);
  private length = 0;

  struct(fields: ThriftFields): void {
    let last = 0;
    for (const [id, type, value] of fields) {
      this.room(16);
      // The compact form holds a step of up to 15, which Parquet's structs never exceed.
      this.bytes[this.length++] = ((id - last) << 4) | type;
      last = id;
      this.value(type, value);
    }
    this.room(1);
    this.bytes[this.length++] = 0;
  }

  /** A copy of what was written. */
  written(): Buffer {
    return Buffer.from(this.bytes.subarray(0, this.length));
  }

  private value(type: number, value: ThriftValue): void {
    switch (type) {
      case THRIFT.i32:
      case THRIFT.i64:
        this.number((value as number) < 0 ? -2 * (value as number) - 1 : 2 * (value as number));
        return;
      case THRIFT.binary: {
        const bytes = typeof value === 'string' ? Buffer.from(value) : (value as Uint8Array);
        this.number(bytes.length);
        this.room(bytes.length);
        this.bytes.set(bytes, this.length);
        this.length += bytes.length;
        return;
      }
      case THRIFT.struct:
        this.struct(value as ThriftFields);
        return;
      case THRIFT.list: {
        const [of, items] = value as ThriftList;
        this.room(16);
        const short = items.length < 15;
        this.bytes[this.length++] = ((short ? items.length : 15) << 4) | of;
        if (!short) {
          this.number(items.length);
        }
        for (const item of items) {
          this.value(of, item);
        }
      }
    }
  }

  /** As `varint`. */
  private number(value: number): void {
    this.room(16);
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) {
      this.bytes[this.length++] = (rest % 128) | 128;
    }
    this.bytes[this.length++] = rest;
  }

  private room(more: number): void {
    if (this.length + more > this.bytes.length) {
      const grown = Buffer.allocUnsafe(2 * (this.length + more));
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
  }
}

/** A field of a struct in the compact protocol, by its places in the bytes: of its head, its value, and what follows. */
interface ThriftField {
  id: number;
  type: number;
  head: number;
  at: number;
  end: number;
}

/**
 * Reads the compact protocol of Thrift from a place on.
 * @throws RangeError for bytes that end before, Error for a type that Parquet does not use
 */
export class ThriftReader {
  constructor(
    private readonly bytes: Buffer,
    public at = 0,
  ) {}

  /** The fields of a struct, in order. */
  *fields(): Iterable<ThriftField> {
    for (let id = 0; ;) {
      const head = this.at;
      const first = this.byte();
      if (first === 0) {
        return;
      }
      id = first >> 4 === 0 ? this.zigzag() : id + (first >> 4);
      const { at } = this;
      const type = first & 15;
      this.skip(type);
      yield { id, type, head, at, end: this.at };
    }
  }

  /** The number of items in a list, which follow. */
  list(): number {
    const head = this.byte();
    return head >> 4 === 15 ? this.varint() : head >> 4;
  }

  zigzag(): number {
    const value = this.varint();
    return value % 2 === 0 ? value / 2 : -(value + 1) / 2;
  }

  text(): string {
    const length = this.varint();
    this.at += length;
    return this.bytes.toString('utf8', this.at - length, this.at);
  }

  private byte(): number {
    return this.bytes.readUInt8(this.at++);
  }

  private varint(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const next = this.byte();
      value += (next & 127) * scale;
      if (next < 128) {
        return value;
      }
    }
  }

  private skip(type: number): void {
    switch (type) {
      case THRIFT.true:
      case THRIFT.false:
        return;
      case THRIFT.byte:
        this.at += 1;
        return;
      case THRIFT.double:
        this.at += 8;
        return;
      case THRIFT.binary: {
        const length = this.varint();
        this.at += length;
        return;
      }
      case THRIFT.struct:
        Array.from(this.fields());
        return;
      case THRIFT.list:
      case THRIFT.set:
        this.skipList();
        return;
      default:
        if (type < THRIFT.byte || type > THRIFT.i64) {
          throw new Error(`a Thrift field of type ${type}`);
        }
        this.varint();
    }
  }

  private skipList(): void {
    const type = this.bytes.readUInt8(this.at) & 15;
    const length = this.list();
    for (let index = 0; index < length; index++) {
      // In a list a boolean has a byte of its own.
      this.skip(type === THRIFT.true || type === THRIFT.false ? THRIFT.byte : type);
      if (this.at > this.bytes.length) {
        throw new RangeError('a Thrift list is longer than its bytes');
      }
    }
  }
}

/**
 * A whole number among the fields of a struct in the compact protocol; undefined where it is absent.
 * @throws RangeError for bytes that end before, Error for a type that Parquet does not use
 */
export function thriftNumber(bytes: Buffer, field: number): number | undefined {
  for (const { id, type, at } of new ThriftReader(bytes).fields()) {
    if (id === field && (type === THRIFT.i32 || type === THRIFT.i64)) {
      return new ThriftReader(bytes, at).zigzag();
    }
  }
  return undefined;
}
