import { statfs } from 'node:fs/promises';

import type { Log } from '../options';
import type { ModelEntry, UploadEntry } from './entries';
import type { EntryStore, StoredEntry } from './entry-store';

/** Test sets are small and many; beyond this number the oldest go, whatever their size. */
const MAX_TEST_UPLOADS = 2_000;
/** A test set is wanted for the predict that follows its upload, and for the same rows soon again. */
const TEST_IDLE_MS = 3_600_000;
const DEFAULT_MAX_BYTES = 20e9;
/** The least that may be stored where no cap is given: on a disk that full it is the disk that refuses. */
const LEAST_MAX_BYTES = 64 * 1024 * 1024;
/** By this part what is stored may grow on a disk that is so full that half of it is less. */
const GROWTH_ON_FULL_DISK = 1 / 10;
/** How often the age of each test set is checked. */
const LOOK_MS = 30_000;

export interface Bounds {
  /** The size cap. It grows with `roomNow`. */
  maxBytes: number;
  /** The size cap that the disk would have now, where none is given: it may have been full at the start. */
  roomNow?: () => Promise<number>;
  /** Default 2,000. */
  maxTests?: number;
  /** Milliseconds after its last use when a test set goes. Default one hour. */
  testIdleMs?: number;
}

/** What Retention needs of uploads that are not complete. */
interface Unfinished {
  unfinishedBytes: number;
  dropIdle(now: number): Promise<boolean>;
}

/**
 * Drops what is beyond the bounds. Test sets go first, then unfinished uploads that nobody writes to, train sets and models, since
 * each is dearer to bring back than the one before; among equals the one unused for longest goes first. What is being read
 * stays. Test sets are bounded in number and age too: a stream of single rows makes one each.
 */
export class Retention {
  private running: Promise<void> | undefined;
  private again = false;
  private lookedAt = 0;
  private readonly uploads: EntryStore<UploadEntry>;
  private readonly models: EntryStore<ModelEntry>;

  constructor(
    private readonly bounds: Bounds,
    { uploads, models }: { uploads: EntryStore<UploadEntry>; models: EntryStore<ModelEntry> },
    private readonly log: Log,
    private readonly unfinished: () => Unfinished | undefined = () => undefined,
  ) {
    this.uploads = uploads;
    this.models = models;
  }

  /** One pass at a time, so that two of them don't both drop what is too much. */
  trim(): Promise<void> {
    if (this.running !== undefined) {
      this.again = true;
      return this.running;
    }
    this.running = this.run().finally(() => (this.running = undefined));
    return this.running;
  }

  private async run(): Promise<void> {
    do {
      this.again = false;
      await this.pass(Date.now());
    } while (this.again);
  }

  private async pass(now: number): Promise<void> {
    const { bounds } = this;
    const { maxTests = MAX_TEST_UPLOADS, testIdleMs = TEST_IDLE_MS } = bounds;
    const unfinished = this.unfinished();
    const sum = (): number => this.uploads.bytes + this.models.bytes + (unfinished?.unfinishedBytes ?? 0);
    // Nearly always so: it is asked after each upload.
    const looked = now - this.lookedAt < LOOK_MS;
    if (looked && this.uploads.items.size <= maxTests && sum() <= bounds.maxBytes) {
      return;
    }
    this.lookedAt = now;
    if (bounds.roomNow !== undefined) {
      bounds.maxBytes = Math.max(bounds.maxBytes, await bounds.roomNow());
    }
    const { maxBytes } = bounds;
    let total = sum();
    const all = [...this.uploads.items.values()];
    const tests = all.filter((item) => item.entry.set === 'test');
    // Some more at once, so that a stream of small test sets doesn't come here with each of them.
    let surplus = tests.length > maxTests ? tests.length - Math.floor(maxTests * 0.9) : 0;
    for (const item of oldestFirst(tests)) {
      const aged = now - item.lastUsedAt > testIdleMs;
      if (!aged && surplus <= 0 && total <= maxBytes) {
        break;
      }
      // One in memory makes no room on the disk.
      if (item.pins > 0 || (!aged && surplus <= 0 && item.data !== undefined)) {
        continue;
      }
      surplus -= 1;
      total -= item.bytes;
      await this.uploads.drop(item.entry.id);
    }
    while (unfinished !== undefined && total > maxBytes) {
      const before = unfinished.unfinishedBytes;
      if (!(await unfinished.dropIdle(now))) {
        break;
      }
      total -= before - unfinished.unfinishedBytes;
    }
    if (total <= maxBytes) {
      return;
    }
    for (const item of oldestFirst(all.filter((item) => item.entry.set === 'train'))) {
      if (total <= maxBytes) {
        return;
      }
      if (item.pins > 0) {
        continue;
      }
      total -= item.bytes;
      await this.uploads.drop(item.entry.id);
    }
    for (const item of oldestFirst([...this.models.items.values()])) {
      if (total <= maxBytes) {
        return;
      }
      if (item.pins > 0) {
        continue;
      }
      total -= item.bytes;
      this.log('warn', `Dropped the fitted train set ${item.entry.id} to stay under ${maxBytes} bytes.`);
      await this.models.drop(item.entry.id);
    }
  }
}

/**
 * The bounds where no size cap is given: 20 GB, or half of the disk space that is free or taken by the service itself
 * already, where that is less.
 *
 * @param stored bytes on disk by now
 */
export async function boundsOfDisk(folder: string, stored: () => number): Promise<Bounds> {
  const free = async (): Promise<number> => {
    const { bavail, bsize } = await statfs(folder);
    return bavail * bsize;
  };
  return {
    maxBytes: capFor(await free(), stored()),
    roomNow: async () => computeHalf(await free(), stored()),
  };
}

/**
 * What is there always fits, and what finds room on a full disk does, so that a full disk costs nothing that is stored.
 *
 * @internal
 */
export function capFor(free: number, stored: number): number {
  const onFullDisk = stored + Math.min(free, Math.floor(stored * GROWTH_ON_FULL_DISK));
  return Math.max(LEAST_MAX_BYTES, onFullDisk, computeHalf(free, stored));
}

function computeHalf(free: number, stored: number): number {
  return Math.min(DEFAULT_MAX_BYTES, Math.floor((free + stored) / 2));
}

function oldestFirst<E>(items: StoredEntry<E>[]): StoredEntry<E>[] {
  return items.sort((a, b) => a.lastUsedAt - b.lastUsedAt);
}
