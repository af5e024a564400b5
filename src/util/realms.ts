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
export function reasonOf(error: unknown): string {
  try {
    const { message } = Object(error) as { message?: unknown };
    return typeof message === 'string' ? message : String(error);
  } catch {
    // An object without a prototype, or one that throws as it is read.
    return 'an error without a message';
  }
}
