import { LearnerError } from '../../types';

/** Writes bit-packed integers. */
export class BitWriter {
  private bytes = new Uint8Array(1024);
  private size = 0;
  private held = 0;
  private heldBits = 0;

  /** @param bits at most 24; `value` is below 2^bits */
  write(value: number, bits: number): void {
    this.held |= value << this.heldBits;
    this.heldBits += bits;
    while (this.heldBits >= 8) {
      this.put(this.held & 0xff);
      this.held >>>= 8;
      this.heldBits -= 8;
    }
  }

  /** A non-negative integer below 2^32, seven bits at a time (LEB128). */
  writeCount(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) {
      this.write(128 | (rest & 127), 8);
    }
    this.write(rest, 8);
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

const LARGEST = 2 ** 32;

/** Reads what `BitWriter` wrote. */
export class BitReader {
  private at = 0;
  private held = 0;
  private heldBits = 0;

  constructor(private readonly bytes: Uint8Array) {}

  /** @throws LearnerError past the end */
  read(bits: number): number {
    while (this.heldBits < bits) {
      if (this.at >= this.bytes.length) {
        throw new LearnerError('The model is damaged: it ends too early.');
      }
      this.held |= this.bytes[this.at++] << this.heldBits;
      this.heldBits += 8;
    }
    const value = this.held & ((1 << bits) - 1);
    this.held >>>= bits;
    this.heldBits -= bits;
    return value;
  }

  /** @throws LearnerError past the end, and for a number of 2^32 or more */
  readCount(): number {
    for (let value = 0, scale = 1; scale < LARGEST; scale *= 128) {
      const byte = this.read(8);
      value += (byte & 127) * scale;
      if (byte < 128 && value < LARGEST) {
        return value;
      }
    }
    throw new LearnerError('The model is damaged: it counts further than it can hold.');
  }
}

/** Bits that integers from 0 to `largest` need. */
export function bitsFor(largest: number): number {
  return 32 - Math.clz32(largest);
}
