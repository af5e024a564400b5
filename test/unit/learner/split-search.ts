import { openScratch, type SplitCandidate, SplitSearch } from '../../doors/learner';

type Rules = Parameters<SplitSearch['begin']>[0];

/** No split yet. */
export function noSplit(): SplitCandidate {
  return { gain: 0, column: 0, bin: 0, missingLeft: false, set: undefined };
}

/** A node, and the histogram of a column: per bin the sums of `width` gradients, then of the hessian. */
interface Histogram {
  sums: Float64Array;
  bins: number;
  category: boolean;
  totals: Float64Array;
  width: number;
}

/** Improves `best` by the splits of a histogram. */
export function searchHistogram(
  { sums, bins, category, totals, width }: Histogram,
  column: number,
  rules: Rules,
  best: SplitCandidate,
  chance = 0,
): void {
  const scratch = openScratch();
  const search = new SplitSearch(scratch, width);
  const own = scratch.numbers(sums.length);
  own.set(sums);
  search.begin(rules);
  search.enter(totals);
  search.byHistogram(own, 0, { source: 0, bins, category }, column, best, chance);
  scratch.close();
}

/** The same by the rows of a node: `gradHess` and `columnBins` hold all rows of the table. */
export function searchRows(
  { rows, gradHess, totals }: { rows: Int32Array; gradHess: Float64Array; totals: Float64Array },
  columnBins: Uint8Array,
  spec: { source: number; bins: number; category: boolean },
  column: number,
  rules: Rules,
  best: SplitCandidate,
  chance = 0,
): void {
  const scratch = openScratch();
  const search = new SplitSearch(scratch, 1);
  const [list, pairs, bins] = [
    scratch.wholes(rows.length),
    scratch.numbers(gradHess.length),
    scratch.bytes(columnBins.length),
  ];
  list.set(rows);
  pairs.set(gradHess);
  bins.set(columnBins);
  search.begin(rules);
  search.enter(totals);
  // Twice: a search leaves no sums behind.
  const first = { ...best };
  search.byRows({ rows: list, start: 0, end: rows.length }, pairs, bins, spec, column, first, chance);
  search.byRows({ rows: list, start: 0, end: rows.length }, pairs, bins, spec, column, best, chance);
  scratch.close();
}
