import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import { Yielder } from '../util/concurrency';
import { assertWithoutLinks, makeFolder, syncFolder, writeAll } from '../util/files';
import { KeptLock } from '../util/folder-lock';
import { reasonOf } from '../util/values';
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
/** A write that takes longer than this is slow, in milliseconds. */
const SLOW_MS = 10_000;
/** Folder levels that are created if they are gone: the series', that of all series, and the package's. */
const LEVELS = 3;

/**
 * A series on disk: an append-only file, written every few seconds and compacted atomically when most of it is outdated.
 * A torn last line is dropped. While the disk is full the series goes on in memory, and is written in full once there is
 * space.
 */
export class Journal implements Recorder {
  health: SeriesProgress['storage'] = 'none';
  private state: SeriesState | undefined;
  private file: FileHandle | undefined;
  private lock: KeptLock | undefined;
  private number = 0;
  private pending: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private size = 0;
  /** How many bytes of it are needed: what it had when it was compacted, or about what it needs as it was opened. */
  private needed = 0;
  private isOutdated = false;
  private writingSince = Infinity;

  /** @param exclusive runs work while no reading is being taken */
  constructor(
    private readonly folder: string | undefined,
    private readonly notify: (note: SeriesNote) => void,
    private readonly exclusive: (work: () => Promise<void>) => Promise<void>,
    private readonly writeEvery = FLUSH_MS,
  ) {}

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
    this.health = 'ok';
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      this.failed(error);
      return;
    }
    try {
      await assertWithoutLinks(folder);
      this.lock = await KeptLock.take(folder);
      await this.read(folder, state);
    } catch (error) {
      await this.lock?.release();
      this.state = undefined;
      throw new ServiceError(
        'storage.failed',
        `What the series has kept in ${folder} cannot be read now (${reasonOf(error)}). Nothing is lost: the next message tries again.`,
      );
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
    this.writingSince = performance.now();
    try {
      await this.lock?.assertOurs();
      if (this.isOutdated || this.file === undefined || this.isWasteful) {
        await this.compact(folder, state);
      } else {
        const lines = [...this.pending, record.summary(state)];
        this.pending = [];
        this.size += await writeLines(this.file, lines, this.size);
      }
      if (this.health === 'failed') {
        this.health = 'ok';
        this.notify({ kind: 'storage.ok', text: `The series is on disk again, in ${folder}.` });
      }
    } catch (error) {
      this.failed(error);
    } finally {
      this.writingSince = Infinity;
    }
  }

  /** Whether a write has taken very long. */
  get isSlow(): boolean {
    return performance.now() - this.writingSince > SLOW_MS;
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.timer);
    await this.file?.close().catch(() => undefined);
    this.file = undefined;
    this.state = undefined;
    await this.lock?.release();
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

  private failed(error: unknown): void {
    if (this.health !== 'failed') {
      this.health = 'failed';
      this.notify({
        kind: 'storage.failed',
        text: `The series cannot be kept in ${this.folder} (${reasonOf(error)}). It goes on in memory and is written as soon as possible.`,
      });
    }
    this.outdate();
  }

  private async read(folder: string, state: SeriesState): Promise<void> {
    const newest = (await journalsIn(folder)).at(-1);
    if (newest !== undefined) {
      this.number = numberOf(newest);
      const { file, refused } = await openJournal(path.join(folder, newest));
      try {
        this.size = await readLines(file, new Replay(state), (replay) => this.told(replay, newest));
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
        this.failed(refused);
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
    if (newest !== undefined && numberOf(newest) > this.number) {
      throw new Error('it holds readings that were not there before; deploy the node again to read them');
    }
  }

  private async compact(folder: string, state: SeriesState): Promise<void> {
    const name = `${String(this.number + 1).padStart(8, '0')}.jsonl`;
    const temporary = path.join(folder, `${name}.tmp`);
    await makeFolder(folder, LEVELS);
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
const CHUNK = 256 * 1024;
const NAME = /^(\d{8})\.jsonl$/;

/** The number in the name of a journal. */
function numberOf(name: string): number {
  return Number(NAME.exec(name)?.[1]);
}

/** Names of the journals, the newest last. */
async function journalsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => NAME.test(name)).sort();
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

/** Writes lines from a position on, in turns of the event loop. @returns bytes written */
async function writeLines(file: FileHandle, lines: Iterable<string>, position = 0): Promise<number> {
  const yielder = new Yielder();
  let size = 0;
  let chunk: string[] = [];
  let length = 0;
  const write = async (): Promise<void> => {
    const bytes = Buffer.from(chunk.map((line) => `${line}\n`).join(''));
    await writeAll(file, bytes, position + size);
    size += bytes.length;
    chunk = [];
    length = 0;
  };
  for (const line of lines) {
    chunk.push(line);
    length += line.length;
    if (length >= CHUNK) {
      await write();
    }
    const due = yielder.due();
    if (due !== undefined) {
      await due;
    }
  }
  await write();
  return size;
}

/** @returns bytes of the complete lines */
async function readLines(file: FileHandle, replay: Replay, told: (replay: Replay) => void): Promise<number> {
  const yielder = new Yielder();
  const buffer = Buffer.alloc(CHUNK);
  let rest = Buffer.alloc(0);
  let whole = 0;
  for (let position = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) {
      break;
    }
    position += bytesRead;
    let bytes = Buffer.concat([rest, buffer.subarray(0, bytesRead)]);
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10)) {
      replay.line(bytes.toString('utf8', 0, end));
      bytes = bytes.subarray(end + 1);
      whole += end + 1;
      await yielder.due();
    }
    rest = Buffer.from(bytes);
  }
  await replay.end();
  told(replay);
  return whole;
}

/** Removes journals that a newer one has replaced, and temporary files left by a crash. */
async function removeOthers(folder: string, keep: string | undefined): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== keep && (NAME.test(name) || name.endsWith('.jsonl.tmp'))) {
      await rm(path.join(folder, name), { force: true });
    }
  }
}
