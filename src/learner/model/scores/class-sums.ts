import type { Trees } from '../../trees/trees';
import { type Room, roomOf } from '../../wasm/scratch';
import { type ClassKernel, classRooms } from './class-kernel';

/** Trees added together, so that scores are read and written once for all of them. */
const TREES_AT_ONCE = 16;
/** Below this many rows JavaScript is faster, because the leaf values have to be copied first. */
export const FEW_ROWS = 100;

/**
 * Adds up trees with a value per class for many rows, several trees at a time, with the same bits as one by one. Must
 * be closed.
 */
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
    this.leaves = room.wholes(TREES_AT_ONCE * rows);
    this.own = room.numbers(rows * width);
    this.own.set(scores.subarray(0, rows * width));
  }

  /**
   * Undefined if it would not be faster: for few rows, or without SIMD.
   *
   * @param scores rows × classes, added to
   */
  static open(trees: Trees, rows: number, scores: Float64Array): ClassSums | undefined {
    if (trees.width === 1 || rows < FEW_ROWS) {
      return undefined;
    }
    const bytes =
      roomOf(trees.values.length * 4) + roomOf(TREES_AT_ONCE * rows * 4) + roomOf(rows * trees.width * 8);
    const room = classRooms(trees.width).open(bytes);
    return room.functions && new ClassSums(room, trees, rows, scores);
  }

  /** Where to write the leaves of the next tree; call `added` afterwards. */
  get next(): Int32Array {
    return this.leaves.subarray(this.count * this.rows, (this.count + 1) * this.rows);
  }

  added(): void {
    if (++this.count === TREES_AT_ONCE) {
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
