/** A place in the queue. */
interface Link<Item> {
  readonly item: Item;
  before: Link<Item> | undefined;
  after: Link<Item> | undefined;
}

/**
 * A queue that items may leave from anywhere: `add`, `delete` and `first` take the same time at any length, and what
 * has left is not held. A linked list: a bare Set would search past all that have left each time its first item is
 * asked for, and an iterator that remembers the place would keep each of them from garbage collection, since V8 holds
 * every former table of a Set for an iterator that has not passed it.
 */
export class Fifo<Item> {
  private readonly links = new Map<Item, Link<Item>>();
  private head: Link<Item> | undefined;
  private tail: Link<Item> | undefined;

  get size(): number {
    return this.links.size;
  }

  /** @param item not in the queue yet */
  add(item: Item): void {
    const link: Link<Item> = { item, before: this.tail, after: undefined };
    if (this.tail === undefined) {
      this.head = link;
    } else {
      this.tail.after = link;
    }
    this.tail = link;
    this.links.set(item, link);
  }

  delete(item: Item): void {
    const link = this.links.get(item);
    if (link === undefined) {
      return;
    }
    this.links.delete(item);
    const { before, after } = link;
    if (before === undefined) {
      this.head = after;
    } else {
      before.after = after;
    }
    if (after === undefined) {
      this.tail = before;
    } else {
      after.before = before;
    }
  }

  /** The item that has been here longest. */
  first(): Item | undefined {
    return this.head?.item;
  }

  *[Symbol.iterator](): Iterator<Item> {
    for (let link = this.head; link !== undefined; link = link.after) {
      yield link.item;
    }
  }
}
