import type { Trees } from '../trees/trees';
import { assemble, type WasmFunction } from '../wasm/assemble';
import {
  add,
  addNumbers,
  addPairs,
  and,
  type Code,
  F64,
  get,
  I32,
  isBelow,
  loadFloat,
  loadNumber,
  loadPair,
  loadTwoFloats,
  loadWhole,
  move,
  set,
  shiftLeft,
  storeNumber,
  storePair,
  V128,
  when,
  whileLoop,
  whole,
} from '../wasm/instructions';
import { Locals } from '../wasm/locals';
import { type Room, RoomMaker, roomOf } from '../wasm/room';

/** Trees whose leaves are added together, so that scores are read and written once for all of them. */
const TOGETHER = 16;
/** Fewer rows are added in JavaScript: to copy the values of leaves would take longer. */
const FEW_ROWS = 100;

interface SumKernel {
  /**
   * Adds to the scores of each row (rows × classes) the values of its leaves, tree after tree. Addresses and lengths in bytes.
   *
   * @param leaves trees × rows: where the values of a leaf begin, counted in values
   * @param rows bytes of the leaves of a tree
   * @param classes bytes of the scores of a row
   */
  addLeaves(
    leaves: number,
    leavesEnd: number,
    rows: number,
    values: number,
    scores: number,
    classes: number,
  ): void;
}

/** Sums that are kept while trees are gone through: eight classes at a time. */
const PAIRS = 4;

function addLeaves(): WasmFunction {
  const all = new Locals();
  const [leaves, leavesEnd, rows, values, scores, classes] = all.parameters(6, I32);
  const [rowsEnd, scoresEnd, at, from, first, class8] = all.more(6, I32);
  const [one] = all.more(1, F64);
  const sums = all.more(PAIRS, V128);
  /** Some classes of a row, from `scores` on: their sums over all trees. */
  const addSome = (bytes: number, begin: Code, addValues: Code, end: Code): Code => [
    ...begin,
    ...set(at, get(leaves)),
    ...whileLoop(isBelow(get(at), get(leavesEnd)), [
      ...set(from, add(get(first), shiftLeft(loadWhole(get(at)), 2))),
      ...addValues,
      ...move(at, get(rows)),
    ]),
    ...end,
    ...move(scores, whole(bytes)),
    // Values take half as much as sums.
    ...move(first, whole(bytes / 2)),
  ];
  const addPairsOf = (some: number[]): Code =>
    addSome(
      16 * some.length,
      some.flatMap((sum, i) => set(sum, loadPair(get(scores), 16 * i))),
      some.flatMap((sum, i) => set(sum, addPairs(get(sum), loadTwoFloats(get(from), 8 * i)))),
      some.flatMap((sum, i) => storePair(get(scores), get(sum), 16 * i)),
    );
  return all.function([
    ...set(rowsEnd, add(get(leaves), get(rows))),
    ...whileLoop(isBelow(get(leaves), get(rowsEnd)), [
      ...set(first, get(values)),
      ...set(class8, add(get(scores), and(get(classes), whole(-16 * PAIRS)))),
      ...whileLoop(isBelow(get(scores), get(class8)), addPairsOf(sums)),
      ...set(scoresEnd, add(get(class8), and(get(classes), whole(16 * PAIRS - 16)))),
      ...whileLoop(isBelow(get(scores), get(scoresEnd)), addPairsOf(sums.slice(0, 1))),
      ...when(
        and(get(classes), whole(8)),
        addSome(
          8,
          set(one, loadNumber(get(scores))),
          set(one, addNumbers(get(one), loadFloat(get(from)))),
          storeNumber(get(scores), get(one)),
        ),
      ),
      ...move(leaves, whole(4)),
    ]),
  ]);
}

const rooms = new RoomMaker<SumKernel>(() => assemble({ addLeaves: addLeaves() }));

/** Adds what trees with a value for each class say of many rows, several trees at a time, to the same bits as one by one. */
export class ClassSums {
  private readonly own: Float64Array;
  private readonly values: Float32Array;
  private readonly leaves: Int32Array;
  private count = 0;

  private constructor(
    private readonly room: Room<SumKernel>,
    { values, width }: Trees,
    private readonly rows: number,
    private readonly scores: Float64Array,
  ) {
    this.values = room.floats(values.length);
    this.values.set(values);
    this.leaves = room.wholes(TOGETHER * rows);
    this.own = room.numbers(rows * width);
    this.own.set(scores.subarray(0, rows * width));
  }

  /**
   * Undefined where it would not be quicker: of few rows, or where the engine has no pairs of numbers. To be closed.
   *
   * @param scores rows × classes, to which is added
   */
  static open(trees: Trees, rows: number, scores: Float64Array): ClassSums | undefined {
    if (trees.width === 1 || rows < FEW_ROWS) {
      return undefined;
    }
    const bytes =
      roomOf(trees.values.length * 4) + roomOf(TOGETHER * rows * 4) + roomOf(rows * trees.width * 8);
    const room = rooms.open(bytes);
    return room.functions && new ClassSums(room, trees, rows, scores);
  }

  /** Where the leaves of the next tree are to be written, and that they have been. */
  get next(): Int32Array {
    return this.leaves.subarray(this.count * this.rows, (this.count + 1) * this.rows);
  }

  added(): void {
    if (++this.count === TOGETHER) {
      this.addAll();
    }
  }

  close(): void {
    this.addAll();
    this.scores.set(this.own);
    this.room.close();
  }

  private addAll(): void {
    if (this.count === 0) {
      return;
    }
    const { leaves, rows, values, own, count } = this;
    this.room.functions!.addLeaves(
      ...([leaves.byteOffset, leaves.byteOffset + count * rows * 4, rows * 4] as const),
      ...([values.byteOffset, own.byteOffset, (own.length / rows) * 8] as const),
    );
    this.count = 0;
  }
}
