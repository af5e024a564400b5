import { type Room, roomOf } from '../../wasm/scratch';

/** The bins of some rows, gathered by column on first use. */
export class RowBins {
  private readonly bins: (Uint8Array | undefined)[];
  /** Scratch for all of them, if the kernel is to read them. */
  private readonly binRoom: Uint8Array | undefined;
  private readonly stride: number;
  private readonly highest: Uint8Array;

  constructor(
    private readonly columns: Uint8Array[],
    private readonly rows: Int32Array,
    room: Room<object>,
  ) {
    this.bins = columns.map(() => undefined);
    this.stride = roomOf(rows.length);
    this.binRoom = room.functions && room.bytes(columns.length * this.stride);
    this.highest = new Uint8Array(columns.length);
  }

  /** Their size in scratch memory. */
  static roomOf(columns: number, rows: number): number {
    return columns * roomOf(rows);
  }

  of(column: number): Uint8Array {
    const known = this.bins[column];
    if (known) {
      return known;
    }
    const { rows, binRoom, stride } = this;
    const from = this.columns[column];
    const start = column * stride;
    const bins = binRoom?.subarray(start, start + rows.length) ?? new Uint8Array(rows.length);
    let highest = 0;
    for (let i = 0; i < bins.length; i++) {
      const bin = from[rows[i]];
      bins[i] = bin;
      highest = bin > highest ? bin : highest;
    }
    this.bins[column] = bins;
    this.highest[column] = highest;
    return bins;
  }

  highestOf(column: number): number {
    this.of(column);
    return this.highest[column];
  }
}
