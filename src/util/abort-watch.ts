/** Follows the signals of many items with one listener per signal: a node's signal is shared by all its messages. */
export class AbortWatch<Item> {
  private readonly watched = new Map<AbortSignal, { items: Set<Item>; stop: () => void }>();

  constructor(private readonly onAbort: (items: Item[]) => void) {}

  add(signal: AbortSignal, item: Item): void {
    const known = this.watched.get(signal);
    if (known !== undefined) {
      known.items.add(item);
      return;
    }
    const items = new Set([item]);
    const aborted = (): void => this.onAbort([...items]);
    signal.addEventListener('abort', aborted, { once: true });
    this.watched.set(signal, { items, stop: () => signal.removeEventListener('abort', aborted) });
  }

  remove(signal: AbortSignal, item: Item): void {
    const known = this.watched.get(signal);
    known?.items.delete(item);
    if (known?.items.size === 0) {
      known.stop();
      this.watched.delete(signal);
    }
  }
}
