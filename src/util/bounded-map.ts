/** A map that forgets its oldest entries beyond a number. Setting a key again makes it the newest. */
export class BoundedMap<Key, Value> {
  private readonly entries = new Map<Key, Value>();

  /** @param onEvict called with what is evicted for lack of space, not with what is deleted or replaced */
  constructor(
    private readonly maxSize: number,
    private readonly onEvict?: (value: Value, key: Key) => void,
  ) {}

  get size(): number {
    return this.entries.size;
  }

  get(key: Key): Value | undefined {
    return this.entries.get(key);
  }

  has(key: Key): boolean {
    return this.entries.has(key);
  }

  set(key: Key, value: Value): void {
    this.entries.delete(key);
    this.entries.set(key, value);
    for (const [oldest, evicted] of this.entries) {
      if (this.entries.size <= this.maxSize) {
        return;
      }
      this.entries.delete(oldest);
      this.onEvict?.(evicted, oldest);
    }
  }

  delete(key: Key): boolean {
    return this.entries.delete(key);
  }

  clear(): void {
    this.entries.clear();
  }

  keys(): IterableIterator<Key> {
    return this.entries.keys();
  }

  /** From the oldest to the newest. */
  values(): IterableIterator<Value> {
    return this.entries.values();
  }

  [Symbol.iterator](): IterableIterator<[Key, Value]> {
    return this.entries[Symbol.iterator]();
  }
}
