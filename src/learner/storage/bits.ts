import { must } from './checks';

const LARGEST = 2 ** 32;

/**
 * Bit-packed integers that are written or read by the same steps: a step takes the value to write, which a reader does without,
 * and returns the value.
 */
export abstract class Bits {
  /**
   * An integer below 2^bits.
   *
   * @param bits at most 24
   * @throws LearnerError past the end
   */
  abstract code(bits: number, value?: number): number;

  flag(value = false): boolean {
    return this.code(1, value ? 1 : 0) === 1;
  }

  /**
   * A non-negative integer below 2^32, seven bits at a time (LEB128).
   *
   * @throws LearnerError past the end, and for a number of 2^32 or more
   */
  count(value = 0): number {
    let rest = value;
    let coded = 0;
    for (let scale = 1; scale < LARGEST; scale *= 128) {
      const byte = this.code(8, (rest >= 128 ? 128 : 0) | (rest & 127));
      rest = Math.floor(rest / 128);
      coded += (byte & 127) * scale;
      if (byte < 128 && coded < LARGEST) {
        return coded;
      }
    }
    must(false, 'it counts further than it can hold');
  }
}

export class BitWriter extends Bits {
  private bytes = new Uint8Array(1024);
  private size = 0;
  private held = 0;
  private heldBits = 0;

  override code(bits: number, value = 0): number {
    this.held |= value << this.heldBits;
    this.heldBits += bits;
    while (this.heldBits >= 8) {
      this.put(this.held & 0xff);
      this.held >>>= 8;
      this.heldBits -= 8;
    }
    return value;
  }

  finish(): Uint8Array {
    if (this.heldBits > 0) {
      this.put(this.held);
    }
    return this.bytes.slice(0, this.size);
  }

  private put(byte: number): void {
    if (this.size === this.bytes.length) {
      const larger = new Uint8Array(this.size * 2);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.size++] = byte;
  }
}

export class BitReader extends Bits {
  private at = 0;
  private held = 0;
  private heldBits = 0;

  constructor(private readonly bytes: Uint8Array) {
    super();
  }

  override code(bits: number): number {
    while (this.heldBits < bits) {
      must(this.at < this.bytes.length, 'it ends too early');
      this.held |= this.bytes[this.at++] << this.heldBits;
      this.heldBits += 8;
    }
    const value = this.held & ((1 << bits) - 1);
    this.held >>>= bits;
    this.heldBits -= bits;
    return value;
  }
}

/** Bits that integers from 0 to `largest` need. */
export function bitsFor(largest: number): number {
  return 32 - Math.clz32(largest);
}
