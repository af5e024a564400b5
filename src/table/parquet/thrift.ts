/** Types of Thrift's compact protocol, in which Parquet keeps its headers. */
const I32 = 5;
const I64 = 6;
const BINARY = 8;
const LIST = 9;
const STRUCT = 12;

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
    if (length < 15) {
      this.byte((length << 4) | type);
    } else {
      this.byte(0xf0 | type);
      this.varint(length);
    }
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

  /** Arithmetic instead of shifts, which end at 32 bits. */
  private varint(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.byte((rest % 128) | 128);
      rest = Math.floor(rest / 128);
    }
    this.byte(rest);
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
