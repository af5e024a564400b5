import { type ArrowData, type ArrowType, TYPE } from './arrow-data';

const DAY = 86_400_000;
/** Milliseconds per unit: seconds, milliseconds, microseconds, nanoseconds. */
const UNIT_MS = [1000, 1, 1e-3, 1e-6];
/** The last moment that a Date can hold; the first one is as far before 1970. */
const LAST_MOMENT = 8.64e15;

/**
 * Reads a date as whole milliseconds (what is finer is dropped, as of a date in text), a time of day or duration as
 * milliseconds with their fraction. A moment that no Date can hold, such as the infinity of some databases, is missing.
 */
export function timeReader(data: ArrowData): (row: number) => number {
  const read = unitReader(data);
  const { typeId } = data.type;
  if (typeId !== TYPE.date && typeId !== TYPE.timestamp) {
    return read;
  }
  return (row) => {
    const value = read(row);
    return Math.abs(value) <= LAST_MOMENT ? value : NaN;
  };
}

function unitReader({ type, values }: ArrowData): (row: number) => number {
  const isDate = type.typeId === TYPE.date;
  const perUnit = isDate ? [DAY, 1][type.unit ?? 0]! : UNIT_MS[type.unit ?? 1]!;
  const whole = isDate || type.typeId === TYPE.timestamp;
  if (values instanceof BigInt64Array) {
    const divisor = BigInt(Math.round(1 / Math.min(1, perUnit)));
    return whole && perUnit < 1
      ? (row) => Number(floorDivide(values[row]!, divisor))
      : (row) => Number(values[row]!) * perUnit;
  }
  const numbers = values as Int32Array;
  if (!isPairs(type)) {
    return (row) => numbers[row]! * perUnit;
  }
  return (row) => {
    const value = (numbers[row * 2 + 1]! * 2 ** 32 + (numbers[row * 2]! >>> 0)) * perUnit;
    return whole ? Math.floor(value) : value;
  };
}

/** Times of 64 bits that come as two halves each, as older versions of the library give them. */
export function isPairs({ typeId, bitWidth, unit }: ArrowType): boolean {
  return bitWidth === 64 || typeId === TYPE.timestamp || (typeId === TYPE.date && unit === 1);
}

/** BigInt's own division rounds towards zero, which before 1970 is the wrong way. */
function floorDivide(value: bigint, divisor: bigint): bigint {
  return (value < 0n ? value - divisor + 1n : value) / divisor;
}
