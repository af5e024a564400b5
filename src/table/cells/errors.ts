import { isDate } from '../../util/realms';
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
  if (typeof value === 'object' && value !== null) {
    return 'an object';
  }
  return String(value);
}
