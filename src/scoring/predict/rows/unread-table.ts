import { openTable, openTableFile } from '../../../table';
import type { TableInput } from '../../types';
import { type Attached, MessageTable, type OwnTable, ROW_BYTES } from './message-table';
import { OwnCopy } from './own-copy';

/** A table as it arrived, in memory or on disk. Once it is read, a HeldTable or a StreamedTable replaces it. */
export class UnreadTable extends MessageTable {
  readonly rowCount: number;
  readonly bytes: number;
  private readonly from: { copy: OwnCopy } | { path: string };

  constructor(input: TableInput) {
    super();
    if ('path' in input) {
      this.from = input;
      this.rowCount = 1;
      this.bytes = ROW_BYTES;
    } else {
      this.from = { copy: new OwnCopy(input.value) };
      [this.rowCount, this.bytes] = guessSize(input.value);
    }
  }

  /** To be called once. */
  async open(signal: AbortSignal): Promise<OwnTable> {
    if ('path' in this.from) {
      return { source: await openTableFile(this.from.path, { signal }), value: undefined };
    }
    const value = await this.from.copy.take(signal);
    return { source: await openTable(value, { signal }), value };
  }

  attach(): Attached {
    return {};
  }
}

/** Rows and bytes of a value that is not yet read, roughly. */
function guessSize(value: unknown): [rows: number, bytes: number] {
  if (typeof value === 'string' || Buffer.isBuffer(value)) {
    return [1, value.length];
  }
  const rows = Array.isArray(value) ? value.length : columnLength(value);
  return [rows, rows * ROW_BYTES];
}

/** Rows of an Arrow table, or of an object of columns by the first of them. */
function columnLength(value: unknown): number {
  const { numRows } = (value ?? {}) as { numRows?: unknown };
  if (typeof numRows === 'number') {
    return numRows;
  }
  const [first] = typeof value === 'object' && value !== null ? (Object.values(value) as unknown[]) : [];
  return Array.isArray(first) || ArrayBuffer.isView(first)
    ? (first as unknown as { length: number }).length
    : 1;
}
