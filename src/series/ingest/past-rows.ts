import type { KeptRow } from '../kept-row';
import type { SeriesState } from '../state/state';
import type { PackedList, SeriesOutcome, SeriesRow } from '../types';

/** Rows of one reading: they differ by their time ahead, in their first cells alone. */
interface PackedRows {
  readonly key: string | null;
  readonly time: number;
  /** The cells that all of them share, at their positions in a row. */
  readonly base: Float64Array;
  /** The first cells of each, one after the other. */
  readonly heads: Float64Array;
}

/** Numbers held for the rows of a table: those of many wide rows are the newest that they leave space for. */
const MAX_NUMBERS = 20_000_000;

/** The newest rows of past readings. A year of hours with 24 times ahead takes 27 MB; as objects it takes ten times that. */
export class PastRows implements PackedList<SeriesRow> {
  numbers = 0;
  private readonly packed = new Queue<PackedRows>();
  private readonly byKey = new Map<string | null, Map<number, PackedRows>>();

  constructor(
    private readonly state: SeriesState,
    private readonly most: number,
  ) {}

  get length(): number {
    return Math.min(this.most, this.packed.size * this.state.rowAheads.length);
  }

  get total(): number {
    return this.packed.total * this.state.rowAheads.length;
  }

  get width(): number {
    return this.state.features.columns().length + 1;
  }

  /** Takes the rows of a reading, one for each time ahead. */
  add(key: string | null, time: number, base: Float64Array, rows: readonly Float64Array[]): void {
    const { headCells } = this.state.features;
    const heads = new Float64Array(rows.length * headCells);
    rows.forEach((row, k) => heads.set(row.subarray(0, headCells), k * headCells));
    const packed = { key, time, base, heads };
    let ofKey = this.byKey.get(key);
    if (ofKey === undefined) {
      ofKey = new Map();
      this.byKey.set(key, ofKey);
    }
    ofKey.set(time, packed);
    this.packed.push(packed);
    this.numbers += base.length + heads.length;
    while ((this.packed.size - 1) * rows.length >= this.most || this.numbers > MAX_NUMBERS) {
      this.forgetOldest();
    }
  }

  private forgetOldest(): void {
    const oldest = this.packed.shift();
    this.numbers -= oldest.base.length + oldest.heads.length;
    if (this.of(oldest.key, oldest.time) === oldest) {
      this.byKey.get(oldest.key)!.delete(oldest.time);
    }
  }

  of(key: string | null, time: number): PackedRows | undefined {
    return this.byKey.get(key)?.get(time);
  }

  /** The row for the time ahead at an index of `rowAheads`. */
  unpack({ base, heads }: PackedRows, k: number): Float64Array {
    const { headCells } = this.state.features;
    const row = base.slice();
    row.set(heads.subarray(k * headCells, (k + 1) * headCells));
    return row;
  }

  slice(from: number, to: number): SeriesRow[] {
    const { state, length } = this;
    const aheads = state.rowAheads;
    const skipped = this.packed.size * aheads.length - length;
    const rows: SeriesRow[] = [];
    for (let i = from + skipped; i < Math.min(to, length) + skipped; i++) {
      const packed = this.packed.at(Math.floor(i / aheads.length))!;
      const { key, time } = packed;
      const k = i % aheads.length;
      rows.push({
        series: state.address(key, time, aheads[k]!),
        row: state.features.cells(this.unpack(packed, k), key),
      });
    }
    return rows;
  }
}

/** The newest outcomes of past readings; the row of most is among the rows. */
export class PastOutcomes implements PackedList<SeriesOutcome> {
  private readonly packed = new Queue<KeptRow | { of: PackedRows; k: number; truth: number }>();

  constructor(
    private readonly outcomeOf: (row: KeptRow) => SeriesOutcome,
    private readonly state: SeriesState,
    private readonly rows: PastRows,
    private readonly most: number,
  ) {}

  get length(): number {
    return this.packed.size;
  }

  get total(): number {
    return this.packed.total;
  }

  get width(): number {
    return this.rows.width + 1;
  }

  add(kept: KeptRow): void {
    const { key, time, ahead, truth } = kept;
    const of = this.rows.of(key, time);
    this.packed.push(of === undefined ? kept : { of, k: this.state.rowAheads.indexOf(ahead), truth });
    if (this.length > this.most) {
      this.packed.shift();
    }
  }

  slice(from: number, to: number): SeriesOutcome[] {
    const outcomes: SeriesOutcome[] = [];
    for (let i = from; i < Math.min(to, this.length); i++) {
      const one = this.packed.at(i)!;
      outcomes.push(this.outcomeOf('of' in one ? this.unpacked(one) : one));
    }
    return outcomes;
  }

  private unpacked({ of, k, truth }: { of: PackedRows; k: number; truth: number }): KeptRow {
    const { key, time } = of;
    return { key, time, ahead: this.state.rowAheads[k]!, row: this.rows.unpack(of, k), truth };
  }
}

class Queue<T> {
  /** How many have been pushed. */
  total = 0;
  private list: T[] = [];
  private head = 0;

  get size(): number {
    return this.list.length - this.head;
  }

  at(index: number): T | undefined {
    return this.list[this.head + index];
  }

  push(one: T): void {
    this.list.push(one);
    this.total++;
  }

  /** Takes the oldest, of at least one. */
  shift(): T {
    const oldest = this.list[this.head++]!;
    if (this.head > 1024 && this.head > this.list.length / 2) {
      this.list = this.list.slice(this.head);
      this.head = 0;
    }
    return oldest;
  }
}
