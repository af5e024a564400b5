/** A controller that aborts with any of the signals. `unlink` frees the listeners, which AbortSignal.any keeps. */
export function linkedController(...signals: (AbortSignal | undefined)[]): {
  controller: AbortController;
  unlink: () => void;
} {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const signal of signals) {
    if (signal?.aborted === true) {
      controller.abort();
    }
    signal?.addEventListener('abort', abort, { once: true });
  }
  return {
    controller,
    unlink: () => {
      for (const signal of signals) {
        signal?.removeEventListener('abort', abort);
      }
    },
  };
}

/** The promise's result, unless the signal aborts first: for work that others share, so that it cannot be aborted. */
export async function untilAborted<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) {
    return promise;
  }
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new DOMException('This operation was aborted', 'AbortError'));
    if (signal.aborted) {
      onAbort();
    } else {
      signal.addEventListener('abort', onAbort, { once: true });
    }
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
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
