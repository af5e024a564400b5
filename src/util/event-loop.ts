import { performance } from 'node:perf_hooks';

/** The event loop gets a turn when this many milliseconds have passed since the last one. */
const TURN_MS = 5;
/** A slice that took longer than this makes the next one smaller. */
const LONG_SLICE_MS = 8;
const SHORT_SLICE_MS = 3;
const MAX_ROWS = 2000;
/** Cells of a first slice: about 2 ms of work, so a wide table starts with few rows. */
const FIRST_CELLS = 30_000;

/**
 * Keeps the event loop free: says how many rows the next slice should have, from how long the last one
 * took, and gives other work a turn between slices.
 */
export class Pace {
  /** Rows of the next slice at most. */
  room: number;
  private wanted: number;
  private sliceStart = performance.now();
  private turnStart = this.sliceStart;

  constructor(columns: number, room = MAX_ROWS) {
    this.room = room;
    this.wanted = Math.max(1, Math.min(MAX_ROWS, Math.floor(FIRST_CELLS / Math.max(1, columns))));
  }

  /** Rows that the next slice should have. */
  get rows(): number {
    return Math.max(1, Math.min(this.wanted, this.room));
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
    if (now - this.turnStart > TURN_MS) {
      await turn();
      this.turnStart = performance.now();
    }
    signal?.throwIfAborted();
    this.sliceStart = performance.now();
  }
}

/** Resolves after the event loop has served what was waiting. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
