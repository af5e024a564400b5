import { randomUUID } from 'node:crypto';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { notFound, Refusal } from '../refusal';
import type { PartName, SetKind, UploadEntry, UploadPart } from './entries';
import type { FileRef } from '../work/jobs';
import { PartWriter } from './part-writer';
import type { Shelf, Shelved } from './shelf';

/**
 * How many of the newest test uploads are known as duplicates. A CRC32C has 32 bits: among the millions of
 * test sets of a stream two different ones will share it one day, and answering the second with the first
 * would score the wrong rows; among a few hundred that chance stays negligible.
 */
const TEST_DUPLICATES = 256;
/** Uploads that wait for their bytes. */
const MAX_PENDING = 5_000;

interface Pending {
  entry: UploadEntry;
  folder: string;
  writers: Partial<Record<PartName, PartWriter>>;
  /** Unix milliseconds after which its signed URLs are void. */
  expiresAt: number;
  completing?: Promise<void>;
}

export interface PrepareRequest {
  set: SetKind;
  fittedId?: string;
  description?: string;
  x: UploadPart;
  y?: UploadPart;
}

/** Uploads from prepare to the last byte; complete ones live on the shelf. */
export class Uploads {
  private readonly pending = new Map<string, Pending>();
  private readonly trainKeys = new Map<string, string>();
  private readonly testKeys = new Map<string, string>();

  constructor(
    private readonly shelf: Shelf<UploadEntry>,
    private readonly maxFileBytes: number,
  ) {
    const known = [...shelf.items.values()].sort((a, b) => a.entry.createdAt - b.entry.createdAt);
    for (const { entry } of known) this.index(entry);
  }

  /** The id of a complete upload with the same content, by announced hashes. Nothing without a hash is one. */
  findDuplicate(request: PrepareRequest): string | undefined {
    const key = keyOf(request, (part) => part.announcedHash);
    if (key === undefined) return undefined;
    const id = (request.set === 'train' ? this.trainKeys : this.testKeys).get(key);
    const found = id === undefined ? undefined : this.shelf.items.get(id);
    if (found === undefined) return undefined;
    const { x, y } = found.entry;
    const same = sameSize(request.x, x) && (request.y === undefined || sameSize(request.y, y));
    // It counts as a use: who is told the id reads it next.
    return same ? this.shelf.use(found.entry.id)?.entry.id : undefined;
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
    this.pending.set(id, { entry, folder: this.shelf.makeFolder(id), writers: {}, expiresAt });
    this.sweep();
    return entry;
  }

  /**
   * Takes the bytes of one PUT. When the last file is there the upload is complete.
   *
   * @returns the upload, once complete by this PUT
   * @throws Refusal 400, 403, 413 as PartWriter.receive; 403 for an upload that nobody waits for any more
   */
  async receive(
    id: string,
    part: PartName,
    chunk: number,
    body: Readable,
  ): Promise<Shelved<UploadEntry> | undefined> {
    const pending = this.pending.get(id);
    const info = pending?.entry[part];
    if (pending === undefined || info === undefined) {
      if (this.shelf.items.has(id)) return this.receiveAgain(id, part, chunk, body);
      throw new Refusal({
        status: 403,
        errorCode: 'URL_EXPIRED',
        message: 'Nobody waits for this upload any more: prepare it again.',
        retryable: false,
      });
    }
    const writer = (pending.writers[part] ??= new PartWriter(
      info,
      path.join(pending.folder, fileName(part, info)),
      this.maxFileBytes,
      pending.entry.set === 'train',
    ));
    await writer.receive(chunk, body);
    const { x, y } = pending.entry;
    if (x.arrived === undefined || (y !== undefined && y.arrived === undefined)) return undefined;
    pending.completing ??= this.complete(pending);
    await pending.completing;
    return this.shelf.items.get(id);
  }

  /** A PUT repeated after the upload was complete, because its answer got lost: the same bytes are fine. */
  private async receiveAgain(id: string, part: PartName, chunk: number, body: Readable): Promise<undefined> {
    const info = this.shelf.items.get(id)?.entry[part];
    if (info?.arrived === undefined || info.chunks !== 1 || chunk !== 0) {
      body.resume();
      return undefined;
    }
    await PartWriter.compare(info, body, this.maxFileBytes);
    return undefined;
  }

  private async complete(pending: Pending): Promise<void> {
    const { entry, folder } = pending;
    await this.shelf.put(entry, folder, entry.set === 'train');
    this.index(entry);
    this.pending.delete(entry.id);
  }

  /** A complete upload. @throws Refusal 404, or 422 while its bytes have not arrived */
  get(id: string, set: SetKind): Shelved<UploadEntry> {
    const item = this.shelf.use(id);
    if (item?.entry.set === set) return item;
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
    throw notFound(`There is no ${set} set upload ${id}: upload it again.`);
  }

  /**
   * Work that reads an upload's files, which stay meanwhile. Where they turn out to be damaged the upload is set
   * aside, and the client is asked for a new one.
   */
  async reading<R>(item: Shelved<UploadEntry>, work: () => Promise<R>): Promise<R> {
    item.pins += 1;
    try {
      const result = await work();
      item.verified = true;
      return result;
    } catch (error) {
      if (!(error instanceof Refusal) || error.body.errorCode !== 'UPLOAD_DAMAGED') throw error;
      await this.shelf.setAside(item.entry.id, item.folder, error.message);
      throw notFound(error.message);
    } finally {
      item.pins -= 1;
    }
  }

  /** Removes uploads whose URLs ran out, and the oldest waiting ones beyond a bound. */
  sweep(now = Date.now()): void {
    let surplus = this.pending.size - MAX_PENDING;
    for (const [id, pending] of this.pending) {
      const busy = Object.values(pending.writers).some((writer) => writer.busy);
      if (busy || pending.completing !== undefined) continue;
      if (pending.expiresAt >= now && surplus <= 0) continue;
      surplus -= 1;
      this.pending.delete(id);
      rm(pending.folder, { recursive: true, force: true }).catch(() => undefined);
    }
  }

  /** Ends PUTs under way. What has not arrived is removed at the next start. */
  abort(): void {
    for (const pending of this.pending.values()) {
      for (const writer of Object.values(pending.writers)) writer.abort();
    }
  }

  private index(entry: UploadEntry): void {
    const keys = entry.set === 'train' ? this.trainKeys : this.testKeys;
    for (const hashOf of [announced, arrived]) {
      const key = keyOf(entry, hashOf);
      if (key === undefined) continue;
      keys.delete(key);
      keys.set(key, entry.id);
    }
    for (const [key, id] of keys) {
      const surplus = entry.set === 'test' && keys.size > TEST_DUPLICATES;
      if (!surplus && this.shelf.items.has(id)) break;
      keys.delete(key);
    }
  }
}

/** A part's file as the workers read it; checked by them the first time after a start. */
export function fileRef(item: Shelved<UploadEntry>, part: PartName): FileRef {
  const info = item.entry[part]!;
  const file = path.join(item.folder, fileName(part, info));
  const crc = item.verified ? undefined : info.arrived?.crc;
  return { file, format: info.format, ...(crc === undefined ? {} : { crc }) };
}

/** Name of a part's file in its folder. */
export function fileName(part: PartName, info: UploadPart): string {
  return `${part}.${info.format}`;
}

const announced = (part: UploadPart): string | undefined => part.announcedHash;
const arrived = (part: UploadPart): string | undefined => part.arrived?.crc;

function keyOf(
  set: Pick<PrepareRequest, 'fittedId' | 'x' | 'y'>,
  hashOf: (part: UploadPart) => string | undefined,
): string | undefined {
  const parts = set.y === undefined ? [set.x] : [set.x, set.y];
  const hashes = parts.map(hashOf);
  if (hashes.includes(undefined)) return undefined;
  return JSON.stringify([set.fittedId ?? null, ...parts.map((part, i) => [part.format, hashes[i]])]);
}

function sameSize(asked: UploadPart, known: UploadPart | undefined): boolean {
  return asked.announcedBytes === undefined || asked.announcedBytes === known?.arrived?.bytes;
}
