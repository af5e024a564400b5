import { assemble, type WasmFunction } from '../../wasm/assemble';
import {
  add,
  and,
  type Code,
  get,
  I32,
  i32,
  isBelow,
  loadI32,
  loadU8,
  move,
  or,
  shiftLeft,
  storeI32,
  trailingZeros,
  whileLoop,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import { RoomMaker } from '../../wasm/scratch';

/** Elements of a table: one per bin, and one more. */
export const BORDER_TABLE = 257;
const TABLE_BYTES = 4 * BORDER_TABLE;

/**
 * The inner loops of `LeafSets`. Parameters are addresses, except `keep`: -1 for the first columns of a tree, else 0.
 */
export interface SetKernel {
  andFour(
    bins0: number,
    bins1: number,
    bins2: number,
    bins3: number,
    tables: number,
    reachable: number,
    reachableEnd: number,
    keep: number,
  ): void;
  andThree(
    bins0: number,
    bins1: number,
    bins2: number,
    tables: number,
    reachable: number,
    reachableEnd: number,
    keep: number,
  ): void;
  andTwo(
    bins0: number,
    bins1: number,
    tables: number,
    reachable: number,
    reachableEnd: number,
    keep: number,
  ): void;
  andOne(bins: number, table: number, reachable: number, reachableEnd: number, keep: number): void;
  takeLeaves(reachable: number, reachableEnd: number, values: number, leaves: number): void;
}

function andSome(columns: number): WasmFunction {
  const all = new Locals();
  const bins = all.parameters(columns, I32);
  const [tables, reachable, reachableEnd, keep] = all.parameters(4, I32);
  const looked = bins.map((column, i) =>
    loadI32(add(get(tables), shiftLeft(loadU8(get(column)), 2)), i * TABLE_BYTES),
  );
  const before: Code = or(loadI32(get(reachable)), get(keep));
  return all.function(
    whileLoop(isBelow(get(reachable), get(reachableEnd)), [
      ...storeI32(
        get(reachable),
        looked.reduce((sum, one) => and(sum, one), before),
      ),
      ...bins.flatMap((column) => move(column, i32(1))),
      ...move(reachable, i32(4)),
    ]),
  );
}

function takeLeaves(): WasmFunction {
  const all = new Locals();
  const [reachable, reachableEnd, values, leaves] = all.parameters(4, I32);
  return all.function(
    whileLoop(isBelow(get(reachable), get(reachableEnd)), [
      ...storeI32(
        get(leaves),
        loadI32(add(get(values), shiftLeft(trailingZeros(loadI32(get(reachable))), 2))),
      ),
      ...move(reachable, i32(4)),
      ...move(leaves, i32(4)),
    ]),
  );
}

export const setRooms = new RoomMaker<SetKernel>(() =>
  assemble({
    andFour: andSome(4),
    andThree: andSome(3),
    andTwo: andSome(2),
    andOne: andSome(1),
    takeLeaves: takeLeaves(),
  }),
);
