import { Yielder } from './concurrency';

/** A map that forgets its oldest entries beyond a number. Setting a key again makes it the newest. */
export class BoundedMap<Key, Value> {
  private readonly entries = new Map<Key, Value>();

  /** @param onEvict called with what is evicted for lack of space, not with what is deleted or replaced */
  constructor(
    private readonly maxSize: number,
    private readonly onEvict?: (value: Value, key: Key) => void,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: Key): Value | undefined {
    return this.entries.get(key);
  }

  has(key: Key): boolean {
    return this.entries.has(key);
  }

  set(key: Key, value: Value): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    for (const [oldest, evicted] of this.entries) {
      if (this.entries.size <= this.maxSize) {
        return;
      }
      this.entries.delete(oldest);
      this.onEvict?.(evicted, oldest);
    }
  }

  delete(key: Key): boolean {
    return this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  keys(): IterableIterator<Key> {
    return this.entries.keys();
  }

  /** From the oldest to the newest. */
  values(): IterableIterator<Value> {
    return this.entries.values();
  }

  [Symbol.iterator](): IterableIterator<[Key, Value]> {
    return this.entries[Symbol.iterator]();
  }
}

/** Numbers that are sorted in one go: a few milliseconds. */
const RUN = 32_768;

/** A sorted copy of many numbers, none of them NaN, with turns of the event loop in between. */
export function sortedCopy(values: Float64Array): Promise<Float64Array> {
  return mergeSort(
    values.slice(),
    new Float64Array(values.length),
    (run) => run.sort(),
    (a, b) => a <= b,
  );
}

/** The numbers of the items from the lowest key to the highest, equal keys in their order; NaN counts as the lowest. */
export async function orderBy(keys: Float64Array): Promise<Int32Array> {
  const computeKey = (item: number): number => (Number.isNaN(keys[item]!) ? -Infinity : keys[item]!);
  const items = Int32Array.from(keys, (_, item) => item);
  if (items.every((item) => item === 0 || computeKey(item - 1) <= computeKey(item))) {
    return items;
  }
  const compare = (a: number, b: number): number => {
    const [one, other] = [computeKey(a), computeKey(b)];
    return one < other ? -1 : one > other ? 1 : a - b;
  };
  return mergeSort(
    items,
    new Int32Array(items.length),
    (run) => run.sort(compare),
    (a, b) => computeKey(a) <= computeKey(b),
  );
}

/**
 * Sorts runs, then merges neighbours until one is left.
 *
 * @param items sorted in place, run by run, then merged to and fro with `other`, which is as long
 * @param inOrder that `a`, which comes first, may stay before `b`
 * @returns `items` or `other`
 */
async function mergeSort<A extends Float64Array | Int32Array>(
  items: A,
  other: A,
  sortRun: (run: A) => void,
  inOrder: (a: number, b: number) => boolean,
): Promise<A> {
  const yielder = new Yielder();
  const { length } = items;
  for (let start = 0; start < length; start += RUN) {
    sortRun(items.subarray(start, start + RUN) as A);
    await yielder.due();
  }
  let from = items;
  let to = other;
  for (let width = RUN; width < length; width *= 2) {
    for (let start = 0; start < length; start += 2 * width) {
      const middle = Math.min(start + width, length);
      const end = Math.min(start + 2 * width, length);
      let [a, b] = [start, middle];
      for (let at = start; at < end; at++) {
        to[at] = b >= end || (a < middle && inOrder(from[a]!, from[b]!)) ? from[a++]! : from[b++]!;
        if (yielder.isDueAt(at)) {
          await yielder.yield();
        }
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
