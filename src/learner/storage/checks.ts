import { LearnerError } from '../types';

/*
 * What the description of a stored model (`fields.ts`) is made of. A file may be damaged, or have been made to harm: what is
 * read once here is trusted by all that walks it later.
 */

/** Whether a value, which may be anything, is what it must be: a record, if there are tests of its fields. */
export type Test = ((value: unknown) => boolean) | { readonly [field: string]: Test };

/** Tests of the fields of a record, under what is wrong where one of them fails, in the order in which that is told. */
export type Faults<T> = Record<string, { readonly [K in keyof T]?: Test }>;

/** @throws LearnerError unless it is so @param fault what is wrong otherwise */
export function must(isSound: boolean, fault: string): asserts isSound {
  if (!isSound) {
    throw new LearnerError(`The model is damaged: ${fault}.`);
  }
}

/** The value, if it is a record with such fields. One that is no record has the first fault. @throws LearnerError */
export function checked<T>(value: unknown, faults: Faults<T>): T {
  for (const [fault, tests] of Object.entries(faults)) {
    must(passes(value, tests as Test), fault);
  }
  return value as T;
}

export function passes(value: unknown, test: Test): boolean {
  return typeof test === 'function'
    ? test(value)
    : isRecord(value) && Object.entries(test).every(([name, own]) => passes(value[name], own));
}

/** An object that is neither null, a list nor an array of numbers. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !ArrayBuffer.isView(value);
}

/** How many elements a field has, before it is known to be a list or an array. */
export function readLength(value: unknown, field: string): number {
  const held = isRecord(value) ? value[field] : undefined;
  return Array.isArray(held) || ArrayBuffer.isView(held) ? (held as Numbers).length : 0;
}

export const orMissing = (test: Test) => (value: unknown) => value === undefined || passes(value, test);
export const among = (values: readonly unknown[]) => (value: unknown) => values.includes(value);
export const isFiniteNumber = (value: unknown): value is number => Number.isFinite(value);
export const isPositive = (value: unknown) => isFiniteNumber(value) && value > 0;
export const isShare = (value: unknown) => isFiniteNumber(value) && value >= 0 && value <= 1;
export const isBoolean = (value: unknown) => typeof value === 'boolean';
export const isText = (value: unknown) => typeof value === 'string';
/** A whole number from 0 to `most`. */
export const upTo = (most: number) => (value: unknown) =>
  Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;

/** So many elements, so many at least and at most, or any number of them. */
type Length = number | readonly [least: number, most: number] | undefined;

function isLength(actual: number, length: Length = [0, Infinity]): boolean {
  return typeof length === 'number' ? actual === length : actual >= length[0] && actual <= length[1];
}

/** A list of that length. @param test of each element */
export const listOf =
  (length: Length, test: (value: unknown, index: number) => boolean = () => true) =>
  (value: unknown) =>
    Array.isArray(value) && isLength(value.length, length) && value.every(test);

type Numbers = Float64Array | Float32Array | Int32Array | Uint16Array | Uint8Array;

/** An array of that type and length, which passes these tests too. */
const array =
  <T extends Numbers>(type: new (length: number) => T) =>
  (length?: Length, ...tests: ((values: T) => boolean)[]) =>
  (value: unknown): value is T =>
    value instanceof type && isLength(value.length, length) && tests.every((test) => test(value));

export const f64 = array(Float64Array);
export const f32 = array(Float32Array);
export const i32 = array(Int32Array);
export const u16 = array(Uint16Array);
export const u8 = array(Uint8Array);

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
  return values.every((value, i) => value >= values[Math.max(0, i - 1)]);
}

/** @param test of each element */
export const each = (test: (value: number) => boolean) => (values: Numbers) => values.every(test);

/** None below 0, none missing. */
export const areNotNegative = each((value) => value >= 0);
/** None above `most`. */
export const noneAbove = (most: number) => each((value) => value <= most);
