import { BLOCK_LEAVES, FLIP_SIZE, PLACE_BITS } from '../../kernels/blocks-layout';
import type { Permutations } from '../shapley/permutations';
import type { LeafBlocks } from './leaf-blocks';

/**
 * Computes the *flips* of a block: per permutation, the mixtures at which a place of the block takes the foreground
 * row's values, with the leaves that the background row keeps reachable through the places it still supplies. The
 * first flip of a permutation stands for its first mixture; one per place follows. Flips do not depend on the
 * foreground row.
 */
export class FlipWriter {
  /**
   * Scratch: per place, the leaves whose slot a background row passes, as bits; and the places in the order they
   * flip.
   */
  private readonly others: Int32Array;
  private readonly sequence: Int32Array;

  constructor(
    private readonly blocks: LeafBlocks,
    private readonly permutations: Permutations,
  ) {
    this.others = new Int32Array(blocks.maxPlaces);
    this.sequence = new Int32Array(blocks.maxPlaces);
  }

  /** Flips of a block per permutation. */
  flipsOf(block: number): number {
    return this.blocks.placesAt[block + 1] - this.blocks.placesAt[block] + 1;
  }

  /** Permutations over all background rows. */
  get permutationCount(): number {
    return this.permutations.rows * this.permutations.perRow;
  }

  /** Array elements that the flips of a block take. */
  sizeOf(block: number): number {
    return FLIP_SIZE * this.permutationCount * this.flipsOf(block);
  }

  /** Writes the flips of a block. */
  write(block: number, flips: Int32Array, from: number): void {
    const { permutations } = this;
    const size = FLIP_SIZE * this.flipsOf(block);
    for (let row = 0; row < permutations.rows; row++) {
      this.findOthers(block, row);
      for (
        let permutation = row * permutations.perRow;
        permutation < (row + 1) * permutations.perRow;
        permutation++
      ) {
        this.writePermutation(block, permutation, flips, from + permutation * size);
      }
    }
  }

  private findOthers(block: number, row: number): void {
    const { leavesAt, slotsAt, slotPlaces, passes } = this.blocks;
    const first = leavesAt[block];
    this.others.fill(-1);
    for (let leaf = first; leaf < leavesAt[block + 1]; leaf++) {
      for (let slot = slotsAt[leaf]; slot < slotsAt[leaf + 1]; slot++) {
        this.others[slotPlaces[slot]] &= ~((~(passes[slot] >>> row) & 1) << (leaf - first));
      }
    }
  }

  private writePermutation(block: number, permutation: number, flips: Int32Array, to: number): void {
    const { others, sequence, permutations } = this;
    const { leavesAt, placesAt, groups } = this.blocks;
    const firstPlace = placesAt[block];
    const places = placesAt[block + 1] - firstPlace;
    const stepOf = (place: number) =>
      permutations.flips[permutation * permutations.groups + groups[firstPlace + place]];
    for (let place = 0; place < places; place++) {
      let at = place;
      for (; at > 0 && stepOf(sequence[at - 1]) > stepOf(place); at--) {
        sequence[at] = sequence[at - 1];
      }
      sequence[at] = place;
    }
    const leaves = leavesAt[block + 1] - leavesAt[block];
    let within = leaves === BLOCK_LEAVES ? -1 : (1 << leaves) - 1;
    const first = permutation * permutations.steps;
    for (let flip = places; flip > 0; flip--) {
      const place = sequence[flip - 1];
      flips[to + FLIP_SIZE * flip] = ((first + stepOf(place)) << PLACE_BITS) | place;
      flips[to + FLIP_SIZE * flip + 1] = within;
      within &= others[place];
    }
    flips[to] = first << PLACE_BITS;
    flips[to + 1] = within;
  }
}
