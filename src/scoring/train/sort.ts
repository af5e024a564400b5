import { Yielder } from '../../util/event-loop';

/** Numbers that are sorted in one go: a few milliseconds. */
const RUN = 32_768;

/** A sorted copy of many numbers, none of them NaN, with turns of the event loop in between: a merge sort. */
export async function sortedCopy(values: Float64Array): Promise<Float64Array> {
  const yielder = new Yielder();
  let from = values.slice();
  for (let start = 0; start < from.length; start += RUN) {
    from.subarray(start, start + RUN).sort();
    await yielder.due();
  }
  let to = new Float64Array(from.length);
  for (let width = RUN; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length);
      const end = Math.min(start + 2 * width, from.length);
      let [a, b] = [start, middle];
      for (let at = start; at < end; at++) {
        to[at] = b >= end || (a < middle && from[a]! <= from[b]!) ? from[a++]! : from[b++]!;
        if (yielder.isDueAt(at)) {
          await yielder.yield();
        }
      }
    }
    [from, to] = [to, from];
  }
  return from;
}

/** The numbers of the items from the lowest key to the highest, equal keys in their order; NaN counts as the lowest. */
export async function orderBy(keys: Float64Array): Promise<Int32Array> {
  const yielder = new Yielder();
  const keyAt = (item: number): number => (Number.isNaN(keys[item]!) ? -Infinity : keys[item]!);
  let from = Int32Array.from(keys, (_, item) => item);
  let isSorted = true;
  for (let at = 1; at < from.length && isSorted; at++) {
    isSorted = keyAt(at - 1) <= keyAt(at);
  }
  if (isSorted) {
    return from;
  }
  for (let start = 0; start < from.length; start += RUN) {
    from.subarray(start, start + RUN).sort((a, b) => {
      const [one, other] = [keyAt(a), keyAt(b)];
      return one < other ? -1 : one > other ? 1 : a - b;
    });
    await yielder.due();
  }
  let to = new Int32Array(from.length);
  for (let width = RUN; width < from.length; width *= 2) {
    for (let start = 0; start < from.length; start += 2 * width) {
      const middle = Math.min(start + width, from.length);
      const end = Math.min(start + 2 * width, from.length);
      let [a, b] = [start, middle];
      for (let at = start; at < end; at++) {
        to[at] = b >= end || (a < middle && keyAt(from[a]!) <= keyAt(from[b]!)) ? from[a++]! : from[b++]!;
        if (yielder.isDueAt(at)) {
          await yielder.yield();
        }
      }
    }
    [from, to] = [to, from];
  }
  return from;
}
