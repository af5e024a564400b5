import { Random } from '../math/random';
import type { Background, Member } from '../model/model';
import type { Trees } from '../trees/trees';
import { BlockMemory } from './block-memory';
import { leafBlocks } from './leaf-blocks';
import { drawPermutations, type Permutations } from './shapley';
import { bytesForRows, TreeBlocks } from './tree-blocks';

/**
 * Bytes of WebAssembly memory per model for its blocks and for their cached results. The others are estimates: bytes
 * per node, per permutation and node, and per cached result.
 */
const BLOCK_BYTES = 55_000_000;
const NODE_BYTES = 130;
const PERMUTATION_BYTES = 100;
const RESULT_BYTES = 450;
/** Nodes of trees whose blocks have no place in that memory, kept at some 60 bytes each. */
const UNPLACED_NODES = 400_000;
/** Permutations are the same on every run. */
const SEED = 7;
/** Models with a cache at a time. */
const MAX_MODELS = 3;

/**
 * What explanations cache for a model, given the grouping of its columns. Everything has a budget; whatever exceeds it is
 * made anew for each row.
 */
export class ExplanationCache {
  private readonly nodes: number;
  private drawn: Permutations[] = [];
  private memory: BlockMemory | undefined;
  /** Of a row's results and scores: as much as was asked for. */
  private rowBytes = 0;
  private unplaced = UNPLACED_NODES;
  /** Those along permutations, and those without. */
  private readonly known = { along: new Map<Trees, TreeBlocks>(), alone: new Map<Trees, TreeBlocks>() };

  constructor(
    readonly background: Background,
    readonly groupOf: Int32Array,
    private readonly groups: number,
    members: Member[],
  ) {
    this.nodes = countNodes(members);
    this.rowBytes = bytesForRows(undefined, this.sizeOf(members[0].width));
  }

  sizeOf(width: number): { width: number; groups: number; columns: number } {
    return { width, groups: this.groups, columns: this.background.columns.length };
  }

  /** Sees to it that the memory for rows has so many bytes. Drops what is cached if it has fewer. */
  reserve(bytes: number): void {
    if (bytes > this.rowBytes) {
      this.rowBytes = bytes;
      this.drop();
    }
  }

  /**
   * The leaf blocks of some trees.
   *
   * @param width outputs of the member that has the trees
   * @param permutations one of `permutations`; undefined: none are asked for
   */
  blocks(trees: Trees, width: number, permutations?: Permutations): TreeBlocks {
    const known = permutations ? this.known.along : this.known.alone;
    let own = known.get(trees);
    if (own === undefined) {
      this.memory ??= this.openMemory();
      const sizes = { width, groups: this.groups, perLeaf: trees.width };
      const blocks = leafBlocks(trees, this.background, this.groupOf, sizes);
      own = new TreeBlocks(this.memory, blocks, permutations, sizes);
      this.unplaced -= own.isPlaced ? 0 : trees.left.length;
      if (own.isPlaced || this.unplaced >= 0) {
        known.set(trees, own);
      }
    }
    return own;
  }

  /**
   * Permutations for each member of an ensemble, the same on every call. If a member has an odd number per background
   * row, members are paired: the second of a pair gets the reverse of the first one's. Otherwise each permutation is
   * followed by its own reverse.
   *
   * @param common the groups that may differ
   * @param groups number of all groups
   * @param perRow permutations for each background row
   */
  permutations(
    members: number,
    { common, groups }: { common: number[]; groups: number },
    perRow: number,
    width: number,
  ): Permutations[] {
    const [known] = this.drawn;
    const isKnown =
      this.drawn.length === members &&
      known.perRow === perRow &&
      known.groups === groups &&
      known.common.join() === common.join();
    if (!isKnown) {
      const isOdd = perRow % 2 === 1;
      this.drawn = Array.from({ length: members }, (_, m) =>
        drawPermutations(
          this.background.rows,
          { perRow, reversed: isOdd && m % 2 === 1 },
          { common, groups },
          new Random(SEED + (isOdd ? Math.floor(m / 2) : m)),
        ),
      );
      this.drop();
    }
    this.reserve(bytesForRows(this.drawn[0], this.sizeOf(width)));
    return this.drawn;
  }

  private openMemory(): BlockMemory {
    const perRow = this.drawn.length === 0 ? 0 : this.drawn[0].perRow;
    const blocks = Math.min(BLOCK_BYTES, this.nodes * (2 * NODE_BYTES + PERMUTATION_BYTES * perRow));
    const results = Math.min(BLOCK_BYTES - blocks, this.nodes * RESULT_BYTES * Math.max(1, perRow));
    return new BlockMemory({ rows: this.rowBytes, blocks, results });
  }

  private drop(): void {
    this.memory = undefined;
    this.known.along.clear();
    this.known.alone.clear();
    this.unplaced = UNPLACED_NODES;
  }
}

/** Nodes of all trees; other parts count as one. */
export function countNodes(members: Member[]): number {
  const parts = members.flatMap((member) => member.parts);
  return parts.reduce((sum, part) => sum + ('trees' in part ? part.trees.left.length : 1), 0);
}

/** Most recently used last. */
const caches: ExplanationCache[] = [];

/** The cache of the model with this background, created if it is not among the models explained last. */
export function explanationCache(
  background: Background,
  groupOf: Int32Array,
  groups: number,
  members: Member[],
): ExplanationCache {
  const at = caches.findIndex(
    (one) => one.background === background && groupOf.every((group, column) => group === one.groupOf[column]),
  );
  const own = at < 0 ? new ExplanationCache(background, groupOf, groups, members) : caches.splice(at, 1)[0];
  caches.push(own);
  caches.splice(0, caches.length - MAX_MODELS);
  return own;
}
