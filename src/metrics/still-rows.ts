import { FEWEST_TOGETHER, MOST_TIMES, OF_ONE_KIND, type RowKinds } from './repeated-rows';

/** A machine stands still for at least so many rows. */
const FEWEST_ROWS = 30;
/** So many kinds of rows are looked at, those of most rows. */
const MOST_KINDS = 8;
/** A gap of so many times the usual one between rows of a kind parts them: other machines' rows lie between, or a shift. */
const APART = 20;
/** A kind that comes in more parts is a state that a machine has again and again, as it will later. */
const MOST_PARTS = 3;
/** A row is near another one if it differs in at most this part of the columns, or in one. */
const NEAR = 0.25;

/**
 * Whether numbers rise from row to row: then they tell the time of a reading as a date does, or count the readings, and
 * readings that differ in them alone are the same.
 *
 * @param before the number of the row before these; left out where there is none
 */
export function rise(values: Float64Array, before = -Infinity): boolean {
  return values.every((value, row) => value > (row === 0 ? before : values[row - 1]));
}

interface Candidate {
  kind: number;
  near: number;
}

/**
 * Rows of a machine that stands still, or of a gateway that repeats its last message: one reading that fills a day, target and
 * all, while only the time goes on. Held out beside each other they are known by heart, and what is told of the rest is too
 * little; learned from, they count as much as the other days together.
 *
 * Chance, or a state that a machine has often, repeats a row too. Then hardly differing rows are frequent as well, the rows
 * come in many parts, or the table consists of a few kinds of rows.
 *
 * Of 1,245 public tables as they are one has such rows, 60 empty ones; put into the middle for half, a quarter or a tenth of the
 * table a reading is found in 1,143, 1,100 and 1,060 (docs/benchmarks/told.md, "A day that stands still"). Not tuned.
 */
export class StillRows {
  private readonly candidates: Candidate[] = [];
  private readonly mostDiffering: number;

  /**
   * @param kinds of rows by all columns but those that tell the time: dates, and features that `rise`
   * @param columns how many these are, the target among them
   */
  constructor(
    private readonly kinds: RowKinds,
    columns: number,
  ) {
    this.mostDiffering = Math.max(1, Math.floor(NEAR * columns));
    if (columns >= FEWEST_TOGETHER) {
      this.candidates = mostFrequent(kinds)
        .filter((kind) => countParts(kinds, kind) <= MOST_PARTS)
        .map((kind) => ({ kind, near: 0 }));
    }
  }

  /** The first row of each kind that may be one. */
  get firstRows(): number[] {
    return this.candidates.map(({ kind }) => this.kinds.all.indexOf(kind));
  }

  /** Adds a row, which differs in so many columns from the first row of a kind, numbered as in `firstRows`. */
  add(candidate: number, differing: number): void {
    if (differing > 0 && differing <= this.mostDiffering) {
      this.candidates[candidate].near++;
    }
  }

  /** Per row, 1 if it repeats such a reading; undefined where none does. */
  repeats(): Uint8Array | undefined {
    const { kinds } = this;
    const still = new Set<number>();
    let others = kinds.all.length;
    for (const { kind, near } of this.candidates) {
      const rows = kinds.count(kind);
      if (rows >= OF_ONE_KIND * (rows + near)) {
        still.add(kind);
        others -= rows;
      }
    }
    if (still.size === 0 || others > MOST_TIMES * (kinds.length - still.size)) {
      return undefined;
    }
    const repeats = Uint8Array.from(kinds.all, (kind) => (still.has(kind) ? 1 : 0));
    for (const kind of still) {
      repeats[kinds.all.indexOf(kind)] = 0;
    }
    return repeats;
  }
}

/** The kinds of most rows. */
function mostFrequent(kinds: RowKinds): number[] {
  const many: number[] = [];
  for (let kind = 0; kind < kinds.length; kind++) {
    if (kinds.count(kind) >= FEWEST_ROWS) {
      many.push(kind);
    }
  }
  return many.sort((a, b) => kinds.count(b) - kinds.count(a)).slice(0, MOST_KINDS);
}

/** In how many parts the rows of a kind come. */
function countParts(kinds: RowKinds, kind: number): number {
  const { all } = kinds;
  const gaps = new Int32Array(kinds.count(kind) - 1);
  let last = all.indexOf(kind);
  for (let i = 0; i < gaps.length; i++) {
    const next = all.indexOf(kind, last + 1);
    gaps[i] = next - last;
    last = next;
  }
  gaps.sort();
  const usual = gaps[Math.floor(gaps.length / 2)];
  return 1 + gaps.filter((gap) => gap > APART * usual).length;
}
