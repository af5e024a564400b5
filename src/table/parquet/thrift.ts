/** Types of Thrift's compact protocol, in which Parquet keeps its headers. The value of a boolean field is its type. */
const TRUE = 1;
const FALSE = 2;
const BYTE = 3;
const I32 = 5;
const I64 = 6;
const DOUBLE = 7;
const BINARY = 8;
export const LIST = 9;
const SET = 10;
export const STRUCT = 12;

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

/** Bytes in the compact protocol of Thrift. Fields are written in ascending order of their numbers. */
export class ThriftWriter {
  private bytes = Buffer.allocUnsafe(256);
  private length = 0;
  private last = 0;
  private readonly outer: number[] = [];

  i32(field: number, value: number): void {
    this.head(field, I32);
    this.zigzag(value);
  }

  i64(field: number, value: number): void {
    this.head(field, I64);
    this.zigzag(value);
  }

  boolean(field: number, value: boolean): void {
    this.head(field, value ? 1 : 2);
  }

  text(field: number, value: string): void {
    this.head(field, BINARY);
    this.string(value);
  }

  binary(field: number, value: Uint8Array): void {
    this.head(field, BINARY);
    this.varint(value.length);
    this.reserve(value.length);
    this.bytes.set(value, this.length);
    this.length += value.length;
  }

  texts(field: number, values: readonly string[]): void {
    this.list(field, BINARY, values.length);
    values.forEach((value) => this.string(value));
  }

  i32s(field: number, values: readonly number[]): void {
    this.list(field, I32, values.length);
    values.forEach((value) => this.zigzag(value));
  }

  struct(field: number, write: () => void): void {
    this.head(field, STRUCT);
    this.body(write);
  }

  /** A struct without fields, as a union has it where its kind says all. */
  empty(field: number): void {
    this.struct(field, () => undefined);
  }

  structs<T>(field: number, items: readonly T[], write: (item: T, index: number) => void): void {
    this.list(field, STRUCT, items.length);
    items.forEach((item, index) => this.body(() => write(item, index)));
  }

  /** What was written, as the one struct that it is. The writer starts again. */
  finish(): Buffer {
    this.byte(0);
    const result = Buffer.from(this.bytes.subarray(0, this.length));
    this.length = this.last = 0;
    return result;
  }

  private body(write: () => void): void {
    this.outer.push(this.last);
    this.last = 0;
    write();
    this.byte(0);
    this.last = this.outer.pop()!;
  }

  private head(field: number, type: number): void {
    // The compact form holds a step of up to 15, which Parquet's structs never exceed.
    this.byte(((field - this.last) << 4) | type);
    this.last = field;
  }

  private list(field: number, type: number, length: number): void {
    this.head(field, LIST);
    listHead(type, length).forEach((byte) => this.byte(byte));
  }

  private string(value: string): void {
    const bytes = Buffer.byteLength(value);
    this.varint(bytes);
    this.reserve(bytes);
    this.bytes.write(value, this.length);
    this.length += bytes;
  }

  private zigzag(value: number): void {
    this.varint(value < 0 ? -2 * value - 1 : 2 * value);
  }

  private varint(value: number): void {
    varint(value).forEach((byte) => this.byte(byte));
  }

  private byte(value: number): void {
    this.reserve(1);
    this.bytes[this.length++] = value;
  }

  private reserve(more: number): void {
    if (this.length + more > this.bytes.length) {
      const grown = Buffer.allocUnsafe(2 * (this.length + more));
      this.bytes.copy(grown, 0, 0, this.length);
      this.bytes = grown;
    }
  }
}

/** A field of a struct in the compact protocol, by its places in the bytes: of its head, its value, and what follows. */
export interface ThriftField {
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
      case TRUE:
      case FALSE:
        return;
      case BYTE:
        this.at += 1;
        return;
      case DOUBLE:
        this.at += 8;
        return;
      case BINARY: {
        const length = this.varint();
        this.at += length;
        return;
      }
      case STRUCT:
        Array.from(this.fields());
        return;
      case LIST:
      case SET:
        this.skipList();
        return;
      default:
        if (type < BYTE || type > I64) {
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
      this.skip(type === TRUE || type === FALSE ? BYTE : type);
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
    if (id === field && (type === I32 || type === I64)) {
      return new ThriftReader(bytes, at).zigzag();
    }
  }
  return undefined;
}
