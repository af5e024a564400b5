const BITS = 12;
const REGISTERS = 1 << BITS;
const ALPHA = 0.7213 / (1 + 1.079 / REGISTERS);

/** About how many different hashes were added, to some two percent, in 4 KB (HyperLogLog). */
export class DistinctCounter {
  private readonly registers = new Uint8Array(REGISTERS);

  /** @param hash 32 bits, all of them well mixed */
  add(hash: number): void {
    const register = hash >>> (32 - BITS);
    const rank = Math.clz32((hash << BITS) | (1 << (BITS - 1))) + 1;
    if (rank > this.registers[register]!) {
      this.registers[register] = rank;
    }
  }

  estimate(): number {
    let sum = 0;
    let empty = 0;
    for (const rank of this.registers) {
      sum += 2 ** -rank;
      empty += rank === 0 ? 1 : 0;
    }
    const raw = (ALPHA * REGISTERS * REGISTERS) / sum;
    return raw < 2.5 * REGISTERS && empty > 0 ? REGISTERS * Math.log(REGISTERS / empty) : raw;
  }
}
