import { Yielder } from '../../util/concurrency';

/** Rows that are sorted in one go: a few milliseconds. */
const RUN = 4096;

/** A stable merge sort by time that yields to the event loop. */
export async function sortByTime<Timed extends { time: number }>(list: Timed[]): Promise<Timed[]> {
  const yielder = new Yielder();
  let isSorted = true;
  for (let at = 1; at < list.length && isSorted; at++) {
    isSorted = list[at - 1]!.time <= list[at]!.time;
    if (yielder.isDueAt(at)) {
      await yielder.yield();
    }
  }
  if (isSorted) {
    return list;
  }
  let runs: Timed[][] = [];
  for (let from = 0; from < list.length; from += RUN) {
    runs.push(list.slice(from, from + RUN).sort((a, b) => a.time - b.time));
    await yielder.due();
  }
  while (runs.length > 1) {
    const longer: Timed[][] = [];
    for (let at = 0; at < runs.length; at += 2) {
      longer.push(await merged(runs[at]!, runs[at + 1] ?? [], yielder));
    }
    runs = longer;
  }
  return runs[0]!;
}

/** Merges two sorted lists; at equal times the first list goes first. */
async function merged<Timed extends { time: number }>(
  first: Timed[],
  second: Timed[],
  yielder: Yielder,
): Promise<Timed[]> {
  const all: Timed[] = [];
  let [i, k] = [0, 0];
  while (i < first.length || k < second.length) {
    const takesFirst = k === second.length || (i < first.length && first[i]!.time <= second[k]!.time);
    all.push(takesFirst ? first[i++]! : second[k++]!);
    if (yielder.isDueAt(all.length)) {
      await yielder.yield();
    }
  }
  return all;
}
