import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  addF64,
  andI64,
  extendSigned,
  F64,
  get,
  I32,
  i32,
  I64,
  isBelow,
  loadF64,
  loadI64,
  loadU8,
  move,
  orI64,
  set,
  shiftLeft,
  storeF64,
  storeI64,
  trailingZerosI64,
  whileLoop,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import { RoomMaker } from '../../wasm/scratch';

/** Elements of a table: a 64-bit set of leaves per bin. */
export const VALUE_TABLE = 256;
const LONG = 8;
const TABLE_BYTES = LONG * VALUE_TABLE;
/** Most columns, or trees, handled together. */
export const TOGETHER = 4;

type Inner = (...parameters: number[]) => void;

/** The inner loops of `ValueSums`. Parameters are addresses and lengths in bytes. */
export interface ValueKernel {
  /** Replaces each element of a table by its intersection with all elements before it. */
  spread(element: number, end: number): void;
  /**
   * Intersects the reachable leaves of each row with the sets of its bins in n columns, whose tables are adjacent.
   * Parameters: bins of each column; the tables; the reachable sets and their end; -1 for the first columns, else 0.
   */
  and1: Inner;
  and2: Inner;
  and3: Inner;
  and4: Inner;
  /**
   * Adds the values of each row's leaves in n trees, one tree after the other. Parameters: the reachable sets and
   * their end; each tree's own leaves; the values of all leaves; the scores, and the distance between rows.
   */
  add1: Inner;
  add2: Inner;
  add3: Inner;
  add4: Inner;
}

function spread(): WasmFunction {
  const all = new Locals();
  const [element, end] = all.parameters(2, I32);
  const [left] = all.more(1, I64);
  return all.function([
    ...set(left, extendSigned(i32(-1))),
    ...whileLoop(isBelow(get(element), get(end)), [
      ...set(left, andI64(get(left), loadI64(get(element)))),
      ...storeI64(get(element), get(left)),
      ...move(element, i32(LONG)),
    ]),
  ]);
}

function andSome(columns: number): WasmFunction {
  const all = new Locals();
  const bins = all.parameters(columns, I32);
  const [tables, reachable, reachableEnd, first] = all.parameters(4, I32);
  const [keep] = all.more(1, I64);
  const looked = bins.map((column, i) =>
    loadI64(add(get(tables), shiftLeft(loadU8(get(column)), 3)), i * TABLE_BYTES),
  );
  return all.function([
    ...set(keep, extendSigned(get(first))),
    ...whileLoop(isBelow(get(reachable), get(reachableEnd)), [
      ...storeI64(
        get(reachable),
        looked.reduce((sum, one) => andI64(sum, one), orI64(loadI64(get(reachable)), get(keep))),
      ),
      ...bins.flatMap((column) => move(column, i32(1))),
      ...move(reachable, i32(LONG)),
    ]),
  ]);
}

function addSome(trees: number): WasmFunction {
  const all = new Locals();
  const [reachable, reachableEnd, leaves, values, scores, width] = all.parameters(6, I32);
  const own = all.more(trees, I64);
  const [reached] = all.more(1, I64);
  const [sum] = all.more(1, F64);
  const valueOf = (tree: number) =>
    loadF64(add(get(values), shiftLeft(trailingZerosI64(andI64(get(reached), get(tree))), 3)));
  return all.function([
    ...own.flatMap((tree, i) => set(tree, loadI64(get(leaves), i * LONG))),
    ...whileLoop(isBelow(get(reachable), get(reachableEnd)), [
      ...set(reached, loadI64(get(reachable))),
      ...set(sum, loadF64(get(scores))),
      ...own.flatMap((tree) => set(sum, addF64(get(sum), valueOf(tree)))),
      ...storeF64(get(scores), get(sum)),
      ...move(reachable, i32(LONG)),
      ...move(scores, get(width)),
    ]),
  ]);
}

export const valueRooms = new RoomMaker<ValueKernel>(() =>
  assemble({
    spread: spread(),
    ...{ and1: andSome(1), and2: andSome(2), and3: andSome(3), and4: andSome(4) },
    ...{ add1: addSome(1), add2: addSome(2), add3: addSome(3), add4: addSome(4) },
  }),
);
