import { Random } from '../../math/random';
import type { Background } from '../../model/background';
import type { Trees } from '../../trees/trees';
import { BlockRoom } from '../blocks/block-room';
import { makeFollower, type TreeFollower } from '../blocks/follower';
import { leafBlocks } from '../blocks/leaf-blocks';
import { drawOrders, mixturesOf, type Orders } from '../shapley/orders';
import { CoalitionTable } from '../tree-shap/coalition-table';
import { EffectTable } from '../tree-shap/effect-table';
import { ReachedLeaves } from '../tree-shap/reached-leaves';
import { ReachedSubtrees } from '../tree-shap/reached-subtrees';
import { countKeys, cutTrees, type Subtrees } from '../tree-shap/subtrees';
import { findWays, type Ways, type WaysSize, waysSize } from '../tree-shap/ways';

/** Of one model leaves whose ways are kept, some 150 bytes each. */
const MOST_LEAVES = 100_000;
/** Bytes of effects of one model. */
const EFFECT_BYTES = 20_000_000;
/**
 * Bytes of the blocks of one model that are followed along orders, in WebAssembly, with what is kept of them by the ways of
 * rows; some so many for a node, and its orders.
 */
const ROOM_BYTES = 55_000_000;
const NODE_BYTES = 130;
const ORDER_BYTES = 100;
const ENTRY_BYTES = 450;
/** Bytes of the turns of others, and leaves of these, some 40 bytes each. */
const SPARE_BYTES = 12_000_000;
const SPARE_LEAVES = 200_000;
/**
 * Bits of the keys of subtrees: as many as leave at most so many keys for each node. With more bits fewer rows have the
 * same key.
 */
const KEY_BITS = [5, 4, 3];
const EFFECT_KEYS = 16;
/** Cells in the lists of one model, 2 bytes each. */
const MOST_CELLS = 10_000_000;
/** Keys of all subtrees of one model, and sets of failed slots of all its leaves, 4 bytes each. */
const MOST_KEYS = 4_000_000;
/** Orders are the same each time. */
const SEED = 7;
/** Models of which these are kept. */
const MOST_MODELS = 3;

/** What explanations keep of a model's trees, for one division of its columns into groups. */
export class KeptWays {
  private leaves = MOST_LEAVES;
  private readonly known = new Map<Trees, { ways: Ways; size: WaysSize } | undefined>();
  private readonly cut = new Map<Trees, Map<number, Subtrees>>();
  private readonly effectRoom = { bytes: EFFECT_BYTES, keys: MOST_KEYS };
  private readonly effectTables = new Map<Trees, EffectTable | undefined>();
  private coalitionRoom = { cells: MOST_CELLS, patterns: MOST_KEYS };
  private readonly coalitionTables = new Map<Trees, CoalitionTable | undefined>();
  private players: number[] = [];
  private drawn: Orders[] = [];
  private readonly followers = new Map<Trees, TreeFollower>();
  private room: BlockRoom | 'none' | undefined;
  private roomBytes = { blocks: 0, entries: 0 };
  private spare = { bytes: SPARE_BYTES, leaves: SPARE_LEAVES };
  /** Used again and again. */
  readonly reached = new ReachedLeaves();
  readonly reachedSubtrees = new ReachedSubtrees();

  constructor(
    readonly background: Background,
    readonly groupOf: Int32Array,
  ) {}

  /** The ways of some trees; undefined where there are too many of them. */
  readonly ways = (trees: Trees): Ways | undefined => this.find(trees)?.ways;

  /**
   * What follows some trees along orders (of `orders`).
   *
   * @param width outputs of the member that has the trees
   */
  follower(trees: Trees, orders: Orders, width: number): TreeFollower {
    const known = this.followers.get(trees);
    if (known) {
      return known;
    }
    const { background, groupOf, spare } = this;
    if (this.room === undefined) {
      const scores = mixturesOf(orders) * width;
      const size = { scores, effects: width * orders.groups, columns: background.columns.length };
      this.room = BlockRoom.open(size, this.roomBytes) ?? 'none';
    }
    const room = this.room === 'none' ? undefined : this.room;
    const blocks = leafBlocks(trees, background, groupOf);
    const { follower, leaves } = makeFollower(blocks, orders, width, room, spare);
    if (leaves <= spare.leaves) {
      spare.leaves -= leaves;
      this.followers.set(trees, follower);
    }
    return follower;
  }

  /** The effects of trees; undefined where there are too many ways through them. */
  effectTable(trees: Trees): EffectTable | undefined {
    if (!this.effectTables.has(trees)) {
      const subtrees = this.subtreesOf(trees, EFFECT_KEYS, this.effectRoom);
      this.effectTables.set(trees, subtrees && new EffectTable(subtrees, this.effectRoom));
    }
    return this.effectTables.get(trees);
  }

  /**
   * In which coalitions the leaves of some trees count; undefined where their ways are not known.
   *
   * @param players numbers of groups; bit i of a coalition is for the i-th
   */
  coalitionTable(trees: Trees, players: number[]): CoalitionTable | undefined {
    if (this.players.join() !== players.join()) {
      this.players = players;
      this.coalitionTables.clear();
      this.coalitionRoom = { cells: MOST_CELLS, patterns: MOST_KEYS };
    }
    if (!this.coalitionTables.has(trees)) {
      const known = this.find(trees);
      const fits = known !== undefined && known.size.patterns <= this.coalitionRoom.patterns;
      this.coalitionRoom.patterns -= fits ? known.size.patterns : 0;
      const bitOf = new Int32Array(Math.max(0, ...this.groupOf) + 1);
      players.forEach((group, i) => (bitOf[group] = 1 << i));
      this.coalitionTables.set(
        trees,
        fits ? new CoalitionTable(known.ways, this.coalitionRoom, bitOf, players.length) : undefined,
      );
    }
    return this.coalitionTables.get(trees);
  }

  /**
   * Orders for each member of an ensemble, the same each time. Where a member has an odd number of them for a row, those of
   * the second, fourth … are the reverse of those of the one before; else each has the reverse of its own.
   *
   * @param common the groups that may differ
   * @param groups of all
   * @param perRow orders for each row of the background
   * @param nodes of all trees
   */
  orders(
    members: number,
    { common, groups }: { common: number[]; groups: number },
    { perRow, nodes }: { perRow: number; nodes: number },
  ): Orders[] {
    const [known] = this.drawn;
    const isKnown =
      this.drawn.length === members &&
      known.perRow === perRow &&
      known.groups === groups &&
      known.common.join() === common.join();
    if (!isKnown) {
      this.followers.clear();
      this.room = undefined;
      const blocks = Math.min(ROOM_BYTES, nodes * (NODE_BYTES + ORDER_BYTES * perRow));
      const entries = Math.min(ROOM_BYTES - blocks, nodes * ENTRY_BYTES * perRow);
      this.roomBytes = { blocks, entries };
      this.spare = { bytes: SPARE_BYTES, leaves: SPARE_LEAVES };
      const isOdd = perRow % 2 === 1;
      this.drawn = Array.from({ length: members }, (_, m) =>
        drawOrders(
          this.background.rows,
          { perRow, reversed: isOdd && m % 2 === 1 },
          { common, groups },
          new Random(SEED + (isOdd ? Math.floor(m / 2) : m)),
        ),
      );
    }
    return this.drawn;
  }

  private subtreesOf(trees: Trees, perNode: number, room: { keys: number }): Subtrees | undefined {
    const ways = this.ways(trees);
    if (ways === undefined) {
      return undefined;
    }
    const most = perNode * trees.feature.length;
    const bits = KEY_BITS.find((some) => countKeys(trees, ways, some) <= most) ?? 0;
    const keys = countKeys(trees, ways, bits);
    if (keys > room.keys) {
      return undefined;
    }
    room.keys -= keys;
    const cut = this.cut.get(trees) ?? new Map<number, Subtrees>();
    this.cut.set(trees, cut);
    const subtrees = cut.get(bits) ?? cutTrees(trees, ways, bits);
    cut.set(bits, subtrees);
    return subtrees;
  }

  private find(trees: Trees): { ways: Ways; size: WaysSize } | undefined {
    if (!this.known.has(trees)) {
      const { background, groupOf } = this;
      const size = waysSize(trees, background, groupOf, this.leaves);
      this.leaves -= size?.leaves ?? 0;
      this.known.set(trees, size && { ways: findWays(trees, background, groupOf, size), size });
    }
    return this.known.get(trees);
  }
}

/** The latest used last. */
const kept: KeptWays[] = [];

/** What is kept of the model with this background: of the models explained last, and begun for another one. */
export function keptWays(background: Background, groupOf: Int32Array): KeptWays {
  const at = kept.findIndex(
    (one) => one.background === background && groupOf.every((group, column) => group === one.groupOf[column]),
  );
  const own = at < 0 ? new KeptWays(background, groupOf) : kept.splice(at, 1)[0];
  kept.push(own);
  kept.splice(0, kept.length - MOST_MODELS);
  return own;
}
