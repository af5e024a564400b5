import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  addNumbers,
  andLong,
  F64,
  get,
  I32,
  I64,
  isBelow,
  loadByte,
  loadLong,
  loadNumber,
  move,
  orLong,
  set,
  shiftLeft,
  storeLong,
  storeNumber,
  toSignedLong,
  trailingZerosLong,
  whileLoop,
  whole,
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
    ...set(left, toSignedLong(whole(-1))),
    ...whileLoop(isBelow(get(element), get(end)), [
      ...set(left, andLong(get(left), loadLong(get(element)))),
      ...storeLong(get(element), get(left)),
      ...move(element, whole(LONG)),
    ]),
  ]);
}

function andSome(columns: number): WasmFunction {
  const all = new Locals();
  const bins = all.parameters(columns, I32);
  const [tables, reachable, reachableEnd, first] = all.parameters(4, I32);
  const [keep] = all.more(1, I64);
  const looked = bins.map((column, i) =>
    loadLong(add(get(tables), shiftLeft(loadByte(get(column)), 3)), i * TABLE_BYTES),
  );
  return all.function([
    ...set(keep, toSignedLong(get(first))),
    ...whileLoop(isBelow(get(reachable), get(reachableEnd)), [
      ...storeLong(
        get(reachable),
        looked.reduce((sum, one) => andLong(sum, one), orLong(loadLong(get(reachable)), get(keep))),
      ),
      ...bins.flatMap((column) => move(column, whole(1))),
      ...move(reachable, whole(LONG)),
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
    loadNumber(add(get(values), shiftLeft(trailingZerosLong(andLong(get(reached), get(tree))), 3)));
  return all.function([
    ...own.flatMap((tree, i) => set(tree, loadLong(get(leaves), i * LONG))),
    ...whileLoop(isBelow(get(reachable), get(reachableEnd)), [
      ...set(reached, loadLong(get(reachable))),
      ...set(sum, loadNumber(get(scores))),
      ...own.flatMap((tree) => set(sum, addNumbers(get(sum), valueOf(tree)))),
      ...storeNumber(get(scores), get(sum)),
      ...move(reachable, whole(LONG)),
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
