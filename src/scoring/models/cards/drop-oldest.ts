/** Drops the oldest entries until at most `max` are left. */
export function dropOldest<Value>(
  map: Map<string, Value>,
  max: number,
  onDrop?: (value: Value) => void,
): void {
  for (const [key, value] of map) {
    if (map.size <= max) {
      return;
    }
    map.delete(key);
    onDrop?.(value);
  }
}
