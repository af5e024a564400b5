/**
 * A queue that items may leave from anywhere: `add`, `delete` and `first` take the same time at any length. A bare Set
 * would search past all that have left each time its first item is asked for.
 */
export class Fifo<Item> {
  private readonly items = new Set<Item>();
  private cursor = this.items.values();
  private head: Item | undefined;

  get size(): number {
    return this.items.size;
  }

  add(item: Item): void {
    this.items.add(item);
  }

  delete(item: Item): void {
    this.items.delete(item);
  }

  /** The item that has been here longest. */
  first(): Item | undefined {
    if (this.items.size === 0) {
      this.head = undefined;
      return undefined;
    }
    while (this.head === undefined || !this.items.has(this.head)) {
      const next = this.cursor.next();
      if (next.done === true) {
        // An iterator that has once reached the end stays there.
        this.cursor = this.items.values();
      } else {
        this.head = next.value;
      }
    }
    return this.head;
  }

  [Symbol.iterator](): Iterator<Item> {
    return this.items.values();
  }
}
