import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { deserialize, serialize } from 'node:v8';
import { crc32 } from 'node:zlib';

import { Serial } from '../util/concurrency';
import { isNewer, NewerFile, NO_FOLLOW, readOwnFile, writeFileAtomic } from '../util/files';
import { journalName, journalNumber, readLines, StateFolder, writeLines } from '../util/state-folder';
import { isObject, tryParseJson } from '../util/values';
import { ServiceError } from '../wire/service-error';
import type { Episode } from './method/alarms';
import type { AnsweredMovement } from './method/creep';
import type { HistoryCell, MarkedRows } from './method/history';
import type { KeptDetector } from './method/learning';
import type { KeptRowsUnderWay } from './rows';

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
const STATE = '.state';
/** Rows that are not whole, and how long after a change of them they are written, in milliseconds. */
const WAITING_ROWS = 'waiting-rows.json';
const WRITE_ROWS_MS = 45_000;

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
  /** The rows that are not whole. */
  waitingRows(isClosed: boolean): KeptRowsUnderWay;
}

/**
 * What is kept of machines across restarts: a journal of readings that is only ever appended to, and after each fit the
 * whole of its machine, so that the journal before it can go. An SD card is written as little as that allows.
 */
export class AnomalyStore {
  private readonly folder: StateFolder | undefined;
  private number = 0;
  private size = 0;
  private waiting: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> = Promise.resolve();
  /** Machines are written whole beside the journal: an alarm does not wait for them. */
  private readonly states = new Serial();
  /** How many rows of which machines each journal file holds. */
  private readonly files = new Map<number, { bytes: number; machines: Map<string | null, number> }>();
  /** How many rows of a machine were written whole. */
  private readonly whole = new Map<string | null, number>();
  private hasLost = false;
  private rowsTimer: NodeJS.Timeout | undefined;
  private areRowsDue = false;
  private areRowsKept = false;
  private isClosing = false;

  /**
   * @param folder undefined: nothing is kept
   */
  constructor(
    folder: string | undefined,
    private readonly notify: (kind: 'storage.failed' | 'storage.ok', text: string) => void,
    private readonly machines: KeptMachines,
    private readonly writeEvery = WRITE_MS,
  ) {
    if (folder !== undefined) {
      this.folder = new StateFolder(folder, {
        unreadable: (reason) =>
          new ServiceError(
            'storage.failed',
            `What is known of the machines in ${folder} cannot be read now (${reason}). Nothing is lost: the next message tries again.`,
          ),
        failed: (reason) =>
          notify(
            'storage.failed',
            `What is known of the machines cannot be kept in ${folder} (${reason}). It goes on in memory and is written as soon as possible.`,
          ),
        back: () => notify('storage.ok', `What is known of the machines is on disk again, in ${folder}.`),
      });
    }
  }

  get isFailing(): boolean {
    return this.folder?.isFailing === true;
  }

  /**
   * Reads what was kept.
   * @returns the rows that were not whole, where there are such
   * @throws ServiceError `storage.failed` where it cannot be read now, belongs to another process, or was written by a
   *   newer version
   */
  async read(
    onMachine: (kept: KeptMachine) => void,
    onEntry: (entry: Entry) => void,
  ): Promise<KeptRowsUnderWay | undefined> {
    const { folder } = this;
    let rows: KeptRowsUnderWay | undefined;
    const isThere = await folder?.open(async () => {
      const names = (await readdir(folder.path)).sort();
      for (const name of names.filter((one) => one.endsWith(STATE))) {
        await this.readState(path.join(folder.path, name), onMachine);
      }
      for (const name of names) {
        const number = journalNumber(name);
        if (number !== undefined) {
          await this.readJournal(path.join(folder.path, name), number, onEntry);
        }
      }
      if (names.includes(WAITING_ROWS)) {
        rows = await this.readRows(path.join(folder.path, WAITING_ROWS));
      }
    });
    if (isThere === true) {
      // A journal that a crash may have cut is not appended to.
      this.number++;
    } else if (isThere === false) {
      this.retry();
    }
    return rows;
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

  /** The rows that are not whole have changed: they are written within a minute, or at close. */
  rowsChanged(): void {
    if (this.folder !== undefined) {
      this.areRowsKept = true;
      this.rowsTimer ??= setTimeout(() => void this.writeRows(), WRITE_ROWS_MS).unref();
    }
  }

  /** Writes them now, and what waits before them: they are known by the rows that came before. */
  writeRows(): Promise<void> {
    this.areRowsKept = true;
    clearTimeout(this.rowsTimer);
    this.rowsTimer = undefined;
    this.areRowsDue = true;
    return this.flush();
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
    return this.folder?.isSlow === true;
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
      if (this.folder?.isAnew === true) {
        this.retry();
      }
    });
  }

  /** A machine begins anew. */
  async forget(of: string | null, taken: number): Promise<void> {
    this.append({ of, taken, reset: true });
    // What waits of it is forgotten with it.
    await (this.areRowsKept ? this.writeRows() : this.flush());
    await this.states.run(async () => {
      this.whole.delete(of);
      if (this.folder !== undefined) {
        await this.removeState(of).catch(() => undefined);
      }
    });
  }

  async close(): Promise<void> {
    this.isClosing = true;
    await (this.areRowsKept ? this.writeRows() : this.flush());
    await this.states.idle();
    clearTimeout(this.timer);
    clearTimeout(this.rowsTimer);
    await this.folder?.close();
  }

  private async write(): Promise<void> {
    const { folder, waiting, hasLost, areRowsDue } = this;
    if (folder === undefined || (waiting.length === 0 && !hasLost && !areRowsDue && !folder.isAnew)) {
      return;
    }
    this.waiting = [];
    this.areRowsDue = false;
    const isWritten = await folder.write(async () => {
      const { isAnew } = folder;
      if (isAnew) {
        this.files.clear();
        this.whole.clear();
        this.next();
      }
      if (hasLost || isAnew) {
        // What comes meanwhile goes into the journal again.
        this.hasLost = false;
        for (const of of this.machines.names()) {
          await this.states.run(() => this.writeState(of));
        }
      } else if (waiting.length > 0) {
        await this.appendLines(folder.path, waiting);
        waiting.length = 0;
      }
      if (areRowsDue || (isAnew && this.areRowsKept)) {
        const rows = JSON.stringify({ version: VERSION, ...this.machines.waitingRows(this.isClosing) });
        await writeFileAtomic(path.join(folder.path, WAITING_ROWS), rows, true);
      }
    });
    if (isWritten) {
      void this.states.run(() => this.compact()).catch((error: unknown) => this.failed(error));
      return;
    }
    this.hasLost ||= hasLost;
    this.waiting = this.hasLost ? [] : [...waiting, ...this.waiting];
    this.areRowsDue ||= areRowsDue;
    this.retry();
  }

  private async appendLines(folder: string, lines: readonly string[]): Promise<void> {
    const before = this.size;
    try {
      const file = await open(path.join(folder, journalName(this.number)), 'a', 0o600);
      try {
        this.size = before + (await writeLines(file, lines));
      } finally {
        await file.close();
      }
    } catch (error) {
      // Half a line may be there: the next try goes into a file of its own.
      this.next();
      throw error;
    }
    this.fileNumbered(this.number).bytes = this.size;
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
      await rm(path.join(this.folder!.path, journalName(number)), { force: true });
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
    await this.folder.assertOurs();
    const bytes = serialize({ of, detector } satisfies KeptMachine);
    const head = JSON.stringify({ version: VERSION, bytes: bytes.length, crc: crc32(bytes) });
    await writeFileAtomic(this.stateFile(of), Buffer.concat([Buffer.from(`${head}\n`), bytes]), true);
    this.whole.set(of, detector.history.taken);
  }

  private async removeState(of: string | null): Promise<void> {
    await this.folder?.assertOurs();
    await rm(this.stateFile(of), { force: true });
  }

  private stateFile(of: string | null): string {
    const name = of === null ? 'machine' : createHash('sha256').update(of).digest('hex').slice(0, 32);
    return path.join(this.folder!.path, `${name}${STATE}`);
  }

  /** A file that is damaged is set aside, and told. @throws NewerFile */
  private async readState(file: string, onMachine: (kept: KeptMachine) => void): Promise<void> {
    const all = await readOwnFile(file);
    const end = all.indexOf(10);
    const head = tryParseJson(all.toString('utf8', 0, Math.max(0, end)));
    if (isNewer(head, VERSION)) {
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

  /** @throws NewerFile */
  private async readRows(name: string): Promise<KeptRowsUnderWay | undefined> {
    const kept = tryParseJson((await readOwnFile(name)).toString('utf8'));
    if (isNewer(kept, VERSION)) {
      throw new NewerFile(kept.version, VERSION);
    }
    if (isObject(kept) && Array.isArray(kept.joined) && Array.isArray(kept.rounds)) {
      return kept as unknown as KeptRowsUnderWay;
    }
    await rename(name, `${name}.damaged`);
    this.notify(
      'storage.failed',
      `${name} is damaged and was set aside: the readings of a row that was not whole are lost.`,
    );
    return undefined;
  }

  private async readJournal(name: string, number: number, onEntry: (entry: Entry) => void): Promise<void> {
    this.number = number;
    const file = await open(name, constants.O_RDONLY | NO_FOLLOW);
    try {
      await readLines(file, (line) => {
        const entry = tryParseJson(line);
        if (isObject(entry) && typeof entry.taken === 'number') {
          this.note(number, entry as unknown as Entry);
          onEntry(entry as unknown as Entry);
        }
      });
      this.fileNumbered(number).bytes = (await file.stat()).size;
    } finally {
      await file.close();
    }
  }

  private note(number: number, entry: Entry): void {
    if ('reset' in entry) {
      for (const { machines } of this.files.values()) {
        machines.delete(entry.of);
      }
    }
    this.fileNumbered(number).machines.set(entry.of, entry.taken);
  }

  private fileNumbered(number: number): { bytes: number; machines: Map<string | null, number> } {
    let file = this.files.get(number);
    if (file === undefined) {
      file = { bytes: 0, machines: new Map() };
      this.files.set(number, file);
    }
    return file;
  }

  private failed(error: unknown): void {
    this.folder?.failed(error);
    this.retry();
  }

  private retry(): void {
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
