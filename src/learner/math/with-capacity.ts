type Growable = Int32Array | Uint16Array | Uint8Array | Float32Array | Float64Array;

/** The list itself if it has the capacity needed, else a copy with at least twice its capacity. */
export function withCapacity<T extends Growable>(list: T, needed: number): T {
  if (list.length >= needed) {
    return list;
  }
  const larger = new (list.constructor as new (n: number) => T)(Math.max(needed, list.length * 2));
  larger.set(list);
  return larger;
}
