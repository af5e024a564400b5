import { LearnerError } from '../../types';

/*
 * What every check of a stored model is made of. A file may be damaged, or have been made to harm: what is read once here
 * is trusted by all that walks it later.
 */

/** @throws LearnerError unless it is so @param fault what is wrong otherwise */
export function must(isSound: boolean, fault: string): asserts isSound {
  if (!isSound) {
    throw new LearnerError(`The model is damaged: ${fault}.`);
  }
}

/** A whole number from 0 to `most`. */
export function isCount(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

export function isFiniteNumber(value: unknown): value is number {
  return Number.isFinite(value);
}

/** An object that is neither null, a list nor an array of numbers. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

type Numbers = Float64Array | Float32Array | Int32Array | Uint16Array | Uint8Array;

/** An array of that type and, where it is given, length. */
export function isArrayOf<T extends Numbers>(
  type: new (length: number) => T,
  value: unknown,
  length?: number,
): value is T {
  return value instanceof type && (length === undefined || value.length === length);
}

export function areFinite(values: Float64Array | Float32Array): boolean {
  // A sum of products with 0 is 0 unless one of them is not finite: no branch per number.
  let sum = 0;
  for (let i = 0; i < values.length; i++) {
    sum += values[i] * 0;
  }
  return sum === 0;
}

/** Without missing values, and none smaller than the one before. */
export function areAscending(values: Float64Array | Int32Array): boolean {
  for (let i = 0; i < values.length; i++) {
    if (!(values[i] >= values[Math.max(0, i - 1)])) {
      return false;
    }
  }
  return true;
}

/** None above `most`. */
export function areWithin(values: Uint8Array | Uint16Array, most: number): boolean {
  let largest = 0;
  for (let i = 0; i < values.length; i++) {
    largest = values[i] > largest ? values[i] : largest;
  }
  return largest <= most;
}
