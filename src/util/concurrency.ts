import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * A value made on first use. Node-RED loads every node of the package at its start, so modules that take tens of
 * milliseconds to load wait until a message needs them:
 *
 *     const load = createRequire(__filename);
 *     const undici = lazy(() => load('undici') as typeof import('undici'));
 */
export function lazy<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

const ABSENT = ['MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED'];

/**
 * Loads modules one after the other, with a turn of the event loop after each: parts of a large package first, then
 * the package, which finds them loaded. A part that is not there, as in another version of the package, is passed
 * over: the package itself then takes longer in one piece.
 *
 * @param load the `require` of who needs them
 * @param parts names of modules, in the order in which they build on each other
 */
export async function loadInParts(load: (name: string) => unknown, parts: readonly string[]): Promise<void> {
  for (const part of parts) {
    try {
      load(part);
    } catch (error) {
      if (!ABSENT.includes((error as NodeJS.ErrnoException).code ?? '')) {
        throw error;
      }
    }
    await yieldToEventLoop();
  }
}

/** Milliseconds of work after which the event loop gets a turn. */
const MAX_HOLD_MS = 5;
/** A slice that took longer than this makes the next one smaller. */
const LONG_SLICE_MS = 8;
const SHORT_SLICE_MS = 3;
const MAX_ROWS = 2000;
/** Cells and rows of a first slice: about 2 ms of work, so a wide table starts with few rows; cells may be long. */
const FIRST_CELLS = 30_000;
const FIRST_ROWS = 8;
/** Rows of a quick loop between two looks at the clock. */
const ROWS_PER_LOOK = 4096;

/** Resolves after the event loop has served what was waiting. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Yields to the event loop whenever the work since the last time has taken a few milliseconds. */
export class Yielder {
  private since = performance.now();

  /** Undefined while there is time left: only await what is there. */
  due(): Promise<void> | undefined {
    return this.isDue() ? this.yield() : undefined;
  }

  /** The same question for a loop over rows that is too quick to be asked at each: the clock is seldom looked at. */
  isDueAt(row: number): boolean {
    return row % ROWS_PER_LOOK === ROWS_PER_LOOK - 1 && this.isDue();
  }

  async yield(): Promise<void> {
    await yieldToEventLoop();
    this.since = performance.now();
  }

  private isDue(): boolean {
    return performance.now() - this.since >= LONG_SLICE_MS;
  }
}

/**
 * Says how many rows the next slice of a table should have, from how long the last one took, and yields to the
 * event loop between slices.
 */
export class SliceSizer {
  private wanted: number;
  private sliceStart = performance.now();
  private lastYield = this.sliceStart;

  /** @param maxRows rows of a slice at most; may change from slice to slice */
  constructor(
    columns: number,
    public maxRows = MAX_ROWS,
  ) {
    this.wanted = Math.max(1, Math.min(FIRST_ROWS, Math.floor(FIRST_CELLS / Math.max(1, columns))));
  }

  /** Rows that the next slice should have. */
  get rows(): number {
    return Math.max(1, Math.min(this.wanted, this.maxRows));
  }

  /** To be awaited after every slice. Throws the signal's reason once it is aborted. */
  async step(signal?: AbortSignal): Promise<void> {
    const now = performance.now();
    const took = now - this.sliceStart;
    if (took > LONG_SLICE_MS) {
      this.wanted = Math.max(1, Math.floor((this.wanted * LONG_SLICE_MS) / took / 2));
    } else if (took < SHORT_SLICE_MS) {
      this.wanted = Math.min(MAX_ROWS, this.wanted * 2);
    }
    if (now - this.lastYield > MAX_HOLD_MS) {
      await yieldToEventLoop();
      this.lastYield = performance.now();
    }
    signal?.throwIfAborted();
    this.sliceStart = performance.now();
  }
}

/** A number of permits; if none is free, callers wait in order of arrival. */
export class Semaphore {
  private readonly line = new Set<() => void>();

  /** @param maxWaiting how many of `run` may wait at most */
  constructor(
    private free: number,
    private readonly maxWaiting = Infinity,
  ) {}

  /** How many wait. */
  get waiting(): number {
    return this.line.size;
  }

  /** Takes a permit that is free; false where none is. It needs its `release`. */
  take(): boolean {
    if (this.free <= 0) {
      return false;
    }
    this.free--;
    return true;
  }

  /** Calls `start` at once where a permit is free, else as soon as one becomes free. Each start needs its `release`. */
  request(start: () => void): void {
    if (this.free > 0) {
      this.free--;
      start();
    } else {
      this.line.add(start);
    }
  }

  /** Leaves the line; nothing happens to one that has started. */
  cancel(start: () => void): void {
    this.line.delete(start);
  }

  /** Returns a permit: to whoever has waited longest, if anyone waits. */
  release(): void {
    for (const next of this.line) {
      this.line.delete(next);
      next();
      return;
    }
    this.free++;
  }

  /**
   * Runs the work with a permit and gives it back, however the work ends.
   *
   * @param refusal the error where too many wait already
   */
  async run<R>(work: () => Promise<R>, refusal?: () => Error): Promise<R> {
    if (this.free > 0) {
      this.free--;
    } else if (this.line.size >= this.maxWaiting) {
      throw refusal?.() ?? new Error('Too many wait already.');
    } else {
      await new Promise<void>((resolve) => this.line.add(resolve));
    }
    try {
      return await work();
    } finally {
      this.release();
    }
  }
}

/** Runs asynchronous steps one after the other, in the order in which they were asked for. */
export class Serial {
  private tail: Promise<unknown> = Promise.resolve();

  /** The step's own result; a step that fails does not hold up the next. */
  run<T>(step: () => T | Promise<T>): Promise<T> {
    const result = this.tail.then(step);
    this.tail = result.then(nothing, nothing);
    return result;
  }

  /** Resolves when all steps so far have ended, well or not. */
  async idle(): Promise<void> {
    await this.tail;
  }
}

function nothing(): void {
  return undefined;
}

/**
 * Hands values from one loop to another, one at a time. A `push` resolves when the reader has finished with
 * the value and asks for the next one, so the writer is never ahead.
 */
export class Pipe<T> implements AsyncIterable<T> {
  private value: { item: T } | undefined;
  private finished: { resolve(): void; reject(error: Error): void } | undefined;
  private wake: (() => void) | undefined;
  private ended = false;
  private failure: Error | undefined;

  push(item: T): Promise<void> {
    if (this.failure !== undefined) {
      return Promise.reject(this.failure);
    }
    this.value = { item };
    this.wake?.();
    return new Promise((resolve, reject) => {
      this.finished = { resolve, reject };
    });
  }

  end(): void {
    this.ended = true;
    this.wake?.();
  }

  /** Makes both ends throw. */
  fail(error: Error): void {
    this.failure ??= error;
    this.finished?.reject(error);
    this.wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (;;) {
      if (this.failure !== undefined) {
        throw this.failure;
      }
      const { value } = this;
      if (value !== undefined) {
        this.value = undefined;
        yield value.item;
        this.finished?.resolve();
        continue;
      }
      if (this.ended) {
        return;
      }
      await new Promise<void>((resolve) => {
        this.wake = resolve;
      });
    }
  }
}

/** Whether what a program gives as a signal is one, of any realm. */
export function isAbortSignal(value: unknown): value is AbortSignal {
  const { aborted, addEventListener } = (value ?? {}) as Partial<AbortSignal>;
  return typeof aborted === 'boolean' && typeof addEventListener === 'function';
}

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

/** Resolves when the promise has settled, or after so many milliseconds. */
export async function within(promise: Promise<unknown>, ms: number): Promise<void> {
  const over = new AbortController();
  const settled = Promise.allSettled([promise]).finally(() => over.abort());
  await Promise.race([settled, sleep(ms, undefined, over).catch(() => undefined)]);
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
