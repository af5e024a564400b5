import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';

import { fileSystemCode, isPassingFailure, isStorageFailure } from '../../util/files';
import { notFound, Refusal } from '../refusal';
import type { UploadTarget } from '../upload-target';
import { fileName, type PartName, type SetKind, type UploadEntry, type UploadPart } from './entries';
import type { EntryStore, StoredEntry } from './entry-store';
import {
  type DiskAccount,
  fileStore,
  isWide,
  type MemoryStore,
  memoryStore,
  PartWriter,
  type PutBody,
} from './parts';

/** An unfinished upload that nobody has written to for this long may go for others. */
const IDLE_MS = 60_000;
/** Uploads that wait for their bytes. */
const MAX_PENDING = 5_000;

interface Pending {
  entry: UploadEntry;
  /** Made when the first file comes to the disk; that of a train set at once, so that a full disk shows early. */
  folder?: string;
  /** Where a small test set goes instead. */
  memory?: MemoryStore;
  writers: Partial<Record<PartName, PartWriter>>;
  /** Unix milliseconds after which its signed URLs are void. */
  expiresAt: number;
  /** When a PUT of it last began or ended. */
  usedAt: number;
  completing?: Promise<void>;
}

interface PrepareRequest {
  set: SetKind;
  fittedId?: string;
  description?: string;
  x: UploadPart;
  y?: UploadPart;
}

/** Uploads from prepare to the last byte; complete ones are in `stored`. */
export class Uploads {
  private readonly pending = new Map<string, Pending>();
  private readonly known: Duplicates;
  private readonly small: SmallTestSets;

  constructor(
    private readonly stored: EntryStore<UploadEntry>,
    private readonly maxFileBytes: number,
    /** Of the files of uploads that are not complete. */
    private readonly account: DiskAccount,
  ) {
    this.known = new Duplicates(stored);
    this.small = new SmallTestSets(stored, () => this.arriving());
  }

  /** The id of a complete upload with the same content, by announced hashes. Nothing without a hash is one. */
  findDuplicate(request: PrepareRequest): string | undefined {
    return this.known.find(request);
  }

  /** Makes place for a new upload. Its bytes come through `receive`. */
  prepare(request: PrepareRequest, expiresAt: number): UploadEntry {
    const id = randomUUID();
    const entry: UploadEntry = {
      version: 1,
      id,
      set: request.set,
      createdAt: Date.now(),
      x: request.x,
      ...(request.y === undefined ? {} : { y: request.y }),
      ...(request.fittedId === undefined ? {} : { fittedId: request.fittedId }),
      ...(request.description === undefined ? {} : { description: request.description }),
    };
    const pending: Pending = { entry, writers: {}, expiresAt, usedAt: Date.now() };
    if (entry.set === 'train') {
      this.nameFolder(pending);
    }
    this.pending.set(id, pending);
    this.sweep();
    return entry;
  }

  /**
   * Takes the bytes of one PUT. When the last file is there the upload is complete.
   *
   * @returns the upload, once complete by this PUT
   * @throws Refusal 400, 403, 408, 413 as PartWriter.receive; 403 for an upload that nobody waits for any more;
   *   errors of the file system, which end the upload
   */
  async receive(target: UploadTarget, body: PutBody): Promise<StoredEntry<UploadEntry> | undefined> {
    const { uploadId: id, part, chunk } = target;
    const pending = this.pending.get(id);
    const info = pending?.entry[part];
    if (pending === undefined || info === undefined) {
      if (this.stored.items.has(id)) {
        return this.receiveAgain(target, body);
      }
      throw expired('Nobody waits for this upload any more: prepare it again.');
    }
    pending.usedAt = Date.now();
    const writer = (pending.writers[part] ??= this.writer(pending, part, body));
    try {
      await writer.receive(chunk, body);
      const { x, y } = pending.entry;
      if (x.arrived === undefined || (y !== undefined && y.arrived === undefined)) {
        return undefined;
      }
      pending.completing ??= this.complete(pending);
      await pending.completing;
    } catch (error) {
      if (fileSystemCode(error) === 'ENOENT') {
        this.stored.restore();
        await this.giveUp(pending);
        throw expired('The folder of this upload was deleted: prepare it again.');
      }
      // The room in memory is for others; the next PUT of the same file asks for its own.
      if (pending.memory !== undefined && info.arrived === undefined && !writer.busy) {
        pending.writers = {};
        delete pending.memory;
      }
      // What has come of it takes room that is wanted now, and it could not be completed.
      if (isStorageFailure(error) && !isPassingFailure(error)) {
        await this.giveUp(pending);
      }
      throw error;
    } finally {
      pending.usedAt = Date.now();
    }
    return this.stored.items.get(id);
  }

  private writer(pending: Pending, part: PartName, body: PutBody): PartWriter {
    const { entry } = pending;
    const info = entry[part]!;
    const memory = this.small.roomFor(entry.set, info, body.length);
    if (memory !== undefined) {
      pending.memory = memory;
      return new PartWriter(info, memory, memory.size, false);
    }
    const file = (): string => path.join(this.nameFolder(pending), fileName(part, info));
    const store = fileStore(file, info.chunks === 1, this.account);
    return new PartWriter(info, store, this.maxFileBytes, entry.set === 'train');
  }

  private nameFolder(pending: Pending): string {
    return (pending.folder ??= this.stored.makeFolder(pending.entry.id));
  }

  /** Bytes of test sets that are kept in memory or on their way there. */
  memoryBytes(): number {
    return this.small.bytes;
  }

  private *arriving(): Iterable<MemoryStore> {
    for (const { memory } of this.pending.values()) {
      if (memory !== undefined) {
        yield memory;
      }
    }
  }

  /** A PUT repeated after the upload was complete, because its answer got lost: the same bytes are fine. */
  private async receiveAgain({ uploadId, part, chunk }: UploadTarget, body: PutBody): Promise<undefined> {
    const info = this.stored.items.get(uploadId)?.entry[part];
    if (info?.arrived === undefined || info.chunks !== 1 || chunk !== 0) {
      body.stream.resume();
      return undefined;
    }
    await PartWriter.compare(info.arrived, body);
    return undefined;
  }

  private async complete(pending: Pending): Promise<void> {
    const { entry, memory } = pending;
    if (memory !== undefined) {
      this.stored.hold(entry, memory.bytes());
    } else {
      await this.stored.put(entry, this.nameFolder(pending), entry.set === 'train');
    }
    settleAll(pending);
    this.known.add(entry);
    this.pending.delete(entry.id);
  }

  /** Ends an upload before its time; its signed URLs are void from now on. */
  private async giveUp(pending: Pending): Promise<void> {
    this.pending.delete(pending.entry.id);
    for (const writer of Object.values(pending.writers)) {
      writer.abort();
    }
    if (pending.folder !== undefined) {
      await rm(pending.folder, { recursive: true, force: true });
    }
    settleAll(pending);
  }

  /** Bytes on disk of uploads that are not complete. */
  get unfinishedBytes(): number {
    return this.account.bytes;
  }

  /** Gives up the unfinished upload that nobody has written to for longest, beyond a minute. */
  async dropIdle(now = Date.now()): Promise<boolean> {
    let oldest: Pending | undefined;
    for (const pending of this.pending.values()) {
      const idle = pending.folder !== undefined && now - pending.usedAt > IDLE_MS && !isBusy(pending);
      if (idle && pending.usedAt < (oldest?.usedAt ?? Infinity)) {
        oldest = pending;
      }
    }
    if (oldest !== undefined) {
      await this.giveUp(oldest);
    }
    return oldest !== undefined;
  }

  /** A complete upload. @throws Refusal 404, or 422 while its bytes have not arrived */
  get(id: string, set: SetKind): StoredEntry<UploadEntry> {
    const item = this.stored.use(id);
    if (item?.entry.set === set) {
      return item;
    }
    const pending = this.pending.get(id);
    if (pending?.entry.set === set) {
      const missing = (['x', 'y'] as const).filter((part) => {
        const info = pending.entry[part];
        return info !== undefined && info.arrived === undefined;
      });
      throw new Refusal({
        status: 422,
        errorCode: 'UPLOAD_INCOMPLETE',
        message: `The ${set} set upload ${id} has not arrived: PUT its ${missing.join(' and ')} file to the signed URL first.`,
      });
    }
    throw this.missing(id, set);
  }

  /**
   * Work that reads an upload's files, which stay until it is done. Where they turn out to be damaged the upload is set
   * aside, and the client is asked for a new one.
   *
   * @throws Refusal 404 for one that was deleted or is damaged; as the work does
   */
  async reading<R>(item: StoredEntry<UploadEntry>, work: () => Promise<R>): Promise<R> {
    item.pins += 1;
    try {
      const result = await work();
      item.verified = true;
      item.read = true;
      return result;
    } catch (error) {
      const { id, set } = item.entry;
      this.stored.restore();
      if (this.stored.isLost(id)) {
        throw this.missing(id, set);
      }
      if (this.stored.items.get(id) !== item) {
        throw notFound(`The ${set} set upload ${id} was deleted while it was read: upload it again.`);
      }
      if (!(error instanceof Refusal) || error.body.errorCode !== 'UPLOAD_DAMAGED') {
        throw error;
      }
      await this.stored.setAside(id, item.folder, error.message);
      throw notFound(error.message);
    } finally {
      item.pins -= 1;
    }
  }

  private missing(id: string, set: SetKind): Refusal {
    return notFound(
      this.stored.isLost(id)
        ? `The ${set} set upload ${id} is lost, because its folder was deleted: upload it again.`
        : `There is no ${set} set upload ${id}: upload it again.`,
    );
  }

  /** Uploads whose bytes have not all arrived. */
  waiting(): UploadEntry[] {
    return [...this.pending.values()].map(({ entry }) => entry);
  }

  /** Removes an upload, complete or not. */
  async erase(id: string): Promise<void> {
    const pending = this.pending.get(id);
    if (pending !== undefined) {
      await this.giveUp(pending);
    }
    await this.stored.erase(id);
  }

  /** Removes uploads whose URLs ran out, and the oldest waiting ones beyond a bound. */
  sweep(now = Date.now()): void {
    let surplus = this.pending.size - MAX_PENDING;
    for (const pending of this.pending.values()) {
      if (isBusy(pending) || (pending.expiresAt >= now && surplus <= 0)) {
        continue;
      }
      surplus -= 1;
      this.giveUp(pending).catch(() => undefined);
    }
  }

  /** Ends PUTs under way. What has not arrived is removed at the next start. */
  abort(): void {
    for (const pending of this.pending.values()) {
      for (const writer of Object.values(pending.writers)) {
        writer.abort();
      }
    }
  }
}

function expired(message: string): Refusal {
  return new Refusal({ status: 403, errorCode: 'URL_EXPIRED', message, retryable: false });
}

function isBusy({ writers, completing }: Pending): boolean {
  return completing !== undefined || Object.values(writers).some((writer) => writer.busy);
}

function settleAll({ writers }: Pending): void {
  for (const writer of Object.values(writers)) {
    writer.settle();
  }
}

/** How many of the newest test uploads are known as duplicates. */
const TEST_DUPLICATES = 256;

/** What makes an upload the same as another: the files, by format and hash, and of a test set the model. */
interface Content {
  set: SetKind;
  fittedId?: string;
  x: UploadPart;
  y?: UploadPart;
}

/**
 * Finds complete uploads by what was announced of their files.
 *
 * A CRC32C has 32 bits: among the millions of test sets of a stream two will share it one day, and whoever wants to
 * can make two that do. Answering one with the other would score the wrong rows, so it never makes a test set a
 * duplicate; a hash of 128 bits or more does. Train sets are few, and both files must agree in CRC32C and size.
 */
class Duplicates {
  private readonly trainKeys = new Map<string, string>();
  private readonly testKeys = new Map<string, string>();

  /** Knows what is stored already. */
  constructor(private readonly stored: EntryStore<UploadEntry>) {
    const known = [...stored.items.values()].sort((a, b) => a.entry.createdAt - b.entry.createdAt);
    for (const { entry } of known) {
      this.add(entry);
    }
  }

  /** The id of an upload with the announced hashes and sizes. It counts as used: the client predicts with it next. */
  find(asked: Content): string | undefined {
    const key = makeKey(asked, announced);
    if (key === undefined) {
      return undefined;
    }
    const id = this.makeKeys(asked.set).get(key);
    const found = id === undefined ? undefined : this.stored.items.get(id);
    if (found === undefined) {
      return undefined;
    }
    const { x, y } = found.entry;
    const same = isSameSize(asked.x, x) && (asked.y === undefined || isSameSize(asked.y, y));
    return same ? this.stored.useIfWhole(found.entry.id)?.entry.id : undefined;
  }

  /** A complete upload can be found from now on, by what was announced and by what arrived. */
  add(entry: UploadEntry): void {
    const keys = this.makeKeys(entry.set);
    for (const hashOf of [announced, arrived]) {
      const key = makeKey(entry, hashOf);
      if (key !== undefined) {
        keys.delete(key);
        keys.set(key, entry.id);
      }
    }
    for (const [key, id] of keys) {
      const surplus = entry.set === 'test' && keys.size > TEST_DUPLICATES;
      if (!surplus && this.stored.items.has(id)) {
        break;
      }
      keys.delete(key);
    }
  }

  private makeKeys(set: SetKind): Map<string, string> {
    return set === 'train' ? this.trainKeys : this.testKeys;
  }
}

const announced = (part: UploadPart): string | undefined => part.announcedHash;
const arrived = (part: UploadPart): string | undefined => part.arrived?.crc;

/** Undefined where the hashes are missing, or too short to tell a duplicate. */
function makeKey(
  { set, fittedId, x, y }: Content,
  hashOf: (part: UploadPart) => string | undefined,
): string | undefined {
  const parts = y === undefined ? [x] : [x, y];
  const hashes = parts.map(hashOf);
  const tells = (hash: string | undefined): boolean =>
    hash !== undefined && (set === 'train' || isWide(hash));
  if (!hashes.every(tells)) {
    return undefined;
  }
  return JSON.stringify([fittedId ?? null, ...parts.map((part, i) => [part.format, hashes[i]])]);
}

/** A wide hash says enough without a size. */
function isSameSize(asked: UploadPart, known: UploadPart | undefined): boolean {
  return asked.announcedBytes === undefined
    ? isWide(asked.announcedHash ?? '')
    : asked.announcedBytes === known?.arrived?.bytes;
}

/** Test sets up to this size stay in memory, as long as all of them take no more than the next bound. */
const SMALL_BYTES = 64 * 1024;
const MEMORY_BYTES = 16 * 1024 * 1024;

/** The room in memory for test sets that are not worth a file. */
class SmallTestSets {
  /** @param arriving room that was given and whose bytes are on their way */
  constructor(
    private readonly stored: EntryStore<UploadEntry>,
    private readonly arriving: () => Iterable<MemoryStore>,
  ) {}

  /**
   * Room for the file of an upload, or nothing where it belongs on disk.
   *
   * @param length bytes that its request announces, where it does
   */
  roomFor(set: SetKind, info: UploadPart, length: number | undefined): MemoryStore | undefined {
    const { announcedBytes: size = SMALL_BYTES } = info;
    const isSmall = (info.announcedBytes ?? length ?? Infinity) <= SMALL_BYTES;
    return isSmall && set === 'test' && info.chunks === 1 && this.makeRoom(size)
      ? memoryStore(size)
      : undefined;
  }

  /** Bytes of test sets that are kept in memory or on their way there. */
  get bytes(): number {
    let total = this.stored.heldBytes;
    for (const { size } of this.arriving()) {
      total += size;
    }
    return total;
  }

  /**
   * Those that have been read go first, the one unused for longest before others. What is still to be read stays, so
   * that many uploads at once don't push one another out.
   */
  private makeRoom(bytes: number): boolean {
    let used = this.bytes + bytes;
    if (used <= MEMORY_BYTES) {
      return true;
    }
    const held = [...this.stored.items.values()].filter((item) => item.data !== undefined);
    for (const item of held.sort((a, b) => a.lastUsedAt - b.lastUsedAt)) {
      if (used <= MEMORY_BYTES) {
        break;
      }
      if (!item.read || item.pins > 0) {
        continue;
      }
      used -= item.data!.length;
      void this.stored.drop(item.entry.id);
    }
    return used <= MEMORY_BYTES;
  }
}
