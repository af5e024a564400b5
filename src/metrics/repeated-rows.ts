/** What both halves of a digest begin from, and what a missing cell adds to them. */
const BASIS = 0x811c9dc5;
export const MISSING_WORD = 0x5bd1e995;
const HIGH = 2 ** 32;

/**
 * Digests of the rows of a table, cell by cell: equal for rows with equal cells. Each has 48 bits, so that it is a whole
 * number of a double. It reveals no value; with a row at hand it shows whether that row was there. The digests of a
 * champion's rows are kept with it, so they must stay the same.
 */
export class RowDigests {
  private readonly low: Int32Array;
  private readonly high: Int32Array;
  private readonly cell = new Float64Array(1);
  private readonly words = new Int32Array(this.cell.buffer);

  constructor(readonly rows: number) {
    this.low = new Int32Array(rows).fill(BASIS);
    this.high = new Int32Array(rows).fill(BASIS ^ MISSING_WORD);
  }

  /** Adds 32 bits of a cell to the digest of its row. */
  add(row: number, word: number): void {
    this.low[row] = mixed(this.low[row], word);
    this.high[row] = mixed(this.high[row], word + 1);
  }

  /** Adds a cell that is a number: 0 and −0 are one value, and so is every NaN. */
  addNumber(row: number, value: number): void {
    this.cell[0] = value === 0 ? 0 : Number.isNaN(value) ? NaN : value;
    this.add(row, this.words[0]);
    this.add(row, this.words[1]);
  }

  /** The digest of a row; its lowest 32 bits are a digest too. */
  of(row: number): number {
    return (finished(this.high[row]) >>> 16) * HIGH + (finished(this.low[row]) >>> 0);
  }
}

/** One round of MurmurHash3 (Austin Appleby), 32 bits. */
function mixed(hash: number, word: number): number {
  let k = Math.imul(word, 0xcc9e2d51);
  k = (k << 15) | (k >>> 17);
  const h = hash ^ Math.imul(k, 0x1b873593);
  return (Math.imul((h << 13) | (h >>> 19), 5) + 0xe6546b64) | 0;
}

function finished(hash: number): number {
  let h = hash;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return h ^ (h >>> 16);
}

/**
 * Rows that stand in a table more than once: a broker that delivers at least once, an export joined with itself, a
 * machine that sent its last reading for a day. Held out beside their copies they are scored on what was learned by
 * heart. A table of few different values repeats rows too, by chance, and later rows will repeat them as well; those
 * stay.
 *
 * What tells the two apart are private values: those that a column has in one kind of row alone. Where chance repeats
 * rows, a rare value comes back beside other values of the other columns, so that few private values have more than one
 * row.
 *
 * Where no column has private values enough, rows tell that agree in all columns but one. Chance repeats a row seldom, and
 * all but one of its columns far oftener; a copy agrees in all of them. `RowsButOne` counts both.
 *
 * Of 494 public tables as they are copies are found in 2; with every row twice in 490, with a third of the rows twice in 371, with
 * a tenth in 236, with one row repeated for an eighth of the table in 255. The rest have few values, mostly
 * (bench/learner/copies.mjs; docs/benchmarks/told.md has 2,010).
 */

/** With fewer columns, the target among them, rows that agree in one value soon agree in all: a column tells nothing by itself, … */
export const FEWEST_COLUMNS = 4;
/**
 * … but rows that agree in two of three values need not agree in the third. Where the third is their sum they do, so one of the
 * columns must have values of its own in most rows.
 */
export const FEWEST_TOGETHER = 3;
/** A column tells by at least so many private values that have copies, … */
const FEWEST_COPIED = 10;
/** … if they are at least this part of its private values. */
const COPIED = 0.2;
/** Where at least this part of the rows has a private value, copies of a single row tell too, … */
const MOSTLY_PRIVATE = 0.5;
/** … if at least this part of the rows with a private value are copies. */
const COPIES = 0.1;
/** Fewer kinds of rows may all have an even number of rows by chance. */
const FEWEST_KINDS = 20;
/** A table stands there so many times at most. Kinds that have more rows are what a table of few values is made of, … */
export const MOST_TIMES = 3;
/** … unless at least this part of the private values has a single row. */
const SINGLE = 0.3;
/** Of a long column about so many values are looked at, each in all of its rows. */
const VALUES = 20_000;
/**
 * At least so many of the groups of rows that agree in all columns but one, and repeat, must be of one kind. Chosen on 874
 * public tables (docs/benchmarks/told.md, "Rows that stand in the table twice").
 */
export const OF_ONE_KIND = 0.92;
/** Cells that are looked at together at most. */
const MOST_CELLS = 1_000_000;

/** The kinds of rows of a table: equal rows are of one kind. Typed arrays hold them: some 30 bytes per row. */
export class RowKinds {
  /** Per row its kind, numbered from 0 in the order in which they come. */
  readonly of: Int32Array;
  private readonly counts: Int32Array;
  private kinds = 0;
  private added = 0;
  /** A hash table with open addressing: digests, and the kind of each plus one; 0 where the slot is free. */
  private readonly digests: Float64Array;
  private readonly kindIn: Int32Array;

  /** @param rows at most so many are added */
  constructor(readonly rows: number) {
    this.of = new Int32Array(rows);
    this.counts = new Int32Array(rows);
    const slots = 2 ** Math.ceil(Math.log2(1.5 * Math.max(rows, 1)));
    this.digests = new Float64Array(slots);
    this.kindIn = new Int32Array(slots);
  }

  /** Adds the next row, by a digest of all of its cells: a whole number from 0 to 2^53. */
  add(digest: number): void {
    const { digests, kindIn } = this;
    let slot = digest % digests.length;
    while (kindIn[slot] !== 0 && digests[slot] !== digest) {
      slot = (slot + 1) % digests.length;
    }
    if (kindIn[slot] === 0) {
      digests[slot] = digest;
      kindIn[slot] = ++this.kinds;
    }
    const kind = kindIn[slot] - 1;
    this.counts[kind]++;
    this.of[this.added++] = kind;
  }

  /** How many kinds there are. */
  get length(): number {
    return this.kinds;
  }

  /** How many rows of a kind there are. */
  count(kind: number): number {
    return this.counts[kind];
  }

  /** Of each row that was added, its kind. */
  get all(): Int32Array {
    return this.of.subarray(0, this.added);
  }

  get areAllDifferent(): boolean {
    return this.kinds === this.added;
  }

  /** How many times the whole table stands there: the greatest number that divides the rows of each kind. */
  get times(): number {
    const times = this.counts.subarray(0, this.kinds).reduce(greatestDivisor, 0);
    return this.kinds < FEWEST_KINDS || times > MOST_TIMES ? 1 : times;
  }

  /** Whether rows that agree in all columns but one are worth a look: not where a few kinds make up the table. */
  mayBeCopied(columns: number): boolean {
    const { added, kinds } = this;
    const repeated = this.counts.subarray(0, kinds).reduce((sum, count) => sum + (count > 1 ? 1 : 0), 0);
    const isSmall = added <= VALUES && added * columns <= MOST_CELLS;
    return isSmall && repeated >= FEWEST_COPIED && added <= MOST_TIMES * kinds;
  }

  /**
   * Per row, 1 if it is a copy. A table that stands there several times is kept once, with the rows that chance repeats
   * in it; otherwise one row of each kind is kept.
   */
  copies(): Uint8Array {
    const { times } = this;
    const kept = this.counts.subarray(0, this.kinds).map((count) => (times > 1 ? count / times : 1));
    return Uint8Array.from(this.all, (kind) => (kept[kind]-- > 0 ? 0 : 1));
  }
}

/** The values of one column that only one kind of row has. */
export class PrivateValues {
  /** By value its kind, or SHARED. */
  private readonly kindOf = new Map<number, number>();
  private readonly every: number;

  constructor(private readonly kinds: RowKinds) {
    this.every = Math.ceil(kinds.rows / VALUES);
  }

  /** @param value a digest of the cell, 32 bits; cells without a value are not added */
  add(value: number, row: number): void {
    if ((value >>> 0) % this.every === 0) {
      const kind = this.kinds.of[row];
      this.kindOf.set(value, (this.kindOf.get(value) ?? kind) === kind ? kind : SHARED);
    }
  }

  /** Whether most kinds of rows have a value that no other has. */
  get areOfMostKinds(): boolean {
    return this.isMostlyPrivate([...this.kindOf.values()].filter((kind) => kind !== SHARED).length);
  }

  private isMostlyPrivate(values: number): boolean {
    const all = this.kinds.length;
    return all >= FEWEST_KINDS && values * this.every >= MOSTLY_PRIVATE * all;
  }

  /** Whether nearly all values of several rows are private. */
  areRepeatedByOneKind(): boolean {
    let [copied, shared] = [0, 0];
    for (const kind of this.kindOf.values()) {
      shared += kind === SHARED ? 1 : 0;
      copied += kind !== SHARED && this.kinds.count(kind) > 1 ? 1 : 0;
    }
    return copied >= FEWEST_COPIED && copied >= OF_ONE_KIND * (copied + shared);
  }

  /** Whether more of these values come again, with all other values of their row, than chance explains. */
  tellOfCopies(): boolean {
    let values = 0;
    let copied = 0;
    let rows = 0;
    for (const kind of this.kindOf.values()) {
      if (kind !== SHARED) {
        const count = this.kinds.count(kind);
        values++;
        copied += count > 1 ? 1 : 0;
        rows += count;
      }
    }
    const isFewValues = rows > MOST_TIMES * values && values - copied < SINGLE * values;
    return (
      !isFewValues &&
      ((copied >= FEWEST_COPIED && copied >= COPIED * values) ||
        (this.isMostlyPrivate(values) && rows - values >= COPIES * rows))
    );
  }
}

const SHARED = -1;

/** How the values of a column divide the rows. */
export class ColumnSplit {
  private readonly firstOf = new Map<number, number>();
  private sum = 0;

  /** @param value a digest of the cell, 32 bits */
  add(value: number, row: number): void {
    const first = this.firstOf.get(value) ?? row;
    this.firstOf.set(value, first);
    this.sum = (this.sum + finished(mixed(first, row))) | 0;
  }

  /** Equal for columns that divide the rows alike, such as a number and its logarithm. */
  get print(): number {
    return this.sum;
  }
}

/**
 * Groups of rows that agree in all columns but one, for each column in turn. Columns that divide the rows alike are left out
 * together: each of them would stand in for the other.
 */
export class RowsButOne {
  private readonly groups: PrivateValues[];
  private readonly groupOf: number[];
  private readonly own: Int32Array;

  constructor(kinds: RowKinds, splits: readonly ColumnSplit[]) {
    const prints = [...new Set(splits.map(({ print }) => print))];
    this.groupOf = splits.map(({ print }) => prints.indexOf(print));
    this.groups = prints.map(() => new PrivateValues(kinds));
    this.own = new Int32Array(prints.length);
  }

  /** @param cells a digest of each cell of the row, 32 bits */
  add(cells: ArrayLike<number>, row: number): void {
    const { own, groups, groupOf } = this;
    own.fill(0);
    let all = 0;
    for (let column = 0; column < cells.length; column++) {
      const cell = finished(mixed(column, cells[column]));
      own[groupOf[column]] += cell;
      all = (all + cell) | 0;
    }
    groups.forEach((group, at) => group.add((all - own[at]) | 0, row));
  }

  /** Whether rows that repeat agree in all columns far more often than chance lets them. */
  tellOfCopies(): boolean {
    return (
      this.groups.length >= FEWEST_TOGETHER && this.groups.every((group) => group.areRepeatedByOneKind())
    );
  }
}

function greatestDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestDivisor(b, a % b);
}
