import {
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
  HEADER_FLIPS,
  HEADER_KEYS,
  HEADER_LEAVES,
  HEADER_LEAVES_END,
  HEADER_MIXTURE_BYTES,
  HEADER_OUTPUT,
  HEADER_PERMUTATION_BYTES,
  HEADER_PLACES,
  HEADER_ROW_BYTES,
  HEADER_TARGETS,
  LEAF_RECORD_BYTES,
  LEAF_SLOTS_END,
  LEAF_VALUE,
  RESULT_EFFECTS,
  SLOT_BYTES,
  SLOT_EFFECTS_BIT,
  SLOT_PASSES,
} from '../../kernels/blocks-layout';
import { goesMissingLeft, isCategoryNode } from '../../trees/trees';
import type { FlipWriter } from './block-flips';
import type { BlockMemory } from './block-memory';
import { BLOCK_LEAVES, type LeafBlocks } from './leaf-blocks';

/** Bytes of a 32-bit integer. */
const WHOLE = 4;

/** Results are cached only for blocks with at most this many branches: with more, few rows share a key. */
const MAX_KEYED_BRANCHES = 8;

/** The addresses of some blocks. */
export interface BlockAddresses {
  /** Of the first header. The others follow it. */
  headers: number;
  /**
   * Of scratch space: for the longest cached result or, for trees with a value per class, for the values of a block's
   * leaves.
   */
  scratch: number;
}

/**
 * Writes blocks, with their flips, to the memory in the format of `kernels/blocks-layout.ts`.
 *
 * @param width outputs
 * @param groups number of all groups
 * @returns undefined if the memory is full
 */
export function writeBlocks(
  blocks: LeafBlocks,
  writer: FlipWriter,
  memory: BlockMemory,
  { width, groups }: { width: number; groups: number },
): BlockAddresses | undefined {
  const { trees, blocksAt, leavesAt, placesAt, branchesAt, slotsAt } = blocks;
  const isOfClasses = trees.width > 1;
  const isKeyed = !isOfClasses && memory.hasResults;
  const count = leavesAt.length - 1;
  const programs = new Int32Array(count);
  let size = 0;
  let flips = 0;
  let keys = 0;
  for (let block = 0; block < count; block++) {
    const [first, end] = [leavesAt[block], leavesAt[block + 1]];
    programs[block] = size;
    size += (branchesAt[block + 1] - branchesAt[block]) * BRANCH_BYTES;
    size += (end - first) * LEAF_RECORD_BYTES + (slotsAt[end] - slotsAt[first]) * SLOT_BYTES;
    flips += writer.sizeOf(block) * WHOLE;
    keys += isKeyed ? keyBytes(blocks, block) : 0;
  }
  const setBytes = trees.sets.length * WHOLE;
  const targetBytes = isOfClasses ? 0 : placesAt[count] * WHOLE;
  const valueBytes = isOfClasses ? trees.values.length * WHOLE : 0;
  const scratchBytes = isOfClasses
    ? (BLOCK_LEAVES + 1) * trees.width * 8
    : resultBytes(blocks.maxPlaces, writer.permutationCount);
  const scratch = memory.place(
    scratchBytes + valueBytes + count * HEADER_BYTES + setBytes + size + targetBytes + keys + flips,
  );
  if (scratch === undefined) {
    return undefined;
  }
  const leafValues = scratch + scratchBytes;
  const start = leafValues + valueBytes;
  if (isOfClasses) {
    memory.floats.set(trees.values, leafValues / WHOLE);
  }
  const sets = start + count * HEADER_BYTES;
  memory.wholes.set(trees.sets, sets / WHOLE);
  const targets = sets + setBytes + size;
  let keysAt = targets + targetBytes;
  let flipsAt = keysAt + keys;
  for (let tree = 0; tree < trees.roots.length; tree++) {
    const output = isOfClasses ? 0 : tree % width;
    for (let block = blocksAt[tree]; block < blocksAt[tree + 1]; block++) {
      const header = (start + block * HEADER_BYTES) / WHOLE;
      const put = (offset: number, value: number) => (memory.wholes[header + offset / WHOLE] = value);
      const rowNumbers = writer.sizeOf(block) / blocks.rows;
      put(HEADER_FLIPS, flipsAt);
      put(HEADER_PERMUTATION_BYTES, writer.flipsOf(block) * 2 * WHOLE);
      put(HEADER_ROW_BYTES, rowNumbers * WHOLE);
      put(HEADER_PLACES, placesAt[block + 1] - placesAt[block]);
      put(HEADER_OUTPUT, output * 8);
      put(HEADER_MIXTURE_BYTES, width * 8);
      writer.write(block, memory.wholes, flipsAt / WHOLE);
      flipsAt += writer.sizeOf(block) * WHOLE;
      let at = sets + setBytes + programs[block];
      put(HEADER_BRANCHES, at);
      at = writeBranches(blocks, block, memory, at, sets);
      put(HEADER_BRANCHES_END, at);
      put(HEADER_LEAVES, at);
      put(HEADER_LEAVES_END, writeLeaves(blocks, block, memory, at, leafValues));
      if (!isOfClasses) {
        const bytes = isKeyed ? keyBytes(blocks, block) : 0;
        put(HEADER_TARGETS, targets + placesAt[block] * WHOLE);
        put(HEADER_KEYS, bytes > 0 ? keysAt : 0);
        keysAt += bytes;
        for (let place = placesAt[block]; place < placesAt[block + 1]; place++) {
          memory.wholes[targets / WHOLE + place] = (output * groups + blocks.groups[place]) * 8;
        }
      }
    }
  }
  return { headers: start, scratch };
}

/** Bytes of a block's table of cached results. */
function keyBytes({ branchesAt }: LeafBlocks, block: number): number {
  const branches = branchesAt[block + 1] - branchesAt[block];
  return branches <= MAX_KEYED_BRANCHES ? WHOLE << branches : 0;
}

/** Most bytes of a result. The slot after the last change is written to, but not counted. */
function resultBytes(places: number, permutations: number): number {
  return Math.ceil((RESULT_EFFECTS + places * 8 + (permutations * places + 1) * CHANGE_BYTES) / 8) * 8;
}

function writeBranches(
  { trees, branchesAt, nodes, branchPlaces, toLeft, toRight }: LeafBlocks,
  block: number,
  { bytes, wholes }: BlockMemory,
  at: number,
  sets: number,
): number {
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
    wholes[(at + BRANCH_SET) / WHOLE] = isSet ? sets + trees.setAt[node] * WHOLE : 0;
  }
  return at;
}

/** Returns where the leaves end and their slots begin. */
function writeLeaves(
  { trees, leavesAt, placesAt, groups, valuesAt, slotsAt, slotPlaces, passes }: LeafBlocks,
  block: number,
  { wholes, floats }: BlockMemory,
  at: number,
  leafValues: number,
): number {
  const { width } = trees;
  const [first, last] = [leavesAt[block], leavesAt[block + 1]];
  const leavesEnd = at + (last - first) * LEAF_RECORD_BYTES;
  let to = leavesEnd;
  for (let leaf = first; leaf < last; leaf++, at += LEAF_RECORD_BYTES) {
    for (let slot = slotsAt[leaf]; slot < slotsAt[leaf + 1]; slot++, to += SLOT_BYTES) {
      const place = slotPlaces[slot];
      const effects = width === 1 ? place : groups[placesAt[block] + place] * width;
      wholes[to / WHOLE] = ((effects * 8) << SLOT_EFFECTS_BIT) | place;
      wholes[(to + SLOT_PASSES) / WHOLE] = passes[slot];
    }
    if (width === 1) {
      floats[(at + LEAF_VALUE) / WHOLE] = trees.values[valuesAt[leaf]];
    } else {
      wholes[(at + LEAF_VALUE) / WHOLE] = leafValues + valuesAt[leaf] * WHOLE;
    }
    wholes[(at + LEAF_SLOTS_END) / WHOLE] = to;
  }
  return leavesEnd;
}
