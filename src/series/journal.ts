import { type FileHandle, open, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { syncFolder } from '../util/files';
import { journalName, journalNumber, readLines, StateFolder, writeLines } from '../util/state-folder';
import { ServiceError } from '../wire/service-error';
import type { KnownValue } from './known-ahead';
import type { KeptRow, WaitingRow } from './machine';
import { record, Replay, snapshot } from './records';
import type { Sensor } from './sensors';
import type { Recorder, SeriesState } from './state';
import type { SeriesNote, SeriesProgress } from './types';

/** Minimum time between two writes, and so the most that kill -9 loses. */
const FLUSH_MS = 5000;
/** A journal is compacted once less than half of it is needed, beside this many bytes: so it is over many short sessions too. */
const MIN_GROWTH = 4 * 1024 * 1024;

/**
 * A series on disk: an append-only file, written every few seconds and compacted atomically when most of it is outdated.
 * A torn last line is dropped. While the disk is full the series goes on in memory, and is written in full once there is
 * space.
 */
export class Journal implements Recorder {
  private readonly folder: StateFolder | undefined;
  private state: SeriesState | undefined;
  private file: FileHandle | undefined;
  private number = 0;
  private pending: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private size = 0;
  /** How many bytes of it are needed: what it had when it was compacted, or about what it needs as it was opened. */
  private needed = 0;
  private isOutdated = false;

  /** @param exclusive runs work while no reading is being taken */
  constructor(
    folder: string | undefined,
    private readonly notify: (note: SeriesNote) => void,
    private readonly exclusive: (work: () => Promise<void>) => Promise<void>,
    private readonly writeEvery = FLUSH_MS,
  ) {
    if (folder !== undefined) {
      this.folder = new StateFolder(folder, {
        unreadable: (reason) =>
          new ServiceError(
            'storage.failed',
            `What the series has kept in ${folder} cannot be read now (${reason}). Nothing is lost: the next message tries again.`,
          ),
        failed: (reason) =>
          notify({
            kind: 'storage.failed',
            text: `The series cannot be kept in ${folder} (${reason}). It goes on in memory and is written as soon as possible.`,
          }),
        back: () => notify({ kind: 'storage.ok', text: `The series is on disk again, in ${folder}.` }),
      });
    }
  }

  get health(): SeriesProgress['storage'] {
    return this.folder === undefined ? 'none' : this.folder.isFailing ? 'failed' : 'ok';
  }

  /**
   * Reads what the last series left in this folder. Where the folder cannot be created the series goes on in memory.
   * @throws ServiceError `storage.failed` where an existing folder cannot be read now, belongs to another process, holds a
   *   link, or was written by a newer version of this package: it must not be overwritten
   */
  async open(state: SeriesState): Promise<void> {
    const { folder } = this;
    this.state = state;
    if (folder === undefined) {
      return;
    }
    try {
      if (!(await folder.open(() => this.read(folder.path, state)))) {
        this.outdate();
      }
    } catch (error) {
      this.state = undefined;
      throw error;
    }
  }

  sensor(sensor: Sensor, word?: string): void {
    this.append(() => (word === undefined ? record.sensor(sensor) : record.word(sensor, word)));
  }

  reading(key: string | null, time: number, flag: number, cells: readonly number[]): void {
    this.append(() => record.reading(key, time, flag, cells));
  }

  planned(key: string | null, sensor: number, told: KnownValue): void {
    this.append(() => record.planned(key, sensor, told));
  }

  kept(row: KeptRow): void {
    this.append(() => record.kept(row));
  }

  waiting(row: WaitingRow): void {
    this.append(() => record.waiting(row));
  }

  /** Records the schedule and the counters. */
  scheduled(state: SeriesState): void {
    this.append(() => record.summary(state));
  }

  /** Switches to another state, which the next `flush` writes in full. */
  replace(state: SeriesState): void {
    if (this.state !== undefined) {
      this.state = state;
    }
    this.outdate();
  }

  /** Makes the next `flush` write the whole state instead of appending. */
  outdate(): void {
    this.isOutdated = true;
    this.pending = [];
    this.plan();
  }

  /** Writes whatever is not on disk yet. Never throws: failures are reported through `notify`. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { folder, state } = this;
    if (folder === undefined || state === undefined || (this.pending.length === 0 && !this.isOutdated)) {
      return;
    }
    const isWritten = await folder.write(async () => {
      if (
        this.isOutdated ||
        this.file === undefined ||
        this.isWasteful ||
        (await this.isRemoved(folder.path))
      ) {
        await this.compact(folder.path, state);
      } else {
        const lines = [...this.pending, record.summary(state)];
        this.pending = [];
        this.size += await writeLines(this.file, lines, this.size);
      }
    });
    if (!isWritten) {
      this.outdate();
    }
  }

  /** Whether a write has taken very long. */
  get isSlow(): boolean {
    return this.folder?.isSlow === true;
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.timer);
    await this.file?.close().catch(() => undefined);
    this.file = undefined;
    this.state = undefined;
    await this.folder?.close();
  }

  private get isWasteful(): boolean {
    return this.size > this.needed * 2 + MIN_GROWTH;
  }

  private append(line: () => string): void {
    if (this.folder !== undefined && this.state !== undefined) {
      if (!this.isOutdated) {
        this.pending.push(line());
      }
      this.plan();
    }
  }

  private plan(): void {
    if (this.folder !== undefined && this.timer === undefined && this.state !== undefined) {
      this.timer = setTimeout(() => void this.exclusive(() => this.flush()), this.writeEvery);
      this.timer.unref();
    }
  }

  private async read(folder: string, state: SeriesState): Promise<void> {
    const newest = (await journalsIn(folder)).at(-1);
    if (newest !== undefined) {
      this.number = journalNumber(newest)!;
      const { file, refused } = await openJournal(path.join(folder, newest));
      try {
        const replay = new Replay(state);
        this.size = await readLines(file, (line) => replay.line(line));
        await replay.end();
        this.told(replay, newest);
        if (refused === undefined) {
          // A torn line would otherwise run into the next one.
          await file.truncate(this.size);
        }
      } catch (error) {
        await file.close();
        throw error;
      }
      if (refused === undefined) {
        this.file = file;
        if (this.isWasteful) {
          this.outdate();
        }
      } else {
        await file.close();
        this.folder?.failed(refused);
        this.outdate();
      }
    }
    await removeOthers(folder, newest).catch(() => undefined);
  }

  private told({ unreadable, isForeign, needed }: Replay, name: string): void {
    this.isOutdated ||= isForeign;
    this.needed = needed;
    if (unreadable > 0) {
      this.notify({
        kind: 'storage.failed',
        text: `${unreadable} lines of ${name} cannot be read and are left out.`,
      });
    }
  }

  /** A folder that was missing when the series was opened may have come back: what it holds is not overwritten. */
  private async assertKnown(folder: string): Promise<void> {
    const newest = (await journalsIn(folder)).at(-1);
    if (newest !== undefined && journalNumber(newest)! > this.number) {
      throw new Error('it holds readings that were not there before; deploy the node again to read them');
    }
  }

  /** Whether the open journal has no name any more: what is written into it nobody reads again. */
  private async isRemoved(folder: string): Promise<boolean> {
    try {
      // Not by its links: some file systems count none.
      await stat(path.join(folder, journalName(this.number)));
      return false;
    } catch (error) {
      return (error as NodeJS.ErrnoException).code === 'ENOENT';
    }
  }

  private async compact(folder: string, state: SeriesState): Promise<void> {
    const name = journalName(this.number + 1);
    const temporary = path.join(folder, `${name}.tmp`);
    await this.assertKnown(folder);
    const file = await open(temporary, 'w+', 0o600);
    try {
      const size = await writeLines(file, snapshot(state));
      await file.sync();
      await rename(temporary, path.join(folder, name));
      await syncFolder(folder);
      this.size = size;
    } catch (error) {
      await file.close();
      await rm(temporary, { force: true });
      throw error;
    }
    await this.file?.close().catch(() => undefined);
    this.file = file;
    this.number++;
    this.needed = this.size;
    this.pending = [];
    this.isOutdated = false;
    await removeOthers(folder, name).catch(() => undefined);
  }
}

/*
 * The files in a series' folder: one numbered journal, and whatever a crash may have left next to it.
 */
/** Names of the journals, the newest last. */
async function journalsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => journalNumber(name) !== undefined).sort();
}

/** Opens a journal to read and append to; where it cannot be written, to read only. */
async function openJournal(name: string): Promise<{ file: FileHandle; refused?: unknown }> {
  try {
    return { file: await open(name, 'r+') };
  } catch (error) {
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw error;
    }
    return { file: await open(name, 'r'), refused: error };
  }
}

/** Removes journals that a newer one has replaced, and temporary files left by a crash. */
async function removeOthers(folder: string, keep: string | undefined): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== keep && (journalNumber(name) !== undefined || name.endsWith('.jsonl.tmp'))) {
      await rm(path.join(folder, name), { force: true });
    }
  }
}
