import { Random } from '../math/random';
import type { Background } from '../model/background';
import type { Trees } from '../trees/trees';
import { CoalitionTable } from './coalition-table';
import { EffectTable } from './effect-table';
import { OrderTable } from './order-table';
import { drawOrders, mixturesOf, type Orders } from './orders';
import { ReachedLeaves } from './reached-leaves';
import { ReachedSubtrees } from './reached-subtrees';
import { countKeys, cutTrees, type Subtrees } from './subtrees';
import { findWays, type Ways, type WaysSize, waysSize } from './ways';

/** Of one model leaves whose ways are kept, some 150 bytes each. */
const MOST_LEAVES = 100_000;
/** Bytes of effects of one model, and of changes along orders. */
const EFFECT_BYTES = 20_000_000;
const ORDER_BYTES = 24_000_000;
/**
 * Bits of the keys of subtrees: as many as leave at most so many keys for each node. With more bits fewer rows have the
 * same key. Changes along orders take more room, some 160 bytes for each key and order: so many keys fit.
 */
const KEY_BITS = [5, 4, 3];
const EFFECT_KEYS = 16;
const ORDER_KEYS = 150_000;
/** Cells in the lists of one model, 2 bytes each. */
const MOST_CELLS = 10_000_000;
/** Keys of all subtrees of one model, and sets of failed slots of all its leaves, 4 bytes each. */
const MOST_KEYS = 4_000_000;
/** What the number of a mixture may be, plus 1. */
const MIXTURES = 2 ** 16;
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
  private orderRoom = { bytes: ORDER_BYTES, keys: MOST_KEYS };
  private orderKeys = 0;
  private readonly orderTables = new Map<Trees, OrderTable | undefined>();
  /** Used again and again. */
  readonly reached = new ReachedLeaves();
  readonly reachedSubtrees = new ReachedSubtrees();

  constructor(
    readonly background: Background,
    readonly groupOf: Int32Array,
  ) {}

  /** The ways of some trees; undefined where there are too many of them. */
  readonly ways = (trees: Trees): Ways | undefined => this.find(trees)?.ways;

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
   * Where mixtures change along orders (of `orders`), as some trees see it; undefined where their ways are not known.
   *
   * @param width outputs of the member that has the trees
   */
  orderTable(trees: Trees, orders: Orders, width: number): OrderTable | undefined {
    if (!this.orderTables.has(trees)) {
      const fits = mixturesOf(orders) <= MIXTURES;
      const subtrees = fits ? this.subtreesOf(trees, this.orderKeys, this.orderRoom) : undefined;
      this.orderTables.set(
        trees,
        subtrees && new OrderTable(subtrees, this.background, orders, width, this.orderRoom),
      );
    }
    return this.orderTables.get(trees);
  }

  /**
   * Orders for each member of an ensemble, the same each time. Those of the second, fourth … are the reverse of those of
   * the one before.
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
      this.orderTables.clear();
      this.orderRoom = { bytes: ORDER_BYTES, keys: MOST_KEYS };
      this.orderKeys = ORDER_KEYS / (perRow * nodes);
      this.drawn = Array.from({ length: members }, (_, m) =>
        drawOrders(
          this.background.rows,
          { perRow, reversed: m % 2 === 1 },
          { common, groups },
          new Random(SEED + Math.floor(m / 2)),
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
