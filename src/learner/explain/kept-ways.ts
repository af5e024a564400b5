import { Random } from '../math/random';
import type { Background } from '../model/background';
import type { Trees } from '../trees/trees';
import type { CellTable } from './cell-table';
import { CoalitionCells } from './coalition-cells';
import { EffectTable } from './effect-table';
import { OrderCells } from './order-cells';
import { drawOrders, type Orders } from './orders';
import { ReachedLeaves } from './reached-leaves';
import { findWays, type Ways, type WaysSize, waysSize } from './ways';

/** Of one model leaves whose ways are kept, some 150 bytes each, and effects in tables, 8 bytes each. */
const MOST_LEAVES = 100_000;
const MOST_EFFECTS = 2_500_000;
/** Cells in the lists of one model, 2 bytes each. */
const MOST_CELLS = 10_000_000;
/** Sets of failed slots of all leaves of one model, for which lists of cells may be made: 4 bytes each. */
const MOST_PATTERNS = 4_000_000;
/** What the number of a cell may be, plus 1. */
const CELL_NUMBERS = 2 ** 16;
/** Orders are the same each time. */
const SEED = 7;
/** Models of which these are kept. */
const MOST_MODELS = 3;

/** What explanations keep of a model's trees, for one division of its columns into groups. */
export class KeptWays {
  private leaves = MOST_LEAVES;
  private effects = MOST_EFFECTS;
  private readonly known = new Map<Trees, { ways: Ways; size: WaysSize } | undefined>();
  private layout: unknown;
  private room = { cells: MOST_CELLS, patterns: MOST_PATTERNS };
  private readonly cellTables = new Map<Trees, CellTable | undefined>();
  private readonly tables = new Map<Trees, EffectTable | undefined>();
  private players: number[] = [];
  private drawn: Orders[] = [];
  /** Used again and again. */
  readonly reached = new ReachedLeaves();

  constructor(
    readonly background: Background,
    readonly groupOf: Int32Array,
  ) {}

  /** The ways of some trees; undefined where there are too many of them. */
  readonly ways = (trees: Trees): Ways | undefined => this.find(trees)?.ways;

  /** The effects of trees; undefined where there are too many of them. */
  table(trees: Trees): EffectTable | undefined {
    if (!this.tables.has(trees)) {
      const known = this.find(trees);
      const fits = known !== undefined && known.size.effects <= this.effects;
      this.effects -= fits ? known.size.effects : 0;
      this.tables.set(trees, fits ? new EffectTable(known.ways, known.size) : undefined);
    }
    return this.tables.get(trees);
  }

  /**
   * In which coalitions the leaves of some trees count; undefined where their ways are not known.
   *
   * @param players numbers of groups; bit i of a coalition is for the i-th
   */
  coalitionCells(trees: Trees, players: number[]): CellTable | undefined {
    if (this.players.join() !== players.join()) {
      this.players = players;
    }
    return this.cells(trees, this.players, (ways) => {
      const bitOf = new Int32Array(Math.max(0, ...this.groupOf) + 1);
      players.forEach((group, i) => (bitOf[group] = 1 << i));
      return new CoalitionCells(ways, this.room, bitOf, players.length);
    });
  }

  /** At which steps of orders (of `orders`) the leaves of some trees count; undefined where their ways are not known. */
  orderCells(trees: Trees, orders: Orders): CellTable | undefined {
    const numbers = orders.rows * orders.perRow * orders.steps;
    return numbers > CELL_NUMBERS
      ? undefined
      : this.cells(trees, this.drawn, (ways) => new OrderCells(ways, this.room, orders));
  }

  /**
   * Orders for each member of an ensemble, the same each time. Those of the second, fourth … are the reverse of those of
   * the one before.
   *
   * @param common the groups that may differ
   * @param groups of all
   * @param perRow orders for each row of the background
   */
  orders(members: number, common: number[], groups: number, perRow: number): Orders[] {
    const [known] = this.drawn;
    const isKnown =
      this.drawn.length === members &&
      known.perRow === perRow &&
      known.groups === groups &&
      known.common.join() === common.join();
    if (!isKnown) {
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

  /** The tables of one layout of cells: those of another are forgotten. */
  private cells(trees: Trees, layout: object, make: (ways: Ways) => CellTable): CellTable | undefined {
    if (this.layout !== layout) {
      this.layout = layout;
      this.cellTables.clear();
      this.room = { cells: MOST_CELLS, patterns: MOST_PATTERNS };
    }
    if (!this.cellTables.has(trees)) {
      const known = this.find(trees);
      const fits = known !== undefined && known.size.patterns <= this.room.patterns;
      this.room.patterns -= fits ? known.size.patterns : 0;
      this.cellTables.set(trees, fits ? make(known.ways) : undefined);
    }
    return this.cellTables.get(trees);
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
