import { invalidTable } from '../cells/errors';
import { type ArrowData, type ArrowType, TYPE } from './arrow-data';
import { isPairs } from './times';

/** Of a text or bytes of any length: its length and its first bytes, or where it is. */
const VIEW_BYTES = 16;

/**
 * Refuses buffers that are shorter than the rows that they are said to have: what is read beyond their end would be
 * missing values, or zeros, without a word.
 */
export function assertHeld(
  name: string,
  data: ArrowData,
  isNull: (row: number) => boolean,
  from: number,
  to: number,
): void {
  const { nullBitmap, nullCount, offset, values, valueOffsets, type } = data;
  if (nullCount !== 0 && nullBitmap !== undefined && nullBitmap.length > 0) {
    if (nullBitmap.length * 8 < offset + to) {
      throw damaged(name);
    }
  }
  const held = rowsHeld(type, values, valueOffsets, offset);
  for (let row = Math.max(from, held); row < to; row++) {
    // Some writers leave out the values of a column that has none.
    if (!isNull(row)) {
      throw damaged(name);
    }
  }
}

/** Rows whose values are in the buffers. */
function rowsHeld(
  { typeId, bitWidth = 128, byteWidth = 1, unit }: ArrowType,
  values: ArrowData['values'],
  offsets: ArrowData['valueOffsets'],
  offset: number,
): number {
  const { length } = values ?? '';
  switch (typeId) {
    case TYPE.bool:
      return length * 8 - offset;
    case TYPE.int:
    case TYPE.float:
    case TYPE.dictionary:
      return length;
    case TYPE.decimal:
      return Math.floor(length / (bitWidth / 32));
    case TYPE.fixedSizeBinary:
      return Math.floor(length / byteWidth);
    case TYPE.date:
    case TYPE.timestamp:
    case TYPE.time:
    case TYPE.duration:
      return values instanceof Int32Array && isPairs({ typeId, bitWidth, unit })
        ? Math.floor(length / 2)
        : length;
    case TYPE.utf8View:
    case TYPE.binaryView:
      return Math.floor(length / VIEW_BYTES);
    case TYPE.utf8:
    case TYPE.largeUtf8:
    case TYPE.binary:
    case TYPE.largeBinary:
      return (offsets?.length ?? 0) - 1;
    default:
      return Infinity;
  }
}

export function damaged(name: string): Error {
  return invalidTable(`The Arrow table is damaged: column "${name}" has fewer values than rows.`);
}
