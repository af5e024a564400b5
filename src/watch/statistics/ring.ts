const GROW_FROM = 32;
const LARGEST = 3.4e38;

/** A ring buffer: the newest entries of a few numbers each, as 32-bit floats; NaN where missing. */
export class Ring {
  private values: Float32Array;
  private begin = 0;
  private count = 0;

  /**
   * @param width numbers per entry
   * @param capacity entries held
   */
  constructor(
    readonly width: number,
    readonly capacity: number,
  ) {
    this.values = new Float32Array(Math.min(GROW_FROM, capacity) * width);
  }

  get size(): number {
    return this.count;
  }

  /** Field `field` of entry `index`; 0 is the oldest. */
  at(index: number, field = 0): number {
    const slots = this.values.length / this.width;
    return this.values[((this.begin + index) % slots) * this.width + field]!;
  }

  /** Adds an entry, overwriting the oldest one when full. */
  push(entry: readonly number[]): void {
    let slots = this.values.length / this.width;
    if (this.count === slots && slots < this.capacity) {
      this.grow(Math.min(this.capacity, 2 * slots));
      slots = this.values.length / this.width;
    }
    if (this.count === slots) {
      this.begin = (this.begin + 1) % slots;
    } else {
      this.count++;
    }
    const place = ((this.begin + this.count - 1) % slots) * this.width;
    for (let field = 0; field < this.width; field++) {
      this.values[place + field] = Math.max(-LARGEST, Math.min(LARGEST, entry[field]!));
    }
  }

  clear(): void {
    this.begin = 0;
    this.count = 0;
  }

  /** One field of all entries, the oldest first. */
  field(field = 0): Float64Array {
    const values = new Float64Array(this.count);
    for (let index = 0; index < values.length; index++) {
      values[index] = this.at(index, field);
    }
    return values;
  }

  /** The entries in base64, the oldest first. */
  toText(): string {
    const bytes = Buffer.alloc(this.count * this.width * 4);
    for (let index = 0, place = 0; index < this.count; index++) {
      for (let field = 0; field < this.width; field++, place += 4) {
        bytes.writeFloatLE(this.at(index, field), place);
      }
    }
    return bytes.toString('base64');
  }

  /** Keeps the newest entries where there are more than the capacity. */
  static fromText(width: number, capacity: number, text: string): Ring {
    const bytes = Buffer.from(text, 'base64');
    const entries = Math.floor(bytes.length / 4 / width);
    const ring = new Ring(width, capacity);
    const entry = new Array<number>(width);
    for (let index = Math.max(0, entries - capacity); index < entries; index++) {
      for (let field = 0; field < width; field++) {
        entry[field] = bytes.readFloatLE((index * width + field) * 4);
      }
      ring.push(entry);
    }
    return ring;
  }

  private grow(slots: number): void {
    const grown = new Float32Array(slots * this.width);
    for (let index = 0; index < this.count; index++) {
      for (let field = 0; field < this.width; field++) {
        grown[index * this.width + field] = this.at(index, field);
      }
    }
    this.values = grown;
    this.begin = 0;
  }
}
