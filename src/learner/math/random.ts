/**
 * Seeded random numbers in 32-bit integer arithmetic (sfc32 by C. Doty-Humphrey, PractRand): a seed gives the same
 * stream on every machine.
 */
export class Random {
  private a: number;
  private b: number;
  private c: number;
  private counter = 1;

  /** Streams of different (seed, stream, step) are independent. */
  constructor(seed: number, stream = 0, step = 0) {
    this.a = seed | 0;
    this.b = (Math.floor(seed / 4294967296) ^ Math.imul(stream + 1, 0x9e3779b1)) | 0;
    this.c = Math.imul(step + 1, 0x85ebca6b);
    for (let i = 0; i < 15; i++) {
      this.uint32();
    }
  }

  uint32(): number {
    const sum = (((this.a + this.b) | 0) + this.counter) | 0;
    this.counter = (this.counter + 1) | 0;
    this.a = this.b ^ (this.b >>> 9);
    this.b = (this.c + (this.c << 3)) | 0;
    this.c = (this.c << 21) | (this.c >>> 11);
    this.c = (this.c + sum) | 0;
    return sum >>> 0;
  }

  /** A uniform integer from 0 to `below` - 1; `below` ≤ 2^32. */
  below(below: number): number {
    return Math.floor((this.uint32() / 4294967296) * below);
  }

  /** A uniform number in [0, 1). */
  uniform(): number {
    return this.uint32() / 4294967296;
  }

  /** Writes `count` random bits to words of 32, and 0 to what is left of them. */
  bits(count: number, words: Int32Array): void {
    for (let word = 0, left = count; word < words.length; word++, left -= 32) {
      words[word] = left <= 0 ? 0 : this.uint32() >>> Math.max(0, 32 - left);
    }
  }

  /** Lends the stream's state (four words, the last of them a counter) to a caller that draws from it. */
  lend(state: Int32Array, draw: () => void): void {
    state.set([this.a, this.b, this.c, this.counter]);
    draw();
    [this.a, this.b, this.c, this.counter] = state;
  }

  /** Shuffles in place (Fisher-Yates). */
  shuffle(values: Int32Array): Int32Array {
    for (let i = values.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      const kept = values[i];
      values[i] = values[j];
      values[j] = kept;
    }
    return values;
  }

  /** `count` distinct integers from 0 to `from` - 1, ascending; all of them where there are no more. */
  sample(from: number, count: number): Int32Array {
    const chosen = new Int32Array(Math.min(from, count));
    for (let i = 0, taken = 0; taken < chosen.length; i++) {
      // Written whether or not it is chosen: a branch would be mispredicted.
      chosen[taken] = i;
      taken += this.uniform() * (from - i) < chosen.length - taken ? 1 : 0;
    }
    return chosen;
  }
}
