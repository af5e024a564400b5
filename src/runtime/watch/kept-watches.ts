import { rm } from 'node:fs/promises';
import path from 'node:path';
import { crc32 } from 'node:zlib';

import { BoundedMap } from '../../util/collections';
import { Serial, Yielder } from '../../util/concurrency';
import { makeFolder, NewerFile, readOwnFile, writeFileAtomic } from '../../util/files';
import { FolderInUse } from '../../util/folder-lock';
import { KeptLock } from '../../util/state-folder';
import { isObject, readReason, tryParseJson } from '../../util/values';
import type { Watch, WatchOptions, WatchState } from '../../watch';
import { ServiceError } from '../../wire/service-error';
import { watchLayer } from '../lazy';
import type { NodeRuntime } from '../node-runtime';
import { OwnedPath, watchFile } from '../paths';

/** Models that one node watches; beyond that the one whose predictions are longest ago is forgotten. */
export const MAX_MODELS = 20;
/** Milliseconds between writes of the state at least; it is written at once where the flow got a change. */
const WRITE_MS = 60_000;
/** A state that cannot be read now (too many open files, a disk in trouble) is tried again after this, in milliseconds. */
const READ_AGAIN_MS = 5_000;

/** Watches by their model's name, that of the newest predictions last. */
export type Watches = BoundedMap<string, Watch>;

/** The watches of one node by their model's name: read from disk with the first use, written each minute and at close. */
export class KeptWatches {
  readonly watches: Watches = new BoundedMap<string, Watch>(MAX_MODELS);
  private readonly path: string;
  private readonly file: StateFile;
  private readonly owned: OwnedPath;
  private readonly serial = new Serial();
  private isRead = false;
  private readAgainAt = 0;
  private isWritten = true;
  private isFailing = false;
  private closed = false;
  private timer: NodeJS.Timeout | undefined;

  /** @param options what the watches go on by */
  constructor(
    private readonly runtime: NodeRuntime,
    private readonly options: () => WatchOptions,
  ) {
    this.path = watchFile(runtime.red, runtime.id);
    this.file = new StateFile(this.path);
    this.owned = new OwnedPath(runtime);
  }

  /**
   * Works on the watches once they are read, one piece of work after another.
   * @throws ServiceError `closed`, `config.invalid`
   */
  use<T>(work: (watches: Watches) => T | Promise<T>): Promise<T> {
    return this.serial.run(async () => {
      await this.read();
      return work(this.watches);
    });
  }

  /** Something was counted: it is written within a minute, or `atOnce`. */
  changed(atOnce: boolean): void {
    this.isWritten = false;
    if (atOnce) {
      void this.serial.run(() => this.write());
    }
  }

  /** The error of a message that is one too many to wait for a slow disk. */
  refuses(underWay: number): ServiceError | undefined {
    return this.owned.full(underWay);
  }

  /** Writes what was counted; where the node is deleted nothing stays. */
  async close(isDeleted: boolean): Promise<void> {
    this.closed = true;
    clearInterval(this.timer);
    await this.owned.letGo(() =>
      this.serial.run(async () => {
        await (isDeleted ? this.file.remove() : this.write());
        await this.file.close();
      }),
    );
  }

  private async read(): Promise<void> {
    if (this.closed) {
      throw new ServiceError('closed', 'The node was closed before its state was read.');
    }
    if (this.isRead) {
      return;
    }
    const options = this.options();
    if (this.timer === undefined) {
      this.timer = setInterval(() => void this.serial.run(() => this.write()), WRITE_MS);
      this.timer.unref();
    }
    if (performance.now() < this.readAgainAt) {
      return;
    }
    const notYet = await this.owned.take(this.path);
    if (notYet !== undefined) {
      this.unread(notYet);
      return;
    }
    const { Watch } = watchLayer();
    try {
      for (const { model, state } of await this.file.read()) {
        this.watches.set(model, Watch.from(state, options));
      }
      this.isFailing = false;
    } catch (error) {
      if (isOfFileSystem(error) || error instanceof NewerFile || error instanceof FolderInUse) {
        this.unread(error);
        return;
      }
      this.watches.clear();
      this.runtime.warn('watchState', { reason: readReason(error) });
    }
    this.isRead = true;
  }

  /** What is stored is sound: predictions go on, and it is not overwritten. */
  private unread(reason: unknown): void {
    this.readAgainAt = performance.now() + READ_AGAIN_MS;
    this.failed('watchUnread', reason);
  }

  /** Never fails, but tells. */
  private async write(): Promise<void> {
    if (this.isWritten || !this.isRead) {
      return;
    }
    this.isWritten = true;
    try {
      await this.file.write(Array.from(this.watches, ([model, watch]) => ({ model, state: watch.toJSON() })));
      this.isFailing = false;
    } catch (error) {
      this.isWritten = false;
      this.failed('watchStorage', error);
    }
  }

  private failed(key: string, error: unknown): void {
    if (!this.isFailing) {
      this.isFailing = true;
      this.runtime.warn(key, { reason: readReason(error) });
    }
  }
}

/** Whether the file system said so, and not the bytes that were read. */
function isOfFileSystem(error: unknown): boolean {
  return typeof (error as NodeJS.ErrnoException).syscall === 'string';
}

/** Folders that are made when they are gone: that of all watch nodes, and that of the package. */
const LEVELS = 2;
/** Of a state, in its first line. */
const VERSION = 1;

/** What a watch node keeps of the predictions of one model. */
interface KeptWatch {
  model: string;
  state: WatchState;
}

/** Before the lines of each watch stands what they are of, and how many they are. */
interface Heading {
  model: string;
  lines: number;
  /** CRC32 of the lines: one changed number would go on in every prediction. Left out by earlier versions. */
  crc?: number;
}

/** The file of one watch node: lines of JSON, so that a large state is written and read without holding the event loop. */
class StateFile {
  private lock: KeptLock | undefined;

  constructor(private readonly file: string) {}

  /**
   * What was written last; nothing where there is no file.
   * @throws FolderInUse where it is another process's; NewerFile; Error where it cannot be read
   */
  async read(): Promise<KeptWatch[]> {
    const folder = path.dirname(this.file);
    await makeFolder(folder, LEVELS).catch(() => undefined);
    this.lock ??= await KeptLock.take(folder, `${path.basename(this.file)}.lock`);
    const yielder = new Yielder();
    // An earlier version left an empty line of a node without predictions.
    const texts = (await this.text()).replace(/^\n$/, '').split('\n');
    const lines: unknown[] = [];
    for (const line of texts) {
      lines.push(tryParseJson(line));
      await yielder.due();
    }
    const kept: KeptWatch[] = [];
    // After the last line stands an end of line.
    for (let at = 0; at < lines.length - 1;) {
      const heading = lines[at];
      assertKnown(heading);
      assertKnown(lines[at + 1]);
      const isWhole =
        isHeading(heading) &&
        (heading.crc === undefined ||
          heading.crc === (await checksum(texts.slice(at + 1, at + 1 + heading.lines))));
      const state = isWhole
        ? watchLayer().stateOfLines(lines.slice(at + 1, at + 1 + heading.lines))
        : undefined;
      if (!isHeading(heading) || state === undefined) {
        throw new Error(`line ${at + 1} of ${this.file} is not what a watch node writes`);
      }
      kept.push({ model: heading.model, state });
      at += 1 + heading.lines;
    }
    return kept;
  }

  /** In one step: a crash leaves what was written before. @throws Error where it cannot be written */
  async write(watches: readonly KeptWatch[]): Promise<void> {
    const yielder = new Yielder();
    const text: string[] = [];
    for (const { model, state } of watches) {
      const lines: string[] = [];
      for (const line of watchLayer().stateLines(state)) {
        lines.push(line);
        await yielder.due();
      }
      const heading: Heading = { model, lines: lines.length, crc: await checksum(lines) };
      text.push(JSON.stringify(heading), ...lines);
    }
    await makeFolder(path.dirname(this.file), LEVELS);
    await this.lock?.assertOurs();
    await writeFileAtomic(this.file, text.map((line) => `${line}\n`).join(''), true);
  }

  /** Never fails: a file that stays does no harm. */
  async remove(): Promise<void> {
    await rm(this.file, { force: true }).catch(() => undefined);
  }

  /** Lets another process have the file. */
  async close(): Promise<void> {
    await this.lock?.release();
  }

  private async text(): Promise<string> {
    try {
      return (await readOwnFile(this.file)).toString('utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return '';
      }
      throw error;
    }
  }
}

/** @throws NewerFile where a newer version of this package wrote the line */
function assertKnown(line: unknown): void {
  const version = isObject(line) ? (line.v ?? line.version) : undefined;
  if (typeof version === 'number' && version > VERSION) {
    throw new NewerFile(version, VERSION);
  }
}

async function checksum(lines: readonly string[]): Promise<number> {
  const yielder = new Yielder();
  let crc = 0;
  for (const line of lines) {
    crc = crc32(line, crc);
    await yielder.due();
  }
  return crc;
}

function isHeading(value: unknown): value is Heading {
  return isObject(value) && typeof value.model === 'string' && Number.isInteger(value.lines);
}
