import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  addF64,
  type Code,
  F64,
  get,
  I32,
  i32,
  isBelow,
  loadF64,
  loadU8,
  move,
  NUMBER,
  set,
  storeF64,
  whileLoop,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import { ScratchMemory } from '../../wasm/scratch';
import { addLeaves, addTrees, type ClassKernel } from './class-kernel';
import { find } from './find-code';
import { LEAF_BYTES, LEAF_TABLES, MAX_LEAVES, SLOTS, TILE } from './layout';
import { prepareTree } from './prepare-code';

/** The inner loops of `TreeSums`. Parameters are addresses and lengths in bytes unless noted. */
export interface LeafKernel {
  /**
   * Writes the program of a tree and the table of its leaves, and returns the program's end.
   *
   * @param root index of its first node
   * @param nodes their number
   * @param slot number of its table
   */
  prepare(root: number, nodes: number, slot: number): number;
  /**
   * Writes each row's leaf in the prepared tree, as an offset in its table.
   *
   * @param out where the leaves of the first tile go; those of the next one are `SLOTS` × `TILE` further
   */
  find(tiles: number, tilesEnd: number, tileBytes: number, programEnd: number, out: number): void;
}

/** For trees with one value per leaf: adds the values of each row's leaves in n trees, one after the other. */
export interface ValueKernel extends LeafKernel {
  add1: AddValues;
  add4: AddValues;
  add16: AddValues;
}

/**
 * @param leaves of the first of the trees
 * @param table of its leaves
 */
type AddValues = (leaves: number, sums: number, sumsEnd: number, table: number) => void;

/** For trees with a value per class. */
export interface ClassTreeKernel extends LeafKernel, Pick<ClassKernel, 'addLeaves'> {
  addTrees(leaves: number, trees: number, scores: number, scoresEnd: number): void;
}

function addValues(trees: number): WasmFunction {
  const all = new Locals();
  const [leaves, sums, sumsEnd, table] = all.parameters(4, I32);
  const [tileEnd] = all.more(1, I32);
  const [sum] = all.more(1, F64);
  const values = Array.from({ length: trees }, (_, slot): Code => {
    const leaf = loadU8(get(leaves), slot * TILE);
    const offset = LEAF_TABLES + slot * MAX_LEAVES * LEAF_BYTES;
    return trees === SLOTS ? loadF64(leaf, offset) : loadF64(add(get(table), leaf), offset);
  });
  return all.function(
    whileLoop(isBelow(get(sums), get(sumsEnd)), [
      ...set(tileEnd, add(get(leaves), i32(TILE))),
      ...whileLoop(isBelow(get(leaves), get(tileEnd)), [
        ...set(sum, loadF64(get(sums))),
        ...values.flatMap((value) => set(sum, addF64(get(sum), value))),
        ...storeF64(get(sums), get(sum)),
        ...move(sums, i32(NUMBER)),
        ...move(leaves, i32(1)),
      ]),
      ...move(leaves, i32((SLOTS - 1) * TILE)),
    ]),
  );
}

const valueScratch = new ScratchMemory<ValueKernel>(() =>
  assemble({
    ...{ prepare: prepareTree(true), find: find() },
    ...{ add1: addValues(1), add4: addValues(4), add16: addValues(SLOTS) },
  }),
);

const memories = new Map<number, ScratchMemory<ClassTreeKernel>>();

/** Scratch memory for trees of this many values per leaf, each number with a module of its own. */
export function quickScorerScratch(
  width: number,
): ScratchMemory<ValueKernel> | ScratchMemory<ClassTreeKernel> {
  if (width === 1) {
    return valueScratch;
  }
  let memory = memories.get(width);
  if (!memory) {
    memory = new ScratchMemory(() =>
      assemble({
        ...{ prepare: prepareTree(false), find: find() },
        ...{ addTrees: addTrees(width), addLeaves: addLeaves(width) },
      }),
    );
    memories.set(width, memory);
  }
  return memory;
}
