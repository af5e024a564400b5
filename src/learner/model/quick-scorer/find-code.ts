import type { WasmFunction } from '../../wasm/assemble';
import {
  add,
  addSaturatedU8x16,
  andV128,
  bytes16,
  type Code,
  get,
  I32,
  i32,
  isAboveI8x16,
  isBelow,
  loadI32,
  loadSplatI32,
  loadV128,
  minU8x16,
  move,
  orV128,
  set,
  shiftRightU16x8,
  splatI32,
  storeV128,
  subtractI8x16,
  swizzle,
  V128,
  whileLoop,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import { CHUNK_BYTES, LEAF_BYTES, ORDERED_BYTES, PLANE_BYTES, PROGRAM, SLOTS, TILE } from './layout';

const VECTORS = TILE / 16;
const NONE = 255;
/** By the bits of four removed leaves: the first that is left, as an offset in a table of leaves. */
const firstLeft = (of: number) =>
  bytes16(
    Array.from({ length: 16 }, (_, removed) => {
      const leaf = [0, 1, 2, 3].find((bit) => ((removed >> bit) & 1) === 0);
      return leaf === undefined ? NONE : LEAF_BYTES * (of + leaf);
    }),
  );

/**
 * The function `find`: the leaves of rows in a prepared tree, eight leaves of 64 rows at a time. Each branch that sends a
 * row right removes the leaves on its left, and the row's leaf is the first that remains.
 */
export function find(): WasmFunction {
  const all = new Locals();
  const [tiles, tilesEnd, tileBytes, programEnd, out] = all.parameters(5, I32);
  const [at, step, end, column] = all.more(4, I32);
  const [leaves, removed] = [all.more(VECTORS, V128), all.more(VECTORS, V128)];
  const [border, mask, bias] = all.more(3, V128);
  const each = (body: (i: number) => Code): Code => leaves.flatMap((_, i) => body(i));
  const remove = (i: number, some: Code) => set(removed[i], orV128(get(removed[i]), some));
  const toColumn = set(column, add(get(tiles), loadI32(get(step))));
  const bins = (i: number) => loadV128(get(column), 16 * i);
  const ordered: Code[] = [
    toColumn,
    set(border, loadSplatI32(get(step), 4)),
    set(mask, loadSplatI32(get(step), 8)),
    each((i) => remove(i, andV128(isAboveI8x16(bins(i), get(border)), get(mask)))),
    move(step, i32(ORDERED_BYTES)),
  ];
  const chunk: Code[] = [
    toColumn,
    set(border, loadSplatI32(get(step), 4)),
    set(mask, loadV128(get(step), 8)),
    each((i) => remove(i, swizzle(get(mask), subtractI8x16(bins(i), get(border))))),
    move(step, i32(CHUNK_BYTES)),
  ];
  const nibble = splatI32(i32(0x0f0f0f0f));
  const low = (i: number) => swizzle(firstLeft(0), andV128(get(removed[i]), nibble));
  const high = (i: number) => swizzle(firstLeft(4), andV128(shiftRightU16x8(get(removed[i]), 4), nibble));
  const plane: Code[] = [
    set(mask, loadSplatI32(get(at))),
    each((i) => set(removed[i], get(mask))),
    set(step, add(get(at), i32(PLANE_BYTES))),
    set(end, loadI32(get(at), 4)),
    whileLoop(isBelow(get(step), get(end)), ordered.flat()),
    set(end, loadI32(get(at), 8)),
    whileLoop(isBelow(get(step), get(end)), chunk.flat()),
    each((i) =>
      set(leaves[i], minU8x16(get(leaves[i]), addSaturatedU8x16(minU8x16(low(i), high(i)), get(bias)))),
    ),
    set(bias, addSaturatedU8x16(get(bias), splatI32(i32(0x01010101 * 8 * LEAF_BYTES)))),
    set(at, get(step)),
  ];
  const tile: Code[] = [
    each((i) => set(leaves[i], splatI32(i32(-1)))),
    set(bias, splatI32(i32(0))),
    set(at, i32(PROGRAM)),
    whileLoop(isBelow(get(at), get(programEnd)), plane.flat()),
    each((i) => storeV128(get(out), get(leaves[i]), 16 * i)),
    move(tiles, get(tileBytes)),
    move(out, i32(SLOTS * TILE)),
  ];
  return all.function(whileLoop(isBelow(get(tiles), get(tilesEnd)), tile.flat()));
}
