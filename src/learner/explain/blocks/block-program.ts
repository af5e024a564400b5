import { goesMissingLeft, isCategoryNode } from '../../trees/trees';
import type { BlockRoom } from './block-room';
import type { TurnWriter } from './block-turns';
import { BRANCH, CHANGE, ENTRY, HEADER, LEAF_RECORD, SLOT } from './kernel/block-layout';
import { type LeafBlocks, MOST_OF_BLOCK } from './leaf-blocks';

/** Bytes of a number. */
const WHOLE = 4;

/** Branches of a block at most of which entries are kept: with more, few rows go the same ways. */
const MOST_KEYED = 8;

/** Where blocks are in a room. */
export interface LaidOut {
  /** The address of the first header, the others follow. */
  headers: number;
  /** Room for the longest entry; of trees with a value for each class, for those of a block's leaves. */
  scratch: number;
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
  const { trees, blocksAt, leavesAt, placesAt, branchesAt, slotsAt } = blocks;
  const isOfClasses = trees.width > 1;
  const isKeyed = !isOfClasses && room.hasEntries;
  const count = leavesAt.length - 1;
  const programs = new Int32Array(count);
  let size = 0;
  let turns = 0;
  let keys = 0;
  for (let block = 0; block < count; block++) {
    const [first, end] = [leavesAt[block], leavesAt[block + 1]];
    programs[block] = size;
    size += (branchesAt[block + 1] - branchesAt[block]) * BRANCH.size;
    size += (end - first) * LEAF_RECORD.size + (slotsAt[end] - slotsAt[first]) * SLOT.size;
    turns += writer.sizeOf(block) * WHOLE;
    keys += isKeyed ? keyBytes(blocks, block) : 0;
  }
  const setBytes = trees.sets.length * WHOLE;
  const targetBytes = isOfClasses ? 0 : placesAt[count] * WHOLE;
  const valueBytes = isOfClasses ? trees.values.length * WHOLE : 0;
  const scratchBytes = isOfClasses
    ? (MOST_OF_BLOCK + 1) * trees.width * 8
    : entryBytes(blocks.mostPlaces, writer.orderCount);
  const scratch = room.place(
    scratchBytes + valueBytes + count * HEADER.size + setBytes + size + targetBytes + keys + turns,
  );
  if (scratch === undefined) {
    return undefined;
  }
  const leafValues = scratch + scratchBytes;
  const start = leafValues + valueBytes;
  if (isOfClasses) {
    room.floats.set(trees.values, leafValues / WHOLE);
  }
  const sets = start + count * HEADER.size;
  room.wholes.set(trees.sets, sets / WHOLE);
  const targets = sets + setBytes + size;
  let keysAt = targets + targetBytes;
  let turnsAt = keysAt + keys;
  for (let tree = 0; tree < trees.roots.length; tree++) {
    const output = isOfClasses ? 0 : tree % width;
    for (let block = blocksAt[tree]; block < blocksAt[tree + 1]; block++) {
      const header = (start + block * HEADER.size) / WHOLE;
      const put = (offset: number, value: number) => (room.wholes[header + offset / WHOLE] = value);
      const rowNumbers = writer.sizeOf(block) / blocks.rows;
      put(HEADER.turns, turnsAt);
      put(HEADER.orderBytes, writer.turnsOf(block) * 2 * WHOLE);
      put(HEADER.rowBytes, rowNumbers * WHOLE);
      put(HEADER.places, placesAt[block + 1] - placesAt[block]);
      put(HEADER.output, output * 8);
      put(HEADER.mixtureBytes, width * 8);
      writer.write(block, room.wholes, turnsAt / WHOLE);
      turnsAt += writer.sizeOf(block) * WHOLE;
      let at = sets + setBytes + programs[block];
      put(HEADER.branches, at);
      at = writeBranches(blocks, block, room, at, sets);
      put(HEADER.branchesEnd, at);
      put(HEADER.leaves, at);
      put(HEADER.leavesEnd, writeLeaves(blocks, block, room, at, leafValues));
      if (!isOfClasses) {
        const bytes = isKeyed ? keyBytes(blocks, block) : 0;
        put(HEADER.targets, targets + placesAt[block] * WHOLE);
        put(HEADER.keys, bytes > 0 ? keysAt : 0);
        keysAt += bytes;
        for (let place = placesAt[block]; place < placesAt[block + 1]; place++) {
          room.wholes[targets / WHOLE + place] = (output * groups + blocks.groups[place]) * 8;
        }
      }
    }
  }
  return { headers: start, scratch };
}

/** Bytes of the addresses of a block's entries. */
function keyBytes({ branchesAt }: LeafBlocks, block: number): number {
  const branches = branchesAt[block + 1] - branchesAt[block];
  return branches <= MOST_KEYED ? WHOLE << branches : 0;
}

/** Bytes of an entry, at most; one change more is written and not kept. */
function entryBytes(places: number, orders: number): number {
  return Math.ceil((ENTRY.effects + places * 8 + (orders * places + 1) * CHANGE.bytes) / 8) * 8;
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
