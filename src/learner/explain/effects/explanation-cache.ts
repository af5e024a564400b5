import { Random } from '../../math/random';
import type { Background } from '../../model/background';
import type { Trees } from '../../trees/trees';
import { BlockMemory } from '../blocks/block-memory';
import { leafBlocks } from '../blocks/leaf-blocks';
import { makePermutationScorer, type PermutationScorer } from '../blocks/permutation-scorer';
import { drawPermutations, mixtureCount, type Permutations } from '../shapley/permutations';
import { CoalitionTable } from '../tree-shap/coalition-table';
import { EffectTable } from '../tree-shap/effect-table';
import { findPaths, measurePaths, type Paths, type PathsSize } from '../tree-shap/paths';
import { ReachedLeaves } from '../tree-shap/reached-leaves';
import { ReachedSubtrees } from '../tree-shap/reached-subtrees';
import { countKeys, cutTrees, type Subtrees } from '../tree-shap/subtrees';

/** Leaves of a model whose paths are cached, some 150 bytes each. */
const MAX_LEAVES = 100_000;
/** Bytes of cached effects per model. */
const EFFECT_BYTES = 20_000_000;
/**
 * Bytes of WebAssembly memory per model for its blocks and for their cached results. The others are estimates: bytes
 * per node, per permutation and node, and per cached result.
 */
const BLOCK_BYTES = 55_000_000;
const NODE_BYTES = 130;
const PERMUTATION_BYTES = 100;
const RESULT_BYTES = 450;
/** Budgets outside that memory: bytes of flips, and leaves at some 40 bytes each. */
const UNPLACED_BYTES = 12_000_000;
const UNPLACED_LEAVES = 200_000;
/**
 * Bits of a subtree's key: the first of these that gives at most `KEYS_PER_NODE` keys per node. The more bits, the
 * fewer rows share a key.
 */
const KEY_BITS = [5, 4, 3];
const KEYS_PER_NODE = 16;
/** Cells of a model's coalition tables, 2 bytes each. */
const MAX_CELLS = 10_000_000;
/** Keys of a model's subtrees, and sets of failed slots of its leaves, 4 bytes each. */
const MAX_KEYS = 4_000_000;
/** Permutations are the same on every run. */
const SEED = 7;
/** Models with a cache at a time. */
const MAX_MODELS = 3;

/**
 * What explanations cache for a model, given the grouping of its columns. Every table has a budget; whatever exceeds
 * it is recomputed for each row.
 */
export class ExplanationCache {
  private leaves = MAX_LEAVES;
  private readonly known = new Map<Trees, { paths: Paths; size: PathsSize } | undefined>();
  private readonly cut = new Map<Trees, Map<number, Subtrees>>();
  private readonly effectBudget = { bytes: EFFECT_BYTES, keys: MAX_KEYS };
  private readonly effectTables = new Map<Trees, EffectTable | undefined>();
  private coalitionBudget = { cells: MAX_CELLS, patterns: MAX_KEYS };
  private readonly coalitionTables = new Map<Trees, CoalitionTable | undefined>();
  private players: number[] = [];
  private drawn: Permutations[] = [];
  private readonly scorers = new Map<Trees, PermutationScorer>();
  private memory: BlockMemory | 'none' | undefined;
  private blockBytes = { blocks: 0, results: 0 };
  private unplaced = { bytes: UNPLACED_BYTES, leaves: UNPLACED_LEAVES };
  /** Scratch, shared by all explanations. */
  readonly reached = new ReachedLeaves();
  readonly reachedSubtrees = new ReachedSubtrees();

  constructor(
    readonly background: Background,
    readonly groupOf: Int32Array,
  ) {}

  /** The paths of some trees, or undefined if they exceed the budget. */
  readonly paths = (trees: Trees): Paths | undefined => this.find(trees)?.paths;

  /**
   * Scores some trees along permutations (those of `permutations`).
   *
   * @param width outputs of the member that has the trees
   */
  scorer(trees: Trees, permutations: Permutations, width: number): PermutationScorer {
    const known = this.scorers.get(trees);
    if (known) {
      return known;
    }
    const { background, groupOf, unplaced } = this;
    if (this.memory === undefined) {
      const scores = mixtureCount(permutations) * width;
      const size = { scores, effects: width * permutations.groups, columns: background.columns.length };
      this.memory = BlockMemory.open(size, this.blockBytes) ?? 'none';
    }
    const memory = this.memory === 'none' ? undefined : this.memory;
    const blocks = leafBlocks(trees, background, groupOf);
    const { scorer, leaves } = makePermutationScorer(blocks, permutations, width, memory, unplaced);
    if (leaves <= unplaced.leaves) {
      unplaced.leaves -= leaves;
      this.scorers.set(trees, scorer);
    }
    return scorer;
  }

  /** The Shapley values of some trees, by key; undefined if there are too many keys. */
  effectTable(trees: Trees): EffectTable | undefined {
    if (!this.effectTables.has(trees)) {
      const subtrees = this.subtreesOf(trees, KEYS_PER_NODE, this.effectBudget);
      this.effectTables.set(trees, subtrees && new EffectTable(subtrees, this.effectBudget));
    }
    return this.effectTables.get(trees);
  }

  /**
   * The coalition table of some trees; undefined if their paths are not cached.
   *
   * @param players indices of groups; bit i of a coalition is for the i-th
   */
  coalitionTable(trees: Trees, players: number[]): CoalitionTable | undefined {
    if (this.players.join() !== players.join()) {
      this.players = players;
      this.coalitionTables.clear();
      this.coalitionBudget = { cells: MAX_CELLS, patterns: MAX_KEYS };
    }
    if (!this.coalitionTables.has(trees)) {
      const known = this.find(trees);
      const fits = known !== undefined && known.size.patterns <= this.coalitionBudget.patterns;
      this.coalitionBudget.patterns -= fits ? known.size.patterns : 0;
      const bitOf = new Int32Array(Math.max(0, ...this.groupOf) + 1);
      players.forEach((group, i) => (bitOf[group] = 1 << i));
      this.coalitionTables.set(
        trees,
        fits ? new CoalitionTable(known.paths, this.coalitionBudget, bitOf, players.length) : undefined,
      );
    }
    return this.coalitionTables.get(trees);
  }

  /**
   * Permutations for each member of an ensemble, the same on every call. If a member has an odd number per background
   * row, members are paired: the second of a pair gets the reverse of the first one's. Otherwise each permutation is
   * followed by its own reverse.
   *
   * @param common the groups that may differ
   * @param groups number of all groups
   * @param perRow permutations for each background row
   * @param nodes of all trees
   */
  permutations(
    members: number,
    { common, groups }: { common: number[]; groups: number },
    { perRow, nodes }: { perRow: number; nodes: number },
  ): Permutations[] {
    const [known] = this.drawn;
    const isKnown =
      this.drawn.length === members &&
      known.perRow === perRow &&
      known.groups === groups &&
      known.common.join() === common.join();
    if (!isKnown) {
      this.scorers.clear();
      this.memory = undefined;
      const blocks = Math.min(BLOCK_BYTES, nodes * (NODE_BYTES + PERMUTATION_BYTES * perRow));
      const results = Math.min(BLOCK_BYTES - blocks, nodes * RESULT_BYTES * perRow);
      this.blockBytes = { blocks, results };
      this.unplaced = { bytes: UNPLACED_BYTES, leaves: UNPLACED_LEAVES };
      const isOdd = perRow % 2 === 1;
      this.drawn = Array.from({ length: members }, (_, m) =>
        drawPermutations(
          this.background.rows,
          { perRow, reversed: isOdd && m % 2 === 1 },
          { common, groups },
          new Random(SEED + (isOdd ? Math.floor(m / 2) : m)),
        ),
      );
    }
    return this.drawn;
  }

  private subtreesOf(trees: Trees, perNode: number, budget: { keys: number }): Subtrees | undefined {
    const paths = this.paths(trees);
    if (paths === undefined) {
      return undefined;
    }
    const most = perNode * trees.feature.length;
    const bits = KEY_BITS.find((bits) => countKeys(trees, paths, bits) <= most) ?? 0;
    const keys = countKeys(trees, paths, bits);
    if (keys > budget.keys) {
      return undefined;
    }
    budget.keys -= keys;
    const cut = this.cut.get(trees) ?? new Map<number, Subtrees>();
    this.cut.set(trees, cut);
    const subtrees = cut.get(bits) ?? cutTrees(trees, paths, bits);
    cut.set(bits, subtrees);
    return subtrees;
  }

  private find(trees: Trees): { paths: Paths; size: PathsSize } | undefined {
    if (!this.known.has(trees)) {
      const { background, groupOf } = this;
      const size = measurePaths(trees, background, groupOf, this.leaves);
      this.leaves -= size?.leaves ?? 0;
      this.known.set(trees, size && { paths: findPaths(trees, background, groupOf, size), size });
    }
    return this.known.get(trees);
  }
}

/** Most recently used last. */
const caches: ExplanationCache[] = [];

/** The cache of the model with this background, created if it is not among the models explained last. */
export function explanationCache(background: Background, groupOf: Int32Array): ExplanationCache {
  const at = caches.findIndex(
    (one) => one.background === background && groupOf.every((group, column) => group === one.groupOf[column]),
  );
  const own = at < 0 ? new ExplanationCache(background, groupOf) : caches.splice(at, 1)[0];
  caches.push(own);
  caches.splice(0, caches.length - MAX_MODELS);
  return own;
}
