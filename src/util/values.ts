import { types } from 'node:util';

// A function node runs in a context of its own: what its classes make is no instance of the classes here.

export function isDate(value: unknown): value is Date {
  // Asked of every cell of a target: most are no objects.
  return typeof value === 'object' && (value instanceof Date || types.isDate(value));
}

/** True for a typed array, a Buffer among them. */
export function isTypedArray(value: unknown): value is NodeJS.TypedArray {
  return ArrayBuffer.isView(value) && !types.isDataView(value);
}

/** Whether it is empty, or its bytes have been transferred elsewhere; to ask a DataView of those throws. */
const isGone = (buffer: ArrayBufferLike): boolean => buffer.byteLength === 0;

/** The bytes of a Buffer, a Uint8Array, a DataView or an ArrayBuffer; undefined for anything else. */
export function asBytes(value: unknown): Uint8Array | undefined {
  if (types.isAnyArrayBuffer(value)) {
    return isGone(value) ? new Uint8Array(0) : new Uint8Array(value);
  }
  if (types.isUint8Array(value) || types.isUint8ClampedArray(value) || types.isDataView(value)) {
    return isGone(value.buffer)
      ? new Uint8Array(0)
      : new Uint8Array(value.buffer, value.byteOffset, value.byteLength);
  }
  return undefined;
}

/** True for a promise, of this realm or another, and for whatever `await` would take for one. */
export function isThenable(value: unknown): boolean {
  return (
    typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function'
  );
}

/** What a thrown value says, whatever was thrown: an error of another realm, or something that is no error. Never throws. */
export function readReason(error: unknown): string {
  try {
    const { message } = Object(error) as { message?: unknown };
    return typeof message === 'string' ? message : String(error);
  } catch {
    // An object without a prototype, or one that throws as it is read.
    return 'an error without a message';
  }
}

/**
 * A deep copy of a JSON-like value, quicker than structuredClone for the few values of metadata or of a card. What is
 * neither an array nor an object is taken over.
 */
export function cloneJson<Value>(value: Value): Value {
  if (typeof value !== 'object' || value === null) {
    return value;
  }
  if (Array.isArray(value)) {
    return value.map(cloneJson) as Value;
  }
  const copy = { ...value } as Record<string, unknown>;
  for (const key of Object.keys(copy)) {
    const inner = copy[key];
    if (typeof inner === 'object' && inner !== null && key !== '__proto__') {
      copy[key] = cloneJson(inner);
    }
  }
  return copy as Value;
}

/** An object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The value of a JSON text; undefined where it is not JSON. */
export function tryParseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a JSON-like value is nested deeper than that: what walks it by calling itself would run out of stack. */
export function isDeeper(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) {
    return false;
  }
  if (levels === 0) {
    return true;
  }
  for (const inner of Object.values(value)) {
    if (isDeeper(inner, levels - 1)) {
      return true;
    }
  }
  return false;
}

/** A whole number of 16 digits or more. */
const LONG_NUMBER = /(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g;
const SHORTEST = 16;
const BACKSLASH = 92;
/** A quick test for such a number; the digits of a fraction do not count. */
const LONG = /(?<![\d.])\d{16}/;
const MARKED = /^\0-?\d+$/;

/**
 * JSON.parse, but whole numbers beyond 2^53 become bigint, or what `toValue` makes of their digits, instead of being
 * rounded. Throws SyntaxError.
 */
export function parseJson(text: string, toValue: (digits: string) => unknown = BigInt): unknown {
  if (!mayHoldLong(text)) {
    return JSON.parse(text);
  }
  const replaced = withMarks(text);
  const unmarked = (_key: string, value: unknown): unknown =>
    typeof value === 'string' && MARKED.test(value) ? toValue(value.slice(1)) : value;
  return replaced === undefined ? JSON.parse(text) : JSON.parse(replaced, unmarked);
}

/** The text with its long numbers as marked strings; undefined where it has none. Strings, which may hold digits, stay. */
function withMarks(text: string): string | undefined {
  let out: string | undefined;
  let kept = 0;
  for (let at = 0; at < text.length;) {
    const open = text.indexOf('"', at);
    const end = open < 0 ? text.length : open;
    if (end - at >= SHORTEST) {
      const between = text.slice(at, end);
      const marked = between.replace(LONG_NUMBER, (digits) =>
        Number.isSafeInteger(Number(digits)) ? digits : `"\\u0000${digits}"`,
      );
      if (marked !== between) {
        out = `${out ?? ''}${text.slice(kept, at)}${marked}`;
        kept = end;
      }
    }
    at = open < 0 ? text.length : endOfString(text, open) + 1;
  }
  return out === undefined ? undefined : out + text.slice(kept);
}

/** Where the string that begins at `open` has its closing quote; the end of the text where it has none. */
function endOfString(text: string, open: number): number {
  for (let at = text.indexOf('"', open + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) {
      slashes++;
    }
    if (slashes % 2 === 0) {
      return at;
    }
  }
  return text.length;
}

/** Whether a JSON text has so many digits in a row that they may be a number beyond 2^53; 10 ms for a megabyte. */
export function mayHoldLong(text: string): boolean {
  return LONG.test(text);
}

/** A text of digits that `stringifyBare` writes as a number, whatever its size. */
export function bare(digits: string): string {
  return `\0${digits}`;
}

/** JSON.stringify, with texts of `bare` as numbers. */
export function stringifyBare(value: unknown): string {
  return JSON.stringify(value).replace(/"\\u0000(-?\d+)"/g, '$1');
}
