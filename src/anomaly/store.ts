import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { appendFile, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';

import { Serial } from '../util/concurrency';
import { assertWithoutLinks, NewerFile, readOwnFile, writeFileAtomic } from '../util/files';
import { KeptLock } from '../util/folder-lock';
import { isObject, reasonOf, tryParseJson } from '../util/values';
import { ServiceError } from '../wire/service-error';
import type { Episode } from './method/alarms';
import type { AnsweredMovement } from './method/creep';
import type { KeptDetector, MarkedRows } from './method/detector';
import type { HistoryCell } from './method/history';

/** Of the files below. */
const VERSION = 1;
/** Between two writes, in milliseconds: the most that kill -9 loses. */
const WRITE_MS = 10_000;
/** A journal file is followed by the next one from this size on. */
const FILE_BYTES = 4 * 1024 * 1024;
/** Beyond so many bytes of journals, the machines of the oldest are written whole. */
const JOURNAL_BYTES = 64 * 1024 * 1024;
/** While the disk is full, so many entries wait; beyond, all machines are written whole once there is space. */
const MAX_WAITING = 50_000;
/** So many, as of a table, are written at once. */
const MANY_WAITING = 5_000;
/** A write that takes longer than this is slow, in milliseconds. */
const SLOW_MS = 10_000;
const JOURNAL = /^(\d{8})\.jsonl$/;
const STATE = '.state';

/** What happened to a machine, in the order in which it did. `taken` is how many rows it had taken by then. */
export type Entry =
  | { of: string | null; taken: number; row: [time: number, cells: Record<string, HistoryCell>] }
  | { of: string | null; taken: number; episode: Episode; isOpen: boolean }
  | { of: string | null; taken: number; marked: MarkedRows }
  | { of: string | null; taken: number; moved: AnsweredMovement }
  | { of: string | null; taken: number; reset: true };

/** A machine as it was written whole. */
export interface KeptMachine {
  of: string | null;
  detector: KeptDetector;
}

/** The machines as they stand. */
interface KeptMachines {
  names(): Iterable<string | null>;
  /** One of them, to be written whole; undefined where there is none of that name. */
  whole(of: string | null): KeptDetector | undefined;
}

/**
 * What is kept of machines across restarts: a journal of readings that is only ever appended to, and after each fit the
 * whole of its machine, so that the journal before it can go. An SD card is written as little as that allows.
 */
export class AnomalyStore {
  isFailing = false;
  private number = 0;
  private size = 0;
  private waiting: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  private writingSince = Infinity;
  /** Machines are written whole beside the journal: an alarm does not wait for them. */
  private readonly states = new Serial();
  /** How many rows of which machines each journal file holds. */
  private readonly files = new Map<number, { bytes: number; machines: Map<string | null, number> }>();
  /** How many rows of a machine were written whole. */
  private readonly whole = new Map<string | null, number>();
  private hasLost = false;
  private lock: KeptLock | undefined;

  /**
   * @param folder undefined: nothing is kept
   */
  constructor(
    private readonly folder: string | undefined,
    private readonly notify: (kind: 'storage.failed' | 'storage.ok', text: string) => void,
    private readonly machines: KeptMachines,
    private readonly writeEvery = WRITE_MS,
  ) {}

  /**
   * Reads what was kept.
   * @throws ServiceError `storage.failed` where it cannot be read now, belongs to another process, or was written by a
   *   newer version
   */
  async read(onMachine: (kept: KeptMachine) => void, onEntry: (entry: Entry) => void): Promise<void> {
    const { folder } = this;
    if (folder === undefined) {
      return;
    }
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
    } catch (error) {
      this.failed(error);
      return;
    }
    try {
      await assertWithoutLinks(folder);
      this.lock = await KeptLock.take(folder);
      const names = (await readdir(folder)).sort();
      for (const name of names.filter((one) => one.endsWith(STATE))) {
        await this.readState(path.join(folder, name), onMachine);
      }
      for (const name of names.filter((one) => JOURNAL.test(one))) {
        await this.readJournal(path.join(folder, name), Number(JOURNAL.exec(name)![1]), onEntry);
      }
    } catch (error) {
      await this.lock?.release();
      throw new ServiceError(
        'storage.failed',
        `What is known of the machines in ${folder} cannot be read now (${reasonOf(error)}). Nothing is lost: the next message tries again.`,
      );
    }
    // A journal that a crash may have cut is not appended to.
    this.number++;
  }

  /** Keeps an entry: it is written within seconds, or by `flush`. */
  append(entry: Entry): void {
    if (this.folder === undefined) {
      return;
    }
    if (this.waiting.length >= MAX_WAITING) {
      this.waiting = [];
      this.hasLost = true;
    }
    if (!this.hasLost) {
      this.waiting.push(JSON.stringify(entry));
    }
    this.note(this.number, entry);
    if (this.waiting.length === MANY_WAITING) {
      void this.flush();
    }
    this.timer ??= setTimeout(() => void this.flush(), this.writeEvery).unref();
  }

  /** Writes what waits. Never fails: `notify` tells. */
  flush(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.writing = this.writing.then(() => this.write());
    return this.writing;
  }

  /** Whether a write has taken very long. */
  get isSlow(): boolean {
    return performance.now() - this.writingSince > SLOW_MS;
  }

  /** Writes a machine whole, so that the journal before it is not needed. Never fails. */
  writeWhole(of: string | null): Promise<void> {
    return this.states.run(async () => {
      try {
        await this.writeState(of);
        await this.dropJournals();
      } catch (error) {
        this.failed(error);
      }
    });
  }

  /** A machine begins anew. */
  async forget(of: string | null, taken: number): Promise<void> {
    this.append({ of, taken, reset: true });
    await this.flush();
    await this.states.run(async () => {
      this.whole.delete(of);
      if (this.folder !== undefined) {
        await this.removeState(of).catch(() => undefined);
      }
    });
  }

  async close(): Promise<void> {
    await this.flush();
    await this.states.idle();
    clearTimeout(this.timer);
    await this.lock?.release();
  }

  private async write(): Promise<void> {
    const { folder, waiting } = this;
    if (folder === undefined || (waiting.length === 0 && !this.hasLost)) {
      return;
    }
    this.waiting = [];
    this.writingSince = performance.now();
    const { hasLost } = this;
    try {
      await this.lock?.assertOurs();
      if (hasLost) {
        // What comes meanwhile goes into the journal again.
        this.hasLost = false;
        for (const of of this.machines.names()) {
          await this.states.run(() => this.writeState(of));
        }
      } else {
        await this.appendLines(folder, waiting);
      }
      void this.states.run(() => this.compact()).catch((error: unknown) => this.failed(error));
      if (this.isFailing) {
        this.isFailing = false;
        this.notify('storage.ok', `What is known of the machines is on disk again, in ${folder}.`);
      }
    } catch (error) {
      this.hasLost ||= hasLost;
      this.waiting = this.hasLost ? [] : [...waiting, ...this.waiting];
      this.failed(error);
    } finally {
      this.writingSince = Infinity;
    }
  }

  private async appendLines(folder: string, lines: readonly string[]): Promise<void> {
    const bytes = Buffer.from(lines.map((line) => `${line}\n`).join(''));
    const file = path.join(folder, `${String(this.number).padStart(8, '0')}.jsonl`);
    const before = this.size;
    try {
      await appendFile(file, bytes, { mode: 0o600 });
    } catch (error) {
      // Half a line may be there: the next try goes into a file of its own.
      this.next();
      throw error;
    }
    this.size = before + bytes.length;
    this.fileOf(this.number).bytes = this.size;
    if (this.size > FILE_BYTES) {
      this.next();
    }
  }

  private next(): void {
    this.number++;
    this.size = 0;
  }

  /** Writes the machines of the oldest journals whole, where there is much to be read at the next start. */
  private async compact(): Promise<void> {
    const bytes = (): number => [...this.files.values()].reduce((sum, file) => sum + file.bytes, 0);
    while (bytes() > JOURNAL_BYTES && this.files.size > 1) {
      const [, oldest] = [...this.files].sort(([a], [b]) => a - b)[0]!;
      for (const [of, taken] of oldest.machines) {
        if ((this.whole.get(of) ?? 0) < taken) {
          await this.writeState(of);
        }
      }
      if (!(await this.dropJournals())) {
        return;
      }
    }
  }

  /** Removes the oldest journals whose machines were all written whole since. @returns whether there was one */
  private async dropJournals(): Promise<boolean> {
    let dropped = false;
    for (const [number, { machines }] of [...this.files].sort(([a], [b]) => a - b)) {
      const isNeeded = [...machines].some(([of, taken]) => (this.whole.get(of) ?? 0) < taken);
      if (number === this.number || isNeeded) {
        break;
      }
      await rm(path.join(this.folder!, `${String(number).padStart(8, '0')}.jsonl`), { force: true });
      this.files.delete(number);
      dropped = true;
    }
    return dropped;
  }

  private async writeState(of: string | null): Promise<void> {
    const detector = this.machines.whole(of);
    if (this.folder === undefined || detector === undefined) {
      return;
    }
    await this.lock?.assertOurs();
    const bytes = serialize({ of, detector } satisfies KeptMachine);
    const head = JSON.stringify({ version: VERSION, bytes: bytes.length, crc: crc32(bytes) });
    await writeFileAtomic(this.stateFile(of), Buffer.concat([Buffer.from(`${head}\n`), bytes]), true);
    this.whole.set(of, detector.history.taken);
  }

  private async removeState(of: string | null): Promise<void> {
    await this.lock?.assertOurs();
    await rm(this.stateFile(of), { force: true });
  }

  private stateFile(of: string | null): string {
    const name = of === null ? 'machine' : createHash('sha256').update(of).digest('hex').slice(0, 32);
    return path.join(this.folder!, `${name}${STATE}`);
  }

  /** A file that is damaged is set aside, and told. @throws NewerFile */
  private async readState(file: string, onMachine: (kept: KeptMachine) => void): Promise<void> {
    const all = await readOwnFile(file);
    const end = all.indexOf(10);
    const head = tryParseJson(all.toString('utf8', 0, Math.max(0, end)));
    if (isObject(head) && typeof head.version === 'number' && head.version > VERSION) {
      throw new NewerFile(head.version, VERSION);
    }
    const bytes = all.subarray(end + 1);
    if (!isObject(head) || head.bytes !== bytes.length || head.crc !== crc32(bytes)) {
      await rename(file, `${file}.damaged`);
      this.notify(
        'storage.failed',
        `${file} is damaged and was set aside: its machine learns anew from the readings that came after it.`,
      );
      return;
    }
    const kept = withOwnArrays(deserialize(bytes)) as KeptMachine;
    this.whole.set(kept.of, kept.detector.history.taken);
    onMachine(kept);
  }

  private async readJournal(file: string, number: number, onEntry: (entry: Entry) => void): Promise<void> {
    this.number = number;
    const lines = createInterface({ input: createReadStream(file), crlfDelay: Infinity });
    for await (const line of lines) {
      const entry = tryParseJson(line);
      // A line that a crash has cut is the last of its file.
      if (isObject(entry) && typeof entry.taken === 'number') {
        this.note(number, entry as unknown as Entry);
        onEntry(entry as unknown as Entry);
      }
    }
    this.fileOf(number).bytes = (await stat(file)).size;
  }

  private note(number: number, entry: Entry): void {
    if ('reset' in entry) {
      for (const { machines } of this.files.values()) {
        machines.delete(entry.of);
      }
    }
    this.fileOf(number).machines.set(entry.of, entry.taken);
  }

  private fileOf(number: number): { bytes: number; machines: Map<string | null, number> } {
    let file = this.files.get(number);
    if (file === undefined) {
      file = { bytes: 0, machines: new Map() };
      this.files.set(number, file);
    }
    return file;
  }

  private failed(error: unknown): void {
    if (!this.isFailing) {
      this.isFailing = true;
      this.notify(
        'storage.failed',
        `What is known of the machines cannot be kept in ${this.folder} (${reasonOf(error)}). It goes on in memory and is written as soon as possible.`,
      );
    }
    this.timer ??= setTimeout(() => void this.flush(), this.writeEvery).unref();
  }
}

/** The same with arrays of their own: what `deserialize` gives are views that hold the whole file in memory. */
function withOwnArrays(value: unknown): unknown {
  if (ArrayBuffer.isView(value)) {
    return (value as Float64Array).slice();
  }
  if (Array.isArray(value)) {
    return value.map(withOwnArrays);
  }
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withOwnArrays(part)]))
    : value;
}
