import { BLOCK_LEAVES, BlockHeader, FLIP_BYTES, MAX_PLACES, PLACE_BITS, Slot } from '../kernels/layout';
import type { Permutations } from './shapley';

/**
 * Computes the *flips* of a block: per permutation, the mixtures at which a place of the block takes the foreground
 * row's values, with the leaves that the background row keeps reachable through the places it still supplies. The
 * first flip of a permutation stands for its first mixture; one per place follows. Flips do not depend on the
 * foreground row.
 */
export class FlipWriter {
  /** Scratch: per place, the leaves whose slot a background row passes, as bits; and its flips in their order. */
  private readonly others = new Int32Array(MAX_PLACES);
  private readonly sequence = new Int32Array(MAX_PLACES);

  constructor(private readonly permutations: Permutations) {}

  /** Permutations over all background rows. */
  get count(): number {
    return this.permutations.rows * this.permutations.perRow;
  }

  /** Bytes that the flips of a block take. */
  bytes(block: Int32Array): number {
    return this.count * (block[BlockHeader.PLACES / 4] + 1) * FLIP_BYTES;
  }

  /** Writes the flips of a block, and returns where they end among the whole numbers. */
  write(block: Int32Array, flips: Int32Array, from: number): number {
    const { rows, perRow } = this.permutations;
    let to = from;
    for (let row = 0; row < rows; row++) {
      this.findOthers(block, row);
      for (let i = 0; i < perRow; i++) {
        to = this.writePermutation(block, row * perRow + i, flips, to);
      }
    }
    return to;
  }

  private findOthers(block: Int32Array, row: number): void {
    const slotsAt = block[BlockHeader.SLOTS / 4] / 4;
    this.others.fill(-1, 0, block[BlockHeader.PLACES / 4]);
    let slot = slotsAt;
    for (let leaf = block[BlockHeader.LEAVES / 4] / 4, bit = 1; leaf < slotsAt; leaf++, bit <<= 1) {
      for (const end = slot + block[leaf] * (Slot.BYTES / 4); slot < end; slot += Slot.BYTES / 4) {
        const isPassed = (block[slot + Slot.PASSES / 4] >>> row) & 1;
        this.others[block[slot + Slot.PLACE / 4]] &= isPassed ? -1 : ~bit;
      }
    }
  }

  private writePermutation(block: Int32Array, permutation: number, flips: Int32Array, to: number): number {
    const { others, sequence, permutations } = this;
    const places = block[BlockHeader.PLACES / 4];
    const groupsAt = block[BlockHeader.GROUPS / 4] / 4;
    const first = permutation * permutations.steps;
    const stepsAt = permutation * permutations.groups;
    for (let place = 0; place < places; place++) {
      const step = permutations.flips[stepsAt + block[groupsAt + place]];
      const flip = ((first + step) << PLACE_BITS) | place;
      let at = place;
      for (; at > 0 && sequence[at - 1] > flip; at--) {
        sequence[at] = sequence[at - 1];
      }
      sequence[at] = flip;
    }
    const leaves = (block[BlockHeader.SLOTS / 4] - block[BlockHeader.LEAVES / 4]) / 4;
    let within = leaves === BLOCK_LEAVES ? -1 : (1 << leaves) - 1;
    for (let i = places; i > 0; i--) {
      const flip = sequence[i - 1];
      flips[to + 2 * i] = flip;
      flips[to + 2 * i + 1] = within;
      within &= others[flip & (MAX_PLACES - 1)];
    }
    flips[to] = first << PLACE_BITS;
    flips[to + 1] = within;
    return to + 2 * (places + 1);
  }
}
