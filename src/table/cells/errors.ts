import { isDate } from '../../util/values';
import { ServiceError } from '../../wire/service-error';

/** `table.invalid` with the place: column by name, row counted from 1 (without the header). */
export function invalidCell(column: string, row: number, problem: string): ServiceError {
  return new ServiceError('table.invalid', `Column "${column}", row ${row + 1}: ${problem}`);
}

export function invalidTable(problem: string): ServiceError {
  return new ServiceError('table.invalid', problem);
}

export function emptyTable(problem: string): ServiceError {
  return new ServiceError('table.empty', problem);
}

const SHOWN = 40;
const LONG_BITS = 4096;

/** An integer of more than some 1,200 digits: to write them out takes the square of their number. */
export function isLong(value: bigint): boolean {
  return BigInt.asIntN(LONG_BITS, value) !== value;
}

/** A value in a sentence: short, on one line. */
export function show(value: unknown): string {
  if (typeof value === 'string') {
    return JSON.stringify(value.length > SHOWN ? `${value.slice(0, SHOWN)}…` : value);
  }
  if (isDate(value)) {
    return Number.isNaN(value.getTime()) ? 'an invalid date' : value.toISOString();
  }
  if (Array.isArray(value)) {
    return 'an array';
  }
  if (ArrayBuffer.isView(value)) {
    return 'a Buffer';
  }
  if (typeof value === 'object' && value !== null) {
    return 'an object';
  }
  if (typeof value === 'bigint' && isLong(value)) {
    return 'an integer of more than 1,200 digits';
  }
  return String(value);
}

/** `table.invalid` for a cell that is not a plain value. */
export function nestedCell(name: string, row: number, cell: unknown): Error {
  return invalidCell(name, row, nestedProblem(cell));
}

export function nestedProblem(cell: unknown): string {
  const what = typeof cell === 'function' || typeof cell === 'symbol' ? `a ${typeof cell}` : show(cell);
  return `the cell holds ${what}. A cell must be a number, text, true or false, or a date: flatten it first, or leave the column out by Ignore.`;
}

/** Column names in a sentence, the first twenty of them. */
export function listNames(names: readonly string[]): string {
  const shown = names.slice(0, 20).map((name) => `"${name}"`);
  return names.length > 20 ? `${shown.join(', ')} and ${names.length - 20} more` : shown.join(', ');
}
