import { goesMissingLeft, isCategoryNode } from '../../trees/trees';
import type { FlipWriter } from './block-flips';
import type { BlockMemory } from './block-memory';
import { BRANCH, CHANGE, HEADER, LEAF_RECORD, RESULT, SLOT } from './kernel/block-layout';
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
 * Writes blocks, with their flips, to the memory in the format of `kernel/block-layout.ts`.
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
    size += (branchesAt[block + 1] - branchesAt[block]) * BRANCH.size;
    size += (end - first) * LEAF_RECORD.size + (slotsAt[end] - slotsAt[first]) * SLOT.size;
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
    scratchBytes + valueBytes + count * HEADER.size + setBytes + size + targetBytes + keys + flips,
  );
  if (scratch === undefined) {
    return undefined;
  }
  const leafValues = scratch + scratchBytes;
  const start = leafValues + valueBytes;
  if (isOfClasses) {
    memory.floats.set(trees.values, leafValues / WHOLE);
  }
  const sets = start + count * HEADER.size;
  memory.wholes.set(trees.sets, sets / WHOLE);
  const targets = sets + setBytes + size;
  let keysAt = targets + targetBytes;
  let flipsAt = keysAt + keys;
  for (let tree = 0; tree < trees.roots.length; tree++) {
    const output = isOfClasses ? 0 : tree % width;
    for (let block = blocksAt[tree]; block < blocksAt[tree + 1]; block++) {
      const header = (start + block * HEADER.size) / WHOLE;
      const put = (offset: number, value: number) => (memory.wholes[header + offset / WHOLE] = value);
      const rowNumbers = writer.sizeOf(block) / blocks.rows;
      put(HEADER.flips, flipsAt);
      put(HEADER.permutationBytes, writer.flipsOf(block) * 2 * WHOLE);
      put(HEADER.rowBytes, rowNumbers * WHOLE);
      put(HEADER.places, placesAt[block + 1] - placesAt[block]);
      put(HEADER.output, output * 8);
      put(HEADER.mixtureBytes, width * 8);
      writer.write(block, memory.wholes, flipsAt / WHOLE);
      flipsAt += writer.sizeOf(block) * WHOLE;
      let at = sets + setBytes + programs[block];
      put(HEADER.branches, at);
      at = writeBranches(blocks, block, memory, at, sets);
      put(HEADER.branchesEnd, at);
      put(HEADER.leaves, at);
      put(HEADER.leavesEnd, writeLeaves(blocks, block, memory, at, leafValues));
      if (!isOfClasses) {
        const bytes = isKeyed ? keyBytes(blocks, block) : 0;
        put(HEADER.targets, targets + placesAt[block] * WHOLE);
        put(HEADER.keys, bytes > 0 ? keysAt : 0);
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
  return Math.ceil((RESULT.effects + places * 8 + (permutations * places + 1) * CHANGE.bytes) / 8) * 8;
}

function writeBranches(
  { trees, branchesAt, nodes, branchPlaces, toLeft, toRight }: LeafBlocks,
  block: number,
  { bytes, wholes }: BlockMemory,
  at: number,
  sets: number,
): number {
  for (let branch = branchesAt[block]; branch < branchesAt[block + 1]; branch++, at += BRANCH.size) {
    const node = nodes[branch];
    const isSet = isCategoryNode(trees, node);
    const from = goesMissingLeft(trees, node) ? 0 : 1;
    wholes[(at + BRANCH.column) / WHOLE] = trees.feature[node];
    bytes[at + BRANCH.from] = from;
    bytes[at + BRANCH.limit] = trees.bin[node] + 1 - from;
    bytes[at + BRANCH.place] = branchPlaces[branch];
    bytes[at + BRANCH.isSet] = isSet ? 1 : 0;
    wholes[(at + BRANCH.toLeft) / WHOLE] = toLeft[branch];
    wholes[(at + BRANCH.toRight) / WHOLE] = toRight[branch];
    wholes[(at + BRANCH.set) / WHOLE] = isSet ? sets + trees.setAt[node] * WHOLE : 0;
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
  const leavesEnd = at + (last - first) * LEAF_RECORD.size;
  let to = leavesEnd;
  for (let leaf = first; leaf < last; leaf++, at += LEAF_RECORD.size) {
    for (let slot = slotsAt[leaf]; slot < slotsAt[leaf + 1]; slot++, to += SLOT.size) {
      const place = slotPlaces[slot];
      const effects = width === 1 ? place : groups[placesAt[block] + place] * width;
      wholes[to / WHOLE] = ((effects * 8) << (8 * SLOT.effects)) | place;
      wholes[(to + SLOT.passes) / WHOLE] = passes[slot];
    }
    if (width === 1) {
      floats[(at + LEAF_RECORD.value) / WHOLE] = trees.values[valuesAt[leaf]];
    } else {
      wholes[(at + LEAF_RECORD.value) / WHOLE] = leafValues + valuesAt[leaf] * WHOLE;
    }
    wholes[(at + LEAF_RECORD.slotsEnd) / WHOLE] = to;
  }
  return leavesEnd;
}
