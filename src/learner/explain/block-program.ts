import { goesMissingLeft, isCategoryNode } from '../trees/trees';
import { BRANCH, HEADER, LEAF_RECORD, SLOT } from './block-layout';
import type { BlockRoom } from './block-room';
import type { TurnWriter } from './block-turns';
import { type LeafBlocks, MOST_OF_BLOCK } from './leaf-blocks';

/** Bytes of a number. */
const WHOLE = 4;

/** Where blocks are in a room. */
export interface LaidOut {
  /** The address of the first header, the others follow. */
  headers: number;
  /** Of trees with a value for each class: where those of a block's leaves find room. */
  values: number;
}

/**
 * Lays blocks out as the functions of a room read them, with their turns.
 *
 * @param width outputs
 * @param groups of all
 * @returns undefined where there is no room
 */
export function layOut(
  blocks: LeafBlocks,
  writer: TurnWriter,
  room: BlockRoom,
  { width, groups }: { width: number; groups: number },
): LaidOut | undefined {
  const { trees, blocksAt, leavesAt, branchesAt, slotsAt } = blocks;
  const count = leavesAt.length - 1;
  const programs = new Int32Array(count);
  let size = 0;
  let turns = 0;
  for (let block = 0; block < count; block++) {
    const [first, end] = [leavesAt[block], leavesAt[block + 1]];
    programs[block] = size;
    size += (branchesAt[block + 1] - branchesAt[block]) * BRANCH.size;
    size += (end - first) * LEAF_RECORD.size + (slotsAt[end] - slotsAt[first]) * SLOT.size;
    turns += writer.sizeOf(block) * WHOLE;
  }
  const setBytes = trees.sets.length * WHOLE;
  const isOfClasses = trees.width > 1;
  const valueBytes = isOfClasses ? trees.values.length * WHOLE : 0;
  const ownBytes = isOfClasses ? (MOST_OF_BLOCK + 1) * trees.width * 8 : 0;
  const values = room.place(ownBytes + valueBytes + count * HEADER.size + setBytes + size + turns);
  if (values === undefined) {
    return undefined;
  }
  const start = values + ownBytes + valueBytes;
  const leafValues = values + ownBytes;
  if (isOfClasses) {
    room.floats.set(trees.values, leafValues / WHOLE);
  }
  const sets = start + count * HEADER.size;
  room.wholes.set(trees.sets, sets / WHOLE);
  let turnsAt = sets + setBytes + size;
  for (let tree = 0; tree < trees.roots.length; tree++) {
    const output = trees.width > 1 ? 0 : tree % width;
    for (let block = blocksAt[tree]; block < blocksAt[tree + 1]; block++) {
      const header = (start + block * HEADER.size) / WHOLE;
      const put = (offset: number, value: number) => (room.wholes[header + offset / WHOLE] = value);
      const rowNumbers = writer.sizeOf(block) / blocks.rows;
      put(HEADER.turns, turnsAt);
      put(HEADER.orderBytes, writer.turnsOf(block) * 2 * WHOLE);
      put(HEADER.rowBytes, rowNumbers * WHOLE);
      put(HEADER.places, blocks.placesAt[block + 1] - blocks.placesAt[block]);
      put(HEADER.output, output * 8);
      put(HEADER.mixtureBytes, width * 8);
      put(HEADER.effects, output * groups * 8);
      writer.write(block, room.wholes, turnsAt / WHOLE);
      turnsAt += writer.sizeOf(block) * WHOLE;
      let at = sets + setBytes + programs[block];
      put(HEADER.branches, at);
      at = writeBranches(blocks, block, room, at, sets);
      put(HEADER.branchesEnd, at);
      put(HEADER.leaves, at);
      put(HEADER.leavesEnd, writeLeaves(blocks, block, room, at, leafValues));
    }
  }
  return { headers: start, values };
}

function writeBranches(
  { trees, branchesAt, nodes, branchPlaces, toLeft, toRight }: LeafBlocks,
  block: number,
  { bytes, wholes }: BlockRoom,
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

/** Returns where the leaves end, and their slots begin. */
function writeLeaves(
  { trees, leavesAt, placesAt, groups, valuesAt, slotsAt, slotPlaces, passes }: LeafBlocks,
  block: number,
  { wholes, floats }: BlockRoom,
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
      wholes[to / WHOLE] = ((groups[placesAt[block] + place] * width * 8) << (8 * SLOT.group)) | place;
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
