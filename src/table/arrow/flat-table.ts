/** Where the items of a list lie. */
export interface FlatList {
  at: number;
  length: number;
}

/**
 * A table of a flatbuffer, the format of Arrow's metadata: fields by their number in the schema file (Footer, Message,
 * Schema in apache/arrow's format/*.fbs). What lies beyond the bytes throws a RangeError.
 */
export class FlatTable {
  private readonly fields: number;
  private readonly fieldsBytes: number;

  /** @param at where the table begins */
  constructor(
    readonly bytes: Buffer,
    readonly at: number,
  ) {
    this.fields = at - bytes.readInt32LE(at);
    this.fieldsBytes = bytes.readUInt16LE(this.fields);
  }

  static root(bytes: Uint8Array): FlatTable {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new FlatTable(buffer, buffer.readUInt32LE(0));
  }

  /** A number of 8 bits; 0 where it is absent. */
  byte(field: number): number {
    const at = this.place(field);
    return at === 0 ? 0 : this.bytes.readUInt8(at);
  }

  /** A number of 16 bits; 0 where it is absent. */
  short(field: number): number {
    const at = this.place(field);
    return at === 0 ? 0 : this.bytes.readInt16LE(at);
  }

  /** A number of 64 bits; 0 where it is absent. */
  long(field: number): number {
    const at = this.place(field);
    return at === 0 ? 0 : longAt(this.bytes, at);
  }

  table(field: number): FlatTable | undefined {
    const at = this.place(field);
    return at === 0 ? undefined : new FlatTable(this.bytes, at + this.bytes.readUInt32LE(at));
  }

  /** A list of items of so many bytes, or a text; empty where it is absent. */
  list(field: number, itemBytes: number): FlatList {
    const place = this.place(field);
    if (place === 0) {
      return { at: 0, length: 0 };
    }
    const start = place + this.bytes.readUInt32LE(place);
    const length = this.bytes.readUInt32LE(start);
    const at = start + 4;
    if (length * itemBytes > this.bytes.length - at) {
      throw new RangeError(`a list of ${length} in metadata of ${this.bytes.length} bytes`);
    }
    return { at, length };
  }

  /** The tables of a list. */
  *tables(field: number): Iterable<FlatTable> {
    const { at, length } = this.list(field, 4);
    for (let place = at; place < at + length * 4; place += 4) {
      yield new FlatTable(this.bytes, place + this.bytes.readUInt32LE(place));
    }
  }

  /** Where a field lies; 0: it is absent. */
  private place(field: number): number {
    const slot = 4 + 2 * field;
    const offset = slot < this.fieldsBytes ? this.bytes.readUInt16LE(this.fields + slot) : 0;
    return offset === 0 ? 0 : this.at + offset;
  }
}

export function longAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigInt64LE(at));
}
