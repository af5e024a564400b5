import * as text from '../cells/field-readings';
import { Looks } from '../cells/local-formats';
import type { ColumnType } from '../cells/types';
import { cellsOf, rowsOf } from '../columns/column-batch';
import type { SliceColumn } from '../columns/table-source';
import { FieldTally } from './field-type';
import type { Settled, Sight } from './settled';
import { TargetTally } from './target-profile';
import { ValueTally } from './value-type';

/** Bytes that a cell other than text takes as text at most: those of a date, or of a long number. */
const OTHER_BYTES = 30;

/** Settles the type of one column over all of its rows. */
export class ColumnTally {
  readonly target: TargetTally | undefined;
  private readonly looks = new Looks();
  private readonly fields: FieldTally;
  private readonly values: ValueTally;
  private rows = 0;
  private textBytes = 0;

  constructor(
    readonly name: string,
    private readonly given: ColumnType | undefined,
    isTarget: boolean,
  ) {
    this.target = isTarget ? new TargetTally() : undefined;
    this.fields = new FieldTally(name, this.looks);
    this.values = new ValueTally(name, this.looks);
  }

  add(column: SliceColumn, first: number): void {
    this.target?.add(column, first);
    this.measure(column);
    if (this.given !== undefined) {
      this.lookGiven(column, first);
      return;
    }
    if (column.kind === 'fields') {
      this.fields.add(column, first);
    } else if (column.kind === 'values') {
      this.values.add(column.cells, first);
    } else {
      this.values.addTyped(column.data, first);
    }
  }

  settle(): Settled {
    if (this.given !== undefined) {
      const { decimal } = this.looks;
      return { type: this.given, ...(decimal !== undefined && { decimal }) };
    }
    const settled = this.settleKinds();
    if (settled.type !== 'text') {
      return settled;
    }
    const text = this.firstText();
    const like = this.onlyText() ? this.looks.settle() : undefined;
    if (like === undefined) {
      return { ...settled, text };
    }
    const { example, whole } = this.looks;
    // What it looks like tells more than that it is mixed.
    return { type: 'text', text, look: { like, whole, example: example! } };
  }

  private settleKinds(): Settled {
    if (this.fields.count === 0) {
      return this.values.settle();
    }
    return this.values.isEmpty ? this.fields.settle() : this.settleBoth();
  }

  /** True where no value but text, and text that may mean "missing", was seen. */
  private onlyText(): boolean {
    return this.values.onlyText && (this.values.isEmpty || this.fields.count === 0);
  }

  private firstText(): Sight | undefined {
    return this.values.firstText ?? this.fields.odd ?? this.looks.example;
  }

  /** Finds out what decimal mark the text of a column has that is given as numbers. */
  private lookGiven(column: SliceColumn, first: number): void {
    if (this.given !== 'number' && this.given !== 'integer') {
      return;
    }
    const cells: ArrayLike<unknown> =
      column.kind !== 'typed' ? column.cells : column.data.type === 'text' ? cellsOf(column.data) : [];
    // Numbers of a tab-separated file may be grouped by commas, so each is looked at.
    const comma = column.kind === 'fields' && column.comma && column.grouped !== true;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      if (typeof cell === 'string' && cell !== '' && !text.isAbsent(cell)) {
        this.looks.addFitting(cell, first + i, comma);
      }
    }
  }

  /** Bytes of the column as it is stored, without compression, at most. */
  bytesAs(type: ColumnType): number {
    return type === 'text' ? 4 * this.rows + this.textBytes : 9 * this.rows;
  }

  private measure(column: SliceColumn): void {
    if (column.kind === 'typed') {
      const { data } = column;
      this.rows += rowsOf(data);
      this.textBytes += data.type === 'text' ? data.bytes.length : OTHER_BYTES * rowsOf(data);
      return;
    }
    const { cells } = column;
    let characters = 0;
    for (let i = 0; i < cells.length; i++) {
      const cell = cells[i];
      characters += typeof cell === 'string' ? cell.length : OTHER_BYTES / 3;
    }
    this.rows += cells.length;
    this.textBytes += 3 * characters;
  }

  /** A sequence of messages can hold text files and objects. */
  private settleBoth(): Settled {
    const fields = this.fields.settle();
    const values = this.values.settle();
    if (fields.type === values.type) {
      return values;
    }
    const types = [fields.type, values.type];
    if (types.every((type) => type === 'integer' || type === 'number')) {
      return { type: 'number' };
    }
    const text = `Column "${this.name}" holds ${types.join(' and ')}, so it is taken as text.`;
    return { type: 'text', warning: fields.warning ?? values.warning ?? text };
  }
}
