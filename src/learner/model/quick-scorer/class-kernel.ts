import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  addF64,
  addF64x2,
  type Code,
  F64,
  get,
  I32,
  i32,
  isBelow,
  loadF32,
  loadF32x2,
  loadF64,
  loadF64x2,
  loadI32,
  loadU8,
  move,
  multiplyF64,
  multiplyF64x2,
  NUMBER,
  set,
  shiftLeft,
  splat,
  storeF64,
  storeF64x2,
  V128,
  whileLoop,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import { ScratchMemory } from '../../wasm/scratch';
import { LEAF_BYTES, LEAF_TABLES, MAX_LEAVES, SLOTS, TILE } from './layout';

/** Loops that add to the scores of rows (rows × classes). Parameters are addresses and lengths in bytes. */
export interface ClassKernel {
  /**
   * Adds the values of each row's leaves, one tree after the other.
   *
   * @param leaves trees × rows: where a leaf's values begin, in elements
   * @param rows bytes of the leaves of a tree
   */
  addLeaves(leaves: number, leavesEnd: number, rows: number, values: number, scores: number): void;
  /**
   * Adds a factor of each row times the weights of a term, one term after the other.
   *
   * @param factors terms × rows
   * @param rows bytes of the factors of a term
   * @param weights terms × classes
   */
  addTerms(factors: number, factorsEnd: number, rows: number, weights: number, scores: number): void;
}

const FLOAT = 4;
/** Pairs of sums that fit in 16 SIMD registers. */
const MAX_PAIRS = 12;

interface Sums {
  /** Locals for classes `from` and `from` + 1. */
  pairs: { sum: number; from: number }[];
  /** For the last of an odd number of classes. */
  single: { sum: number; from: number } | undefined;
}

/** All classes, split so that the sums of each group stay in registers while trees or terms are visited. */
function sumsOf(classes: number, all: Locals): Sums[] {
  const count = classes >>> 1;
  const passes = Math.max(1, Math.ceil(count / MAX_PAIRS));
  const locals = all.more(Math.ceil(count / passes), V128);
  const one = all.more(1, F64)[0];
  return Array.from({ length: passes }, (_, pass) => {
    const [first, end] = [Math.floor((pass * count) / passes), Math.floor(((pass + 1) * count) / passes)];
    return {
      pairs: locals.slice(0, end - first).map((sum, i) => ({ sum, from: 2 * (first + i) })),
      single: pass === passes - 1 && classes % 2 === 1 ? { sum: one, from: classes - 1 } : undefined,
    };
  });
}

/** @param adding code that adds to these sums */
function withSums({ pairs, single }: Sums, scores: number, adding: Code): Code {
  const one = single ? [single] : [];
  return [
    ...pairs.flatMap(({ sum, from }) => set(sum, loadF64x2(get(scores), NUMBER * from))),
    ...one.flatMap(({ sum, from }) => set(sum, loadF64(get(scores), NUMBER * from))),
    ...adding,
    ...pairs.flatMap(({ sum, from }) => storeF64x2(get(scores), get(sum), NUMBER * from)),
    ...one.flatMap(({ sum, from }) => storeF64(get(scores), get(sum), NUMBER * from)),
  ];
}

export function addLeaves(classes: number): WasmFunction {
  const all = new Locals();
  const [leaves, leavesEnd, rows, values, scores] = all.parameters(5, I32);
  const [rowsEnd, at, leaf] = all.more(3, I32);
  const sums = sumsOf(classes, all);
  const addSome = ({ pairs, single }: Sums): Code => [
    ...set(at, get(leaves)),
    ...whileLoop(isBelow(get(at), get(leavesEnd)), [
      ...set(leaf, add(get(values), shiftLeft(loadI32(get(at)), 2))),
      ...pairs.flatMap(({ sum, from }) => set(sum, addF64x2(get(sum), loadF32x2(get(leaf), FLOAT * from)))),
      ...(single ? set(single.sum, addF64(get(single.sum), loadF32(get(leaf), FLOAT * single.from))) : []),
      ...move(at, get(rows)),
    ]),
  ];
  return all.function([
    ...set(rowsEnd, add(get(leaves), get(rows))),
    ...whileLoop(isBelow(get(leaves), get(rowsEnd)), [
      ...sums.flatMap((some) => withSums(some, scores, addSome(some))),
      ...move(scores, i32(NUMBER * classes)),
      ...move(leaves, i32(4)),
    ]),
  ]);
}

/**
 * A function that adds the values of each row's leaves in some trees, one tree after the other. Parameters: the leaves
 * that `find` of QuickScorer wrote; bytes of a tile's leaves in all of the trees; the scores, and their end.
 */
export function addTrees(classes: number): WasmFunction {
  const all = new Locals();
  const [leaves, trees, scores, scoresEnd] = all.parameters(4, I32);
  const [tileEnd, at, atEnd, table, leaf] = all.more(5, I32);
  const sums = sumsOf(classes, all);
  const addSome = ({ pairs, single }: Sums): Code => [
    ...set(at, get(leaves)),
    ...set(atEnd, add(get(leaves), get(trees))),
    ...set(table, i32(LEAF_TABLES)),
    ...whileLoop(isBelow(get(at), get(atEnd)), [
      ...set(leaf, loadI32(add(get(table), loadU8(get(at))))),
      ...pairs.flatMap(({ sum, from }) => set(sum, addF64x2(get(sum), loadF32x2(get(leaf), FLOAT * from)))),
      ...(single ? set(single.sum, addF64(get(single.sum), loadF32(get(leaf), FLOAT * single.from))) : []),
      ...move(at, i32(TILE)),
      ...move(table, i32(MAX_LEAVES * LEAF_BYTES)),
    ]),
  ];
  return all.function(
    whileLoop(isBelow(get(scores), get(scoresEnd)), [
      ...set(tileEnd, add(get(leaves), i32(TILE))),
      ...whileLoop(isBelow(get(leaves), get(tileEnd)), [
        ...sums.flatMap((some) => withSums(some, scores, addSome(some))),
        ...move(scores, i32(NUMBER * classes)),
        ...move(leaves, i32(1)),
      ]),
      ...move(leaves, i32((SLOTS - 1) * TILE)),
    ]),
  );
}

function addTerms(classes: number): WasmFunction {
  const all = new Locals();
  const [factors, factorsEnd, rows, weights, scores] = all.parameters(5, I32);
  const [rowsEnd, at, term] = all.more(3, I32);
  const [factor] = all.more(1, F64);
  const sums = sumsOf(classes, all);
  const addSome = ({ pairs, single }: Sums): Code => [
    ...set(at, get(factors)),
    ...set(term, get(weights)),
    ...whileLoop(isBelow(get(at), get(factorsEnd)), [
      ...set(factor, loadF64(get(at))),
      ...pairs.flatMap(({ sum, from }) =>
        set(sum, addF64x2(get(sum), multiplyF64x2(splat(get(factor)), loadF64x2(get(term), NUMBER * from)))),
      ),
      ...(single
        ? set(
            single.sum,
            addF64(get(single.sum), multiplyF64(get(factor), loadF64(get(term), NUMBER * single.from))),
          )
        : []),
      ...move(at, get(rows)),
      ...move(term, i32(NUMBER * classes)),
    ]),
  ];
  return all.function([
    ...set(rowsEnd, add(get(factors), get(rows))),
    ...whileLoop(isBelow(get(factors), get(rowsEnd)), [
      ...sums.flatMap((some) => withSums(some, scores, addSome(some))),
      ...move(scores, i32(NUMBER * classes)),
      ...move(factors, i32(NUMBER)),
    ]),
  ]);
}

const memories = new Map<number, ScratchMemory<ClassKernel>>();

/** Scratch memory for a number of classes, each with a module of its own. */
export function classScratch(classes: number): ScratchMemory<ClassKernel> {
  let memory = memories.get(classes);
  if (!memory) {
    memory = new ScratchMemory(() =>
      assemble({ addLeaves: addLeaves(classes), addTerms: addTerms(classes) }),
    );
    memories.set(classes, memory);
  }
  return memory;
}
