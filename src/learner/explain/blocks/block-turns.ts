import type { Orders } from '../shapley/orders';
import { PLACE_BITS, TURN } from './kernel/block-layout';
import { type LeafBlocks, MOST_OF_BLOCK } from './leaf-blocks';

/**
 * At which mixtures along orders the places of a block become the row's, and which leaves the background's row leaves
 * within reach by the places that are still its own. Neither depends on the row that is explained. Per order there is one
 * turn for its first mixture, then one for each place.
 */
export class TurnWriter {
  /** Per place the leaves that one of the background's rows passes, as bits; the places in the sequence of an order. */
  private readonly others: Int32Array;
  private readonly sequence: Int32Array;

  constructor(
    private readonly blocks: LeafBlocks,
    private readonly orders: Orders,
  ) {
    this.others = new Int32Array(blocks.mostPlaces);
    this.sequence = new Int32Array(blocks.mostPlaces);
  }

  /** Turns of an order of a block. */
  turnsOf(block: number): number {
    return this.blocks.placesAt[block + 1] - this.blocks.placesAt[block] + 1;
  }

  /** Orders of all of the background's rows. */
  get orderCount(): number {
    return this.orders.rows * this.orders.perRow;
  }

  /** Numbers that the turns of a block take. */
  sizeOf(block: number): number {
    return TURN * this.orderCount * this.turnsOf(block);
  }

  /** Writes the turns of a block. */
  write(block: number, turns: Int32Array, from: number): void {
    const { orders } = this;
    const size = TURN * this.turnsOf(block);
    for (let row = 0; row < orders.rows; row++) {
      this.findOthers(block, row);
      for (let order = row * orders.perRow; order < (row + 1) * orders.perRow; order++) {
        this.writeOrder(block, order, turns, from + order * size);
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

  private writeOrder(block: number, order: number, turns: Int32Array, to: number): void {
    const { others, sequence, orders } = this;
    const { leavesAt, placesAt, groups } = this.blocks;
    const firstPlace = placesAt[block];
    const places = placesAt[block + 1] - firstPlace;
    const stepOf = (place: number) => orders.turns[order * orders.groups + groups[firstPlace + place]];
    for (let place = 0; place < places; place++) {
      let at = place;
      for (; at > 0 && stepOf(sequence[at - 1]) > stepOf(place); at--) {
        sequence[at] = sequence[at - 1];
      }
      sequence[at] = place;
    }
    const leaves = leavesAt[block + 1] - leavesAt[block];
    let within = leaves === MOST_OF_BLOCK ? -1 : (1 << leaves) - 1;
    const first = order * orders.steps;
    for (let turn = places; turn > 0; turn--) {
      const place = sequence[turn - 1];
      turns[to + TURN * turn] = ((first + stepOf(place)) << PLACE_BITS) | place;
      turns[to + TURN * turn + 1] = within;
      within &= others[place];
    }
    turns[to] = first << PLACE_BITS;
    turns[to + 1] = within;
  }
}
