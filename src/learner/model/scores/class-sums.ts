import type { Trees } from '../../trees/trees';
import { type Room, roomOf } from '../../wasm/room';
import { type ClassKernel, classRooms } from './class-kernel';

/** Trees whose leaves are added together, so that scores are read and written once for all of them. */
const TOGETHER = 16;
/** Fewer rows are added in JavaScript: to copy the values of leaves would take longer. */
export const FEW_ROWS = 100;

/** Adds what trees with a value for each class say of many rows, several trees at a time, to the same bits as one by one. */
export class ClassSums {
  private readonly own: Float64Array;
  private readonly values: Float32Array;
  private readonly leaves: Int32Array;
  private count = 0;

  private constructor(
    private readonly room: Room<ClassKernel>,
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
    const room = classRooms(trees.width).open(bytes);
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
    const start = leaves.byteOffset;
    this.room.functions!.addLeaves(
      ...([start, start + count * rows * 4, rows * 4] as const),
      ...([values.byteOffset, own.byteOffset] as const),
    );
    this.count = 0;
  }
}
