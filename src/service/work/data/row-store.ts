import type { SpillFile } from './spill-file';

type Numbers = Float64Array | Int32Array;

/** A number for each row: in memory, or in a place of its own in a file. */
export class RowStore<T extends Numbers> {
  private readonly memory: T | undefined;
  private readonly position: number;

  constructor(
    private readonly make: { new (length: number): T; readonly BYTES_PER_ELEMENT: number },
    rows: number,
    private readonly spill: SpillFile | undefined,
  ) {
    this.memory = spill === undefined ? new make(rows) : undefined;
    this.position = spill?.reserve(rows * make.BYTES_PER_ELEMENT) ?? 0;
  }

  get inMemory(): boolean {
    return this.memory !== undefined;
  }

  put(values: Float64Array | Int32Array, row: number): void {
    if (this.memory !== undefined) {
      this.memory.set(values, row);
    } else {
      const bytes = new Uint8Array(values.buffer, values.byteOffset, values.byteLength);
      this.spill!.write(bytes, this.position + row * this.make.BYTES_PER_ELEMENT);
    }
  }

  /** The numbers of the first `count` rows. */
  read(count: number): T {
    if (this.memory !== undefined) {
      return count === this.memory.length ? this.memory : (this.memory.slice(0, count) as T);
    }
    const values = new this.make(count);
    this.spill!.read(new Uint8Array(values.buffer), this.position);
    return values;
  }
}

/** What was read back of one column, until another one is read. */
export class LastRead {
  private owner: object | undefined;
  private readonly parts = new Map<string, unknown>();

  get<T>(owner: object, part: string, read: () => T): T {
    if (this.owner !== owner) {
      this.parts.clear();
      this.owner = owner;
    }
    if (!this.parts.has(part)) {
      this.parts.set(part, read());
    }
    return this.parts.get(part) as T;
  }
}
