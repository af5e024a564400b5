import { performance } from 'node:perf_hooks';

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
