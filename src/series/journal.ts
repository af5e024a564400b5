import { type FileHandle, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';

import { syncFolder } from '../util/atomic-file';
import { Yielder } from '../util/event-loop';
import { writeAll } from '../util/file-io';
import { reasonOf } from '../util/reason';
import type { KeptRow } from './kept-rows';
import { record, Replay, snapshot } from './records';
import type { Sensor } from './sensors';
import type { Recorder, SeriesState } from './state';
import type { SeriesNote, SeriesProgress } from './types';

/** At most one write in this time, and what kill -9 loses at most. */
const FLUSH_MS = 5000;
/** A journal is written anew once it has grown by its own size, and by this many bytes at least. */
const MIN_GROWTH = 4 * 1024 * 1024;
const CHUNK = 256 * 1024;
const NAME = /^(\d{8})\.jsonl$/;

/**
 * A series on disk: a file to whose end lines are written every few seconds, and which is written anew, in one step,
 * when most of it is outdated. A last line that is torn is left out. Where the disk is full the series goes on in
 * memory, and is written whole once there is room.
 */
export class Journal implements Recorder {
  health: SeriesProgress['storage'] = 'none';
  private state: SeriesState | undefined;
  private file: FileHandle | undefined;
  private number = 0;
  private pending: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private size = 0;
  private snapshotSize = 0;
  private isOutdated = false;

  /** @param exclusive runs work while no reading is taken */
  constructor(
    private readonly folder: string | undefined,
    private readonly notify: (note: SeriesNote) => void,
    private readonly exclusive: (work: () => Promise<void>) => Promise<void>,
    private readonly writeEvery = FLUSH_MS,
  ) {}

  /** Reads what the last series with this folder left. */
  async open(state: SeriesState): Promise<void> {
    const { folder } = this;
    this.state = state;
    if (folder === undefined) {
      return;
    }
    this.health = 'ok';
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await this.read(folder, state);
    } catch (error) {
      this.failed(error);
    }
  }

  sensor(sensor: Sensor, word?: string): void {
    this.append(() => (word === undefined ? record.sensor(sensor) : record.word(sensor, word)));
  }

  reading(key: string | null, time: number, flag: number, cells: readonly number[]): void {
    this.append(() => record.reading(key, time, flag, cells));
  }

  kept(row: KeptRow): void {
    this.append(() => record.kept(row));
  }

  waiting(row: KeptRow): void {
    this.append(() => record.waiting(row));
  }

  /** Lets `flush` write the state whole, instead of what came since. */
  outdate(): void {
    this.isOutdated = true;
    this.pending = [];
    this.plan();
  }

  /** Writes what is not on disk yet; never fails, but tells. */
  async flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    const { folder, state } = this;
    if (folder === undefined || state === undefined || (this.pending.length === 0 && !this.isOutdated)) {
      return;
    }
    try {
      if (this.isOutdated || this.file === undefined || this.size > this.snapshotSize * 2 + MIN_GROWTH) {
        await this.writeAnew(folder, state);
      } else {
        const bytes = Buffer.from(`${this.pending.join('\n')}\n${record.summary(state)}\n`);
        this.pending = [];
        await writeAll(this.file, bytes, this.size);
        this.size += bytes.length;
      }
      if (this.health === 'failed') {
        this.health = 'ok';
        this.notify({ kind: 'storage.ok', text: `The series is on disk again, in ${folder}.` });
      }
    } catch (error) {
      this.failed(error);
    }
  }

  async close(): Promise<void> {
    await this.flush();
    clearTimeout(this.timer);
    await this.file?.close().catch(() => undefined);
    this.file = undefined;
    this.state = undefined;
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
        text: `The series cannot be kept in ${this.folder} (${reasonOf(error)}). It goes on in memory and is written as soon as that works.`,
      });
    }
    this.outdate();
  }

  private async read(folder: string, state: SeriesState): Promise<void> {
    const names = (await readdir(folder)).filter((name) => NAME.test(name)).sort();
    const newest = names.at(-1);
    if (newest !== undefined) {
      this.number = Number(NAME.exec(newest)![1]);
      const file = await open(path.join(folder, newest), 'r+');
      try {
        this.size = await readLines(file, new Replay(state), (replay) => this.told(replay, newest));
        // A line that was torn would otherwise run on into the next one.
        await file.truncate(this.size);
      } catch (error) {
        await file.close();
        throw error;
      }
      this.file = file;
      this.snapshotSize = this.size;
    }
    await removeOthers(folder, newest);
  }

  private told({ unreadable, isForeign }: Replay, name: string): void {
    this.isOutdated ||= isForeign;
    if (unreadable > 0) {
      this.notify({
        kind: 'storage.failed',
        text: `${unreadable} lines of ${name} cannot be read and are left out.`,
      });
    }
  }

  private async writeAnew(folder: string, state: SeriesState): Promise<void> {
    const name = `${String(this.number + 1).padStart(8, '0')}.jsonl`;
    const temporary = path.join(folder, `${name}.tmp`);
    await mkdir(folder, { recursive: true, mode: 0o700 });
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
    this.snapshotSize = this.size;
    this.pending = [];
    this.isOutdated = false;
    await removeOthers(folder, name);
  }
}

/** @returns bytes written */
async function writeLines(file: FileHandle, lines: Iterable<string>): Promise<number> {
  const yielder = new Yielder();
  let size = 0;
  let chunk: string[] = [];
  let length = 0;
  const write = async (): Promise<void> => {
    const bytes = Buffer.from(chunk.map((line) => `${line}\n`).join(''));
    await writeAll(file, bytes, size);
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
    await yielder.due();
  }
  await write();
  return size;
}

/** @returns bytes of the lines that are whole */
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
  replay.end();
  told(replay);
  return whole;
}

/** Journals that a newer one has replaced, and what a crash left half written. */
async function removeOthers(folder: string, keep: string | undefined): Promise<void> {
  for (const name of await readdir(folder)) {
    if (name !== keep && (NAME.test(name) || name.endsWith('.jsonl.tmp'))) {
      await rm(path.join(folder, name), { force: true });
    }
  }
}
