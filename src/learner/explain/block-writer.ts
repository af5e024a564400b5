import type { Kernels } from '../kernels/functions';
import {
  BLOCK_LEAVES,
  BLOCKS_SCRATCH_BYTES,
  BRANCH_BYTES,
  BRANCH_COLUMN,
  BRANCH_FROM,
  BRANCH_IS_SET,
  BRANCH_LIMIT,
  BRANCH_PLACE,
  BRANCH_SET,
  BRANCH_TO_LEFT,
  BRANCH_TO_RIGHT,
  CHANGE_BYTES,
  HEADER_BRANCHES,
  HEADER_BRANCHES_END,
  HEADER_BYTES,
  HEADER_EFFECTS,
  HEADER_FLIPS,
  HEADER_GROUPS,
  HEADER_KEYS,
  HEADER_LEAVES,
  HEADER_LEAVES_END,
  HEADER_MIXTURE_BYTES,
  HEADER_OUTPUT,
  HEADER_PERMUTATION_BYTES,
  HEADER_PLACES,
  HEADER_ROW_BYTES,
  LEAF_RECORD_BYTES,
  LEAF_SLOTS_END,
  LEAF_VALUE,
  RESULT_EFFECTS,
  SCRATCH_NEXT_RESULT,
  SCRATCH_RESULTS_END,
  SCRATCH_SHAPLEY_WEIGHTS,
  SLOT_BYTES,
  SLOT_PASSES,
} from '../kernels/layout';
import { openOwnMemory } from '../kernels/scratch';
import { goesMissingLeft, isCategoryNode, SET_WORDS } from '../trees/trees';
import type { FlipWriter, LeafBlocks } from './leaf-blocks';
import { SHAPLEY_WEIGHTS } from './shapley';

/** Bytes of a 32-bit integer. */
const WHOLE = 4;

/** Results are cached only for blocks with at most this many branches: with more, few rows share a key. */
const MAX_KEYED_BRANCHES = 8;

/** The addresses of some blocks: of the first header, after the last one, and of scratch space. */
export interface BlockAddresses {
  headers: number;
  end: number;
  /** For the longest result or, for trees with a value per class, for the values of a block's leaves. */
  scratch: number;
}

/** Writes blocks to the memory in the format of `kernels/layout.ts`. */
export class BlockWriter {
  private readonly isOfClasses: boolean;

  /**
   * @param flips undefined where no permutations are asked for
   * @param width outputs
   * @param groups number of all groups
   */
  constructor(
    private readonly memory: BlockMemory,
    private readonly blocks: LeafBlocks,
    private readonly flips: FlipWriter | undefined,
    private readonly width: number,
    private readonly groups: number,
  ) {
    this.isOfClasses = blocks.trees.width > 1;
  }

  /** Bytes that scratch space and the blocks from `first` on take, without `end`. */
  bytes(first: number, end: number, isKeyed: boolean): number {
    let sum = aligned(this.scratchBytes());
    for (let block = first; block < end; block++) {
      sum += HEADER_BYTES + this.programBytes(block) + this.flipBytes(block);
      sum += isKeyed ? this.keyBytes(block) : 0;
    }
    return sum;
  }

  /** Whether results are cached by key: where there is memory, and rows that share them. */
  get isKeyed(): boolean {
    return !this.isOfClasses && this.memory.size.results > 0;
  }

  /** @param to an address with as many bytes as `bytes` tells */
  write(first: number, end: number, isKeyed: boolean, to: number): BlockAddresses {
    const { blocks, memory, flips, width } = this;
    const { blocksAt, placesAt, groups } = blocks;
    const headers = to + aligned(this.scratchBytes());
    let at = headers + (end - first) * HEADER_BYTES;
    // Keys and flips after all the rest: most of a row's blocks have a known result, and do without.
    let keysAt = at;
    let flipsAt = at;
    for (let block = first; block < end; block++) {
      keysAt += this.programBytes(block);
      flipsAt += this.programBytes(block) + (isKeyed ? this.keyBytes(block) : 0);
    }
    let tree = 0;
    for (let block = first; block < end; block++) {
      while (blocksAt[tree + 1] <= block) {
        tree++;
      }
      const header = (headers + (block - first) * HEADER_BYTES) / WHOLE;
      const put = (offset: number, value: number) => (memory.wholes[header + offset / WHOLE] = value);
      const output = this.isOfClasses ? 0 : tree % width;
      const [place, placesEnd] = [placesAt[block], placesAt[block + 1]];
      put(HEADER_OUTPUT, output * 8);
      put(HEADER_MIXTURE_BYTES, width * 8);
      put(HEADER_EFFECTS, output * this.groups * 8);
      put(HEADER_PLACES, placesEnd - place);
      put(HEADER_GROUPS, at);
      memory.wholes.set(groups.subarray(place, placesEnd), at / WHOLE);
      at += (placesEnd - place) * WHOLE;
      put(HEADER_FLIPS, flipsAt);
      put(HEADER_PERMUTATION_BYTES, flips ? flips.flipsOf(block) * 2 * WHOLE : 0);
      put(HEADER_ROW_BYTES, this.flipBytes(block) / blocks.rows);
      flips?.write(block, memory.wholes, flipsAt / WHOLE);
      flipsAt += this.flipBytes(block);
      const keys = isKeyed ? this.keyBytes(block) : 0;
      put(HEADER_KEYS, keys > 0 ? keysAt : 0);
      keysAt += keys;
      const branches = at + this.setBytes(block);
      put(HEADER_BRANCHES, branches);
      const leaves = this.writeBranches(block, branches, at);
      put(HEADER_BRANCHES_END, leaves);
      put(HEADER_LEAVES, leaves);
      put(
        HEADER_LEAVES_END,
        leaves + (blocks.leavesAt[block + 1] - blocks.leavesAt[block]) * LEAF_RECORD_BYTES,
      );
      at = this.writeLeaves(block, leaves);
    }
    return { headers, end: headers + (end - first) * HEADER_BYTES, scratch: to };
  }

  /** For the values of leaves, or of a result: the slot after its last change is written to, but not counted. */
  private scratchBytes(): number {
    const { maxPlaces, trees } = this.blocks;
    return this.isOfClasses
      ? (BLOCK_LEAVES + 1) * trees.width * 8
      : RESULT_EFFECTS + maxPlaces * 8 + ((this.flips?.permutationCount ?? 0) * maxPlaces + 1) * CHANGE_BYTES;
  }

  private flipBytes(block: number): number {
    return (this.flips?.sizeOf(block) ?? 0) * WHOLE;
  }

  /** Of its groups, branches and leaves. */
  private programBytes(block: number): number {
    const { leavesAt, branchesAt, placesAt, slotsAt, trees } = this.blocks;
    const [first, end] = [leavesAt[block], leavesAt[block + 1]];
    return (
      (placesAt[block + 1] - placesAt[block]) * WHOLE +
      this.setBytes(block) +
      (branchesAt[block + 1] - branchesAt[block]) * BRANCH_BYTES +
      (end - first) * (LEAF_RECORD_BYTES + (this.isOfClasses ? trees.width * WHOLE : 0)) +
      (slotsAt[end] - slotsAt[first]) * SLOT_BYTES
    );
  }

  /** Bytes of a block's table of cached results. */
  private keyBytes(block: number): number {
    const { branchesAt } = this.blocks;
    const branches = branchesAt[block + 1] - branchesAt[block];
    return branches <= MAX_KEYED_BRANCHES ? WHOLE << branches : 0;
  }

  /** Bytes of the sets of its branches. */
  private setBytes(block: number): number {
    const { trees, branchesAt, nodes } = this.blocks;
    let bytes = 0;
    for (let branch = branchesAt[block]; branch < branchesAt[block + 1]; branch++) {
      bytes += isCategoryNode(trees, nodes[branch]) ? SET_WORDS * WHOLE : 0;
    }
    return bytes;
  }

  /** @returns where the branches end */
  private writeBranches(block: number, at: number, sets: number): number {
    const { trees, branchesAt, nodes, branchPlaces, toLeft, toRight } = this.blocks;
    const { bytes, wholes } = this.memory;
    for (let branch = branchesAt[block]; branch < branchesAt[block + 1]; branch++, at += BRANCH_BYTES) {
      const node = nodes[branch];
      const isSet = isCategoryNode(trees, node);
      const from = goesMissingLeft(trees, node) ? 0 : 1;
      wholes[(at + BRANCH_COLUMN) / WHOLE] = trees.feature[node];
      bytes[at + BRANCH_FROM] = from;
      bytes[at + BRANCH_LIMIT] = trees.bin[node] + 1 - from;
      bytes[at + BRANCH_PLACE] = branchPlaces[branch];
      bytes[at + BRANCH_IS_SET] = isSet ? 1 : 0;
      wholes[(at + BRANCH_TO_LEFT) / WHOLE] = toLeft[branch];
      wholes[(at + BRANCH_TO_RIGHT) / WHOLE] = toRight[branch];
      wholes[(at + BRANCH_SET) / WHOLE] = isSet ? sets : 0;
      if (isSet) {
        const from = trees.setAt[node];
        wholes.set(trees.sets.subarray(from, from + SET_WORDS), sets / WHOLE);
        sets += SET_WORDS * WHOLE;
      }
    }
    return at;
  }

  /** Leaves, then their slots, then the values of classes. Returns the end of all. */
  private writeLeaves(block: number, at: number): number {
    const { trees, leavesAt, valuesAt, slotsAt, slotPlaces, passes } = this.blocks;
    const { wholes, floats } = this.memory;
    const { width } = trees;
    const [first, end] = [leavesAt[block], leavesAt[block + 1]];
    let slots = at + (end - first) * LEAF_RECORD_BYTES;
    let values = slots + (slotsAt[end] - slotsAt[first]) * SLOT_BYTES;
    for (let leaf = first; leaf < end; leaf++, at += LEAF_RECORD_BYTES) {
      for (let slot = slotsAt[leaf]; slot < slotsAt[leaf + 1]; slot++, slots += SLOT_BYTES) {
        wholes[slots / WHOLE] = slotPlaces[slot];
        wholes[(slots + SLOT_PASSES) / WHOLE] = passes[slot];
      }
      wholes[(at + LEAF_SLOTS_END) / WHOLE] = slots;
      if (this.isOfClasses) {
        wholes[(at + LEAF_VALUE) / WHOLE] = values;
        floats.set(trees.values.subarray(valuesAt[leaf], valuesAt[leaf] + width), values / WHOLE);
        values += width * WHOLE;
      } else {
        floats[(at + LEAF_VALUE) / WHOLE] = trees.values[valuesAt[leaf]];
      }
    }
    return values;
  }
}

/** Alignment in bytes. */
const ALIGNED = 8;

/** For blocks that found no place: as many at a time as fit are written here, and overwritten by the next. */
const SPARE_BYTES = 4_194_304;

export function aligned(bytes: number): number {
  return Math.ceil(bytes / ALIGNED) * ALIGNED;
}

/** Bytes for the rows being explained, for blocks, and for their cached results. */
interface BlockBytes {
  rows: number;
  blocks: number;
  results: number;
}

/**
 * The memory for the blocks of one model, with the kernels that read it. It goes with the model's explanations. Pages that
 * are never written cost nothing.
 */
export class BlockMemory {
  readonly kernels: Kernels;
  readonly bytes: Uint8Array;
  readonly wholes: Int32Array;
  readonly floats: Float32Array;
  readonly numbers: Float64Array;
  /** The addresses for rows, and for blocks without a place. */
  readonly rows = aligned(BLOCKS_SCRATCH_BYTES);
  readonly spare: number;
  private next: number;
  private readonly end: number;

  constructor(readonly size: BlockBytes) {
    this.spare = this.rows + aligned(size.rows);
    this.next = this.spare + SPARE_BYTES;
    this.end = this.next + aligned(size.blocks);
    const { kernels, buffer } = openOwnMemory(this.end + aligned(size.results));
    this.kernels = kernels;
    this.bytes = new Uint8Array(buffer);
    this.wholes = new Int32Array(buffer);
    this.floats = new Float32Array(buffer);
    this.numbers = new Float64Array(buffer);
    SHAPLEY_WEIGHTS.forEach((row, i) => this.numbers.set(row, SCRATCH_SHAPLEY_WEIGHTS / 8 + i * row.length));
    this.wholes[SCRATCH_NEXT_RESULT / 4] = this.end;
    this.wholes[SCRATCH_RESULTS_END / 4] = this.end + aligned(size.results);
  }

  /** Allocates bytes for blocks and returns their address, or undefined if the memory is full. */
  place(bytes: number): number | undefined {
    const at = this.next;
    const end = at + aligned(bytes);
    if (end > this.end) {
      return undefined;
    }
    this.next = end;
    return at;
  }

  /** Whether so many bytes fit where blocks without a place are written. */
  hasSpare(bytes: number): boolean {
    return bytes <= SPARE_BYTES;
  }
}
