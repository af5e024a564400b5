import type { ColumnData } from './column-batch';

/**
 * Text cells as UTF-8 bytes and offsets. The cells of a slice are joined and encoded in one call, which is
 * many times quicker than a call per cell; in ASCII the offsets follow from the lengths.
 */
export class TextBuffer {
  private data = Buffer.alloc(0);
  private used = 0;
  private offsets = new Int32Array(1);
  private missing: Uint8Array | undefined;
  private rows = 0;

  get bytes(): number {
    return this.used + this.rows * 4;
  }

  /** Adds cells; null is missing, and so is empty text where `emptyIsMissing`. */
  add(cells: readonly (string | null)[], emptyIsMissing = false): void {
    this.reserveRows(cells.length);
    const joined = cells.join('');
    // A UTF-16 unit takes at least one byte, so equal counts mean that all of it is ASCII.
    if (Buffer.byteLength(joined, 'utf8') === joined.length) {
      this.reserveBytes(joined.length);
      this.used += this.data.write(joined, this.used, 'latin1');
      this.addAsciiOffsets(cells);
    } else {
      this.addUnicode(cells);
    }
    for (let i = 0; i < cells.length; i++) {
      if (cells[i] === null || (emptyIsMissing && cells[i] === '')) {
        this.missing ??= new Uint8Array(this.offsets.length);
        this.missing[this.rows + i] = 1;
      }
    }
    this.rows += cells.length;
  }

  take(): ColumnData {
    const { rows, used } = this;
    const bytes = new Uint8Array(this.data.subarray(0, used));
    const offsets = this.offsets.slice(0, rows + 1);
    const missing = this.missing?.slice(0, rows);
    this.used = 0;
    this.rows = 0;
    this.missing = undefined;
    return missing === undefined
      ? { type: 'text', bytes, offsets }
      : { type: 'text', bytes, offsets, missing };
  }

  private addAsciiOffsets(cells: readonly (string | null)[]): void {
    let at = this.offsets[this.rows]!;
    for (let i = 0; i < cells.length; i++) {
      at += cells[i]?.length ?? 0;
      this.offsets[this.rows + i + 1] = at;
    }
  }

  /** Cell by cell, since neighbours could join to one character where text is cut inside a surrogate pair. */
  private addUnicode(cells: readonly (string | null)[]): void {
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (cell !== null && cell !== undefined && cell !== '') {
        this.reserveBytes(cell.length * 3);
        this.used += this.data.write(cell, this.used, 'utf8');
      }
      this.offsets[this.rows + i + 1] = this.used;
    }
  }

  private reserveRows(rows: number): void {
    const needed = this.rows + rows + 1;
    if (needed > this.offsets.length) {
      const offsets = new Int32Array(Math.max(needed, this.offsets.length * 2));
      offsets.set(this.offsets);
      this.offsets = offsets;
    }
    if (this.missing !== undefined && this.missing.length < this.offsets.length) {
      const missing = new Uint8Array(this.offsets.length);
      missing.set(this.missing);
      this.missing = missing;
    }
  }

  private reserveBytes(bytes: number): void {
    const needed = this.used + bytes;
    if (needed > this.data.length) {
      const data = Buffer.allocUnsafeSlow(Math.max(needed, this.data.length * 2, 1024));
      this.data.copy(data, 0, 0, this.used);
      this.data = data;
    }
  }
}
