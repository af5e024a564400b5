import type { Background } from '../model/background';
import type { Trees } from '../trees/trees';
import { CellTable } from './cell-table';
import { EffectTable } from './effect-table';
import { findWays, type Ways, type WaysSize, waysSize } from './ways';

/** Of one model leaves whose ways are kept, some 150 bytes each, and effects in tables, 8 bytes each. */
const MOST_LEAVES = 100_000;
const MOST_EFFECTS = 2_500_000;
/** Cells in the lists of one model, 2 bytes each. */
const MOST_CELLS = 10_000_000;
/** Models of which these are kept. */
const MOST_MODELS = 3;

/** What explanations keep of a model's trees, for one division of its columns into groups. */
export class KeptWays {
  private leaves = MOST_LEAVES;
  private effects = MOST_EFFECTS;
  private readonly known = new Map<Trees, { ways: Ways; size: WaysSize } | undefined>();
  private players: number[] = [];
  private room = { cells: MOST_CELLS };
  private readonly cellTables = new Map<Trees, CellTable | undefined>();
  private readonly tables = new Map<Trees, EffectTable | undefined>();

  constructor(
    readonly background: Background,
    readonly groupOf: Int32Array,
  ) {}

  /** The ways of some trees; undefined where there are too many of them. */
  readonly ways = (trees: Trees): Ways | undefined => this.find(trees)?.ways;

  /** The effects of trees with one value a leaf; undefined where there are too many of them. */
  table(trees: Trees): EffectTable | undefined {
    if (!this.tables.has(trees)) {
      const known = this.find(trees);
      const fits = known !== undefined && known.size.effects <= this.effects;
      this.effects -= fits ? known.size.effects : 0;
      this.tables.set(trees, fits ? new EffectTable(trees, known.ways, known.size) : undefined);
    }
    return this.tables.get(trees);
  }

  /**
   * Where the leaves of some trees count; undefined where their ways are not known.
   *
   * @param players numbers of groups; bit i of a coalition is for the i-th
   */
  cells(trees: Trees, players: number[]): CellTable | undefined {
    if (this.players.join() !== players.join()) {
      this.players = players;
      this.cellTables.clear();
      this.room = { cells: MOST_CELLS };
    }
    if (!this.cellTables.has(trees)) {
      const known = this.find(trees);
      const bitOf = new Int32Array(Math.max(0, ...this.groupOf) + 1);
      players.forEach((group, i) => (bitOf[group] = 1 << i));
      this.cellTables.set(trees, known && new CellTable(known.ways, bitOf, players.length, this.room));
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
