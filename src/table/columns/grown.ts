type Room = Float64Array | BigInt64Array | Uint8Array;

/** An array with room for more: a copy of twice the size where there is too little. */
export function grown<T extends Room>(array: T, length: number): T {
  if (length <= array.length) {
    return array;
  }
  const next = new (array.constructor as new (n: number) => T)(Math.max(length, array.length * 2, 256));
  next.set(array as never);
  return next;
}
