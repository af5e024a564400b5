import { MOST_SLOTS } from '../../shapley/shares';

/* How blocks, and what is worked out of them, lie in the memory of `block-kernel.ts`: all in bytes. */

/** Where a header has what, in bytes. */
export const HEADER = {
  branches: 0,
  branchesEnd: 4,
  leaves: 8,
  leavesEnd: 12,
  turns: 16,
  /** Bytes of the turns of an order, and of a row of the background. */
  orderBytes: 20,
  rowBytes: 24,
  places: 28,
  /** From the first score of a mixture to that of the block's output, and to those of the next mixture. */
  output: 32,
  mixtureBytes: 36,
  /**
   * Of trees with one value a leaf: where the places' effects are, each in bytes behind the first one of all, and per key of
   * a row the address of its entry, 0 where it has none. No keys (0) for blocks of many branches.
   */
  targets: 40,
  keys: 44,
  size: 48,
};

/**
 * An entry: what a block says of a row (see `block-entries-kernel.ts`). How many bytes it takes, then an effect for each place,
 * then the changes along orders.
 */
export const ENTRY = { size: 0, effects: 8 };

/** A change: its mixture, above the leaf before and the leaf now, each as the zeros before the leaf's bit. */
export const CHANGE = { leafBits: 6, bytes: 4 };

/** A branch: it sends bins to the left whose distance from `from` is below `limit` (modulo 256), or those of a set. */
export const BRANCH = {
  column: 0,
  from: 4,
  limit: 5,
  place: 6,
  isSet: 7,
  toLeft: 8,
  toRight: 12,
  set: 16,
  size: 20,
};

/**
 * A leaf: its value (32 bits), or where those for each class are, and where its slots end. They follow those of the leaf
 * before.
 */
export const LEAF_RECORD = { value: 0, slotsEnd: 4, size: 8 };

/**
 * A slot: its place, in the other bytes how far its effects are from the first ones (of its place in the block, or of its
 * group where leaves have a value for each class), and the background's rows that pass.
 */
export const SLOT = { place: 0, effects: 1, passes: 4, size: 8 };

/** Bytes of a row of `SHARES`. */
export const SHARES_ROW = 8 * (MOST_SLOTS + 1);

/** Numbers of a turn: its mixture above its place, and the leaves within reach. */
export const TURN = 2;
/** Bits of the place in the first of them. */
export const PLACE_BITS = 8;

/** What lies at the beginning of the memory, in bytes. */
export const SCRATCH = {
  /** What the row passes, and the values of leaves, as `findPasses` and `BlockSteps` have them. */
  own: 0,
  values: 1024,
  /** As `addBlockEffects` has them: the rows that fail a slot and its group, groups of slots outside, rows by how many they fail. */
  inside: 1296,
  outside: 1824,
  failingSo: 2096,
  /** Where the next entry finds room, and where this ends. */
  nextEntry: 2352,
  entriesEnd: 2356,
  /** `SHARES`. */
  shares: 2368,
  size: 2368 + SHARES_ROW * (MOST_SLOTS + 1),
};
