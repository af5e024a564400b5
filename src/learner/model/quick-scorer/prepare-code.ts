import { LEAF } from '../../trees/trees';
import type { WasmFunction } from '../../wasm/assemble';
import {
  add,
  and,
  andV128,
  bytes16,
  type Code,
  get,
  I32,
  i32,
  isBelow,
  isEqual,
  isEqualI8x16,
  loadF32,
  loadI32,
  loadU8,
  loadU16,
  move,
  multiply,
  notEqual,
  or,
  select,
  set,
  shiftLeft,
  shiftLeftBy,
  shiftRight,
  shiftRightBy,
  splatI32,
  storeF64,
  storeI32,
  storeU8,
  storeV128,
  subtract,
  swizzle,
  when,
  whenElse,
  whileLoop,
  xor,
} from '../../wasm/instructions';
import { Locals } from '../../wasm/locals';
import {
  ARRAYS,
  CATEGORIES,
  CATEGORIES_BYTES,
  CHUNK_BYTES,
  COUNTS,
  FIRSTS,
  LEAF_BYTES,
  LEAF_TABLES,
  MAX_LEAVES,
  ORDERED,
  ORDERED_BYTES,
  PLANE_BYTES,
  PROGRAM,
  TILE,
  TREE_ARRAYS,
} from './layout';

const MISSING_LEFT = 1;
const CATEGORY = 2;
/** In the lowest and in the next eight lanes, the two bytes of a number; and per lane its bit of them. */
const HALVES = bytes16([...Array.from({ length: 8 }, () => 0), ...Array.from({ length: 8 }, () => 1)]);
const BITS = bytes16(Array.from({ length: 16 }, (_, i) => 1 << (i & 7)));

const inFourBytes = (value: Code) => multiply(value, i32(0x01010101));

/**
 * The function `prepare`: numbers the leaves of a tree from left to right, notes what they hold in the table of its slot,
 * and writes the program by which `find` finds the leaves of rows.
 *
 * @param hasOneValue a leaf's table entry is its value; otherwise the address of its values
 */
export function prepareTree(hasOneValue: boolean): WasmFunction {
  const all = new Locals();
  const [root, nodes, slot] = all.parameters(3, I32);
  const [feature, bin, flags, left, setAt, sets, values, offsets, highest] = all.more(9, I32);
  const [node, child, first, column, own, mask, program, ordered, category, always] = all.more(10, I32);
  const [at, shift, header, chunk, others, right, table] = all.more(7, I32);
  const arrays = { feature, bin, flags, left, setAt, sets, values, offsets, highest };
  const element = (array: number, bytes: number, index: Code) =>
    add(get(array), bytes === 1 ? index : multiply(index, i32(bytes)));
  /** Moves the arrays of nodes to the tree's root. */
  const toRoot = (array: number, bytes: number) => set(array, element(array, bytes, get(root)));
  const childOf = subtract(loadI32(element(left, 4, get(node))), get(root));

  const count: Code[] = [
    set(node, subtract(get(node), i32(1))),
    whenElse(
      isEqual(loadU16(element(feature, 2, get(node))), i32(LEAF)),
      storeU8(get(node), i32(1), COUNTS),
      [
        ...set(child, childOf),
        ...storeU8(get(node), add(loadU8(get(child), COUNTS), loadU8(get(child), COUNTS + 1)), COUNTS),
      ],
    ),
  ];

  const valueAt = add(get(values), shiftLeft(loadI32(element(left, 4, get(node))), 2));
  const tableAt = add(get(table), multiply(get(first), i32(LEAF_BYTES)));
  const leaf = hasOneValue
    ? storeF64(tableAt, loadF32(valueAt), LEAF_TABLES)
    : storeI32(tableAt, valueAt, LEAF_TABLES);
  const noteCategory: Code[] = [
    storeI32(get(category), loadI32(element(offsets, 4, get(column)))),
    storeI32(get(category), get(mask), 4),
    storeI32(get(category), element(sets, 4, loadI32(element(setAt, 4, get(node)))), 8),
    storeI32(get(category), loadU8(element(highest, 1, get(column))), 12),
    move(category, i32(CATEGORIES_BYTES)),
  ];
  // Missing values, bin 0, go left by the bins as they are, and right by bins less one.
  const noteOrdered: Code[] = [
    set(right, xor(and(get(own), i32(MISSING_LEFT)), i32(MISSING_LEFT))),
    set(own, loadU8(element(bin, 1, get(node)))),
    whenElse(isBelow(get(own), get(right)), set(always, or(get(always), get(mask))), [
      ...storeI32(
        get(ordered),
        add(loadI32(element(offsets, 4, get(column))), multiply(get(right), i32(TILE))),
      ),
      ...storeI32(get(ordered), inFourBytes(xor(subtract(get(own), get(right)), i32(0x80))), 4),
      ...storeI32(get(ordered), get(mask), 8),
      ...move(ordered, i32(ORDERED_BYTES)),
    ]),
  ];
  const branch: Code[] = [
    set(child, childOf),
    storeU8(get(child), get(first), FIRSTS),
    set(own, loadU8(get(child), COUNTS)),
    storeU8(get(child), add(get(first), get(own)), FIRSTS + 1),
    set(mask, shiftLeftBy(subtract(shiftLeftBy(i32(1), get(own)), i32(1)), get(first))),
    set(own, loadU8(element(flags, 1, get(node)))),
    whenElse(and(get(own), i32(CATEGORY)), noteCategory.flat(), noteOrdered.flat()),
  ];
  const number: Code[] = [
    set(first, loadU8(get(node), FIRSTS)),
    set(column, loadU16(element(feature, 2, get(node)))),
    whenElse(isEqual(get(column), i32(LEAF)), leaf, branch.flat()),
    move(node, i32(1)),
  ];

  const maskOf = (address: number, offset: number) =>
    set(mask, and(shiftRightBy(loadI32(get(address), offset), get(shift)), i32(0xff)));
  const orderedStep: Code[] = [
    maskOf(at, 8),
    storeI32(get(program), loadI32(get(at))),
    storeI32(get(program), loadI32(get(at), 4), 4),
    storeI32(get(program), inFourBytes(get(mask)), 8),
    move(program, select(i32(ORDERED_BYTES), i32(0), get(mask))),
    move(at, i32(ORDERED_BYTES)),
  ];
  const someBins: Code[] = [
    set(others, xor(loadU16(add(get(own), shiftRight(get(chunk), 3))), i32(0xffff))),
    when(get(others), [
      ...storeI32(get(program), loadI32(get(at))),
      ...storeI32(get(program), inFourBytes(and(add(get(chunk), i32(0x80)), i32(0xff))), 4),
      ...storeV128(
        get(program),
        andV128(
          isEqualI8x16(andV128(swizzle(splatI32(get(others)), HALVES), BITS), BITS),
          splatI32(inFourBytes(get(mask))),
        ),
        8,
      ),
      ...move(program, i32(CHUNK_BYTES)),
    ]),
    move(chunk, i32(16)),
  ];
  const categoryStep: Code[] = [
    maskOf(at, 4),
    when(get(mask), [
      ...set(own, loadI32(get(at), 8)),
      ...set(chunk, i32(0)),
      ...whileLoop(isBelow(get(chunk), add(loadI32(get(at), 12), i32(1))), someBins.flat()),
    ]),
    move(at, i32(CATEGORIES_BYTES)),
  ];
  const plane: Code[] = [
    set(header, get(program)),
    storeI32(get(header), inFourBytes(and(shiftRightBy(get(always), get(shift)), i32(0xff)))),
    move(program, i32(PLANE_BYTES)),
    set(at, i32(ORDERED)),
    whileLoop(isBelow(get(at), get(ordered)), orderedStep.flat()),
    storeI32(get(header), get(program), 4),
    set(at, i32(CATEGORIES)),
    whileLoop(isBelow(get(at), get(category)), categoryStep.flat()),
    storeI32(get(header), get(program), 8),
    move(shift, i32(8)),
  ];
  const body: Code[] = [
    ...Object.entries(arrays).map(([name, local]) =>
      set(local, loadI32(i32(TREE_ARRAYS), ARRAYS[name as keyof typeof ARRAYS])),
    ),
    toRoot(feature, 2),
    ...[bin, flags].map((array) => toRoot(array, 1)),
    ...[left, setAt].map((array) => toRoot(array, 4)),
    set(node, get(nodes)),
    whileLoop(notEqual(get(node), i32(0)), count.flat()),
    storeU8(i32(0), i32(0), FIRSTS),
    set(ordered, i32(ORDERED)),
    set(category, i32(CATEGORIES)),
    set(table, multiply(get(slot), i32(MAX_LEAVES * LEAF_BYTES))),
    whileLoop(isBelow(get(node), get(nodes)), number.flat()),
    set(program, i32(PROGRAM)),
    whileLoop(isBelow(get(shift), loadU8(i32(0), COUNTS)), plane.flat()),
    get(program),
  ];
  return { ...all.function(body.flat()), result: I32 };
}
