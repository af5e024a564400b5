import { BLOCK_LEAVES, FLIP_SIZE, MAX_PLACES, MAX_SLOTS, PLACE_BITS } from '../kernels/layout';
import type { Background } from '../model/model';
import { isLeft, LEAF, type Trees } from '../trees/trees';
import { LearnerError } from '../types';
import type { Permutations } from './shapley';

/**
 * The leaves of trees in *blocks* of up to 32 neighbours, with the paths to them. A *place* of a block is a group
 * that some branch above one of its leaves splits on; a leaf has a *slot* for each place on its own path. A row
 * passes a slot if it follows the path at every branch of that group. A mixture reaches a leaf if every slot is passed by
 * the row that supplies the group: slots that the foreground row fails must come from the background row, slots that the
 * background row fails must come from the foreground row, and the rest may come from either (interventional TreeSHAP:
 * S. Lundberg et al., 2020). Sets of leaves and of background rows are bitsets. Nothing here depends on the foreground row.
 */
export interface LeafBlocks {
  trees: Trees;
  /** Number of background rows. */
  rows: number;
  /**
   * Per tree, its first block; the extra last element is the end, here and in the lists below that mark beginnings.
   */
  blocksAt: Int32Array;
  /** Per block, its first leaf, its first place and its first branch. */
  leavesAt: Int32Array;
  placesAt: Int32Array;
  branchesAt: Int32Array;
  /** Per place, its group. */
  groups: Int32Array;
  /** Per branch: its node, its place in the block, and the block's leaves to its left and right, as bits. */
  nodes: Int32Array;
  branchPlaces: Uint8Array;
  toLeft: Int32Array;
  toRight: Int32Array;
  /** Per leaf, where its values begin in `trees.values`, and its first slot. */
  valuesAt: Int32Array;
  slotsAt: Int32Array;
  /** Per slot, its place in the block and the background rows that pass it, as bits. */
  slotPlaces: Uint8Array;
  passes: Int32Array;
  /** Most places of a block. */
  maxPlaces: number;
}

/** A branch, the leaves below it (numbered from left to right), and the first of them on its right. */
interface Branch {
  node: number;
  first: number;
  middle: number;
  end: number;
}

/** A leaf, with the group of each slot and the background rows that pass it. */
interface Leaf {
  values: number;
  groups: number[];
  passes: number[];
}

/** @throws LearnerError where more groups are on the path to a leaf than any tree of ours has */
export function leafBlocks(trees: Trees, background: Background, groupOf: Int32Array): LeafBlocks {
  const leaves = trees.feature.reduce((sum, feature) => sum + (feature === LEAF ? 1 : 0), 0);
  const masks = leftMasks(trees, background);
  const [blocksAt, leavesAt, placesAt, branchesAt] = [[0], [0], [0], [0]];
  const groups: number[] = [];
  const branches: { node: number; place: number; left: number; right: number }[] = [];
  const slots: { place: number; passes: number }[] = [];
  const valuesAt = new Int32Array(leaves);
  const slotsAt = new Int32Array(leaves + 1);
  let leaf = 0;
  let maxPlaces = 0;
  for (const root of trees.roots) {
    const tree = pathsOf(trees, masks, groupOf, root);
    for (let from = 0, to = 0; from < tree.leaves.length; from = to) {
      const placeOf = new Map<number, number>();
      for (; to < tree.leaves.length && to < from + BLOCK_LEAVES; to++) {
        const added = tree.leaves[to].groups.filter((group) => !placeOf.has(group));
        if (to > from && placeOf.size + added.length > MAX_PLACES) {
          break;
        }
        added.forEach((group) => placeOf.set(group, placeOf.size));
      }
      for (const { node, first, middle, end } of tree.branches) {
        const left = bitsBetween(first - from, Math.min(middle, to) - from);
        const right = bitsBetween(middle - from, Math.min(end, to) - from);
        if ((left | right) !== 0) {
          branches.push({ node, place: placeOf.get(groupOf[trees.feature[node]])!, left, right });
        }
      }
      for (const { values, groups: onPath, passes } of tree.leaves.slice(from, to)) {
        valuesAt[leaf++] = values;
        onPath.forEach((group, slot) => slots.push({ place: placeOf.get(group)!, passes: passes[slot] }));
        slotsAt[leaf] = slots.length;
      }
      groups.push(...placeOf.keys());
      maxPlaces = Math.max(maxPlaces, placeOf.size);
      leavesAt.push(leaf);
      placesAt.push(groups.length);
      branchesAt.push(branches.length);
    }
    blocksAt.push(leavesAt.length - 1);
  }
  return {
    ...{ trees, rows: background.rows, valuesAt, slotsAt, maxPlaces },
    blocksAt: Int32Array.from(blocksAt),
    leavesAt: Int32Array.from(leavesAt),
    placesAt: Int32Array.from(placesAt),
    branchesAt: Int32Array.from(branchesAt),
    groups: Int32Array.from(groups),
    nodes: Int32Array.from(branches, ({ node }) => node),
    branchPlaces: Uint8Array.from(branches, ({ place }) => place),
    toLeft: Int32Array.from(branches, ({ left }) => left),
    toRight: Int32Array.from(branches, ({ right }) => right),
    slotPlaces: Uint8Array.from(slots, ({ place }) => place),
    passes: Int32Array.from(slots, ({ passes }) => passes),
  };
}

/** Per node, the background rows that would go left: bit r for row r. */
function leftMasks(trees: Trees, { columns, rows }: Background): Int32Array {
  return Int32Array.from(trees.feature, (column, node) => {
    let mask = 0;
    for (let row = 0; column !== LEAF && row < rows; row++) {
      mask |= isLeft(trees, node, columns[column][row]) ? 1 << row : 0;
    }
    return mask;
  });
}

/** Bits `from` to `high` (exclusive), of which `from` may be negative. */
function bitsBetween(from: number, high: number): number {
  const low = Math.max(0, from);
  if (low >= high) {
    return 0;
  }
  return high - low === BLOCK_LEAVES ? -1 : ((1 << (high - low)) - 1) << low;
}

/** The branches and leaves of a tree, from left to right. */
function pathsOf(
  trees: Trees,
  masks: Int32Array,
  groupOf: Int32Array,
  root: number,
): { branches: Branch[]; leaves: Leaf[] } {
  const branches: Branch[] = [];
  const leaves: Leaf[] = [];
  const from = (node: number, groups: number[], passes: number[]): void => {
    const column = trees.feature[node];
    if (column === LEAF) {
      if (groups.length > MAX_SLOTS) {
        throw new LearnerError(
          `A tree asks for more than ${MAX_SLOTS} causes in a row: such a model has no explanations.`,
        );
      }
      leaves.push({ values: trees.left[node], groups, passes });
      return;
    }
    const group = groupOf[column];
    const known = groups.indexOf(group);
    const slot = known < 0 ? groups.length : known;
    const onPath = known < 0 ? [...groups, group] : groups;
    const before = known < 0 ? -1 : passes[known];
    const through = (mask: number) => {
      const own = passes.slice();
      own[slot] = before & mask;
      return own;
    };
    const branch = { node, first: leaves.length, middle: 0, end: 0 };
    branches.push(branch);
    from(trees.left[node], onPath, through(masks[node]));
    branch.middle = leaves.length;
    from(trees.left[node] + 1, onPath, through(~masks[node]));
    branch.end = leaves.length;
  };
  from(root, [], []);
  return { branches, leaves };
}

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
