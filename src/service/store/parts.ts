import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { open, rm } from 'node:fs/promises';
import type { Readable } from 'node:stream';

import { combineCrc32c, crc32c, crc32cToBase64 } from '../../table/storage/crc32c';
import { isStorageFailure, NO_FOLLOW, streamOwnFile, writeAll } from '../../util/files';
import { Refusal } from '../refusal';
import { arriving, type SenderPatience } from '../slow-body';
import type { UploadPart } from './entries';

/** The body of a PUT. */
export interface PutBody {
  stream: Readable;
  /** As its Content-Length says; undefined where it comes in chunks of HTTP. */
  length?: number | undefined;
  patience: SenderPatience;
}

interface Chunk {
  done?: { bytes: number; crc: number };
  /** The request that is writing it, and when it has stopped. A newer one for the same chunk takes its place. */
  active?: { body: Readable; stopped: Promise<void> };
}

/**
 * Receives the PUTs of one file. Each chunk is written at its own place in the file, so nothing is joined
 * afterwards; the checksum of the whole comes from those of the chunks.
 */
export class PartWriter {
  private readonly chunks: Chunk[];
  private finishing: Promise<void> | undefined;

  constructor(
    readonly part: UploadPart,
    private readonly store: PartStore,
    private readonly maxBytes: number,
    private readonly durable: boolean,
  ) {
    this.chunks = Array.from({ length: part.chunks }, () => ({}));
  }

  get busy(): boolean {
    return this.finishing !== undefined || this.chunks.some((chunk) => chunk.active !== undefined);
  }

  /**
   * Writes one chunk; with the last one missing, checks size and hash of the whole against what was announced.
   * Repeating a chunk is allowed, also after the whole has arrived, as long as it brings the same bytes.
   *
   * @throws Refusal 400 (other size or hash than announced, or cut off), 403 (no such chunk), 408, 413; errors of
   *   the file system
   */
  async receive(index: number, body: PutBody): Promise<void> {
    const chunk = this.chunks[index];
    if (chunk === undefined) {
      throw new Refusal({ status: 403, errorCode: 'SIGNATURE_INVALID', message: 'There is no such chunk.' });
    }
    if (body.length !== undefined) {
      this.assertLength(index, body.length);
    }
    const former = chunk.active;
    former?.body.destroy(new Error('A newer PUT of the same chunk took over.'));
    let stop = (): void => undefined;
    const active = { body: body.stream, stopped: new Promise<void>((resolve) => (stop = resolve)) };
    chunk.active = active;
    try {
      // Its last write may still be on its way to the disk.
      await former?.stopped;
      await this.finishing?.catch(() => undefined);
      await this.receiveAlone(chunk, index, body);
    } catch (error) {
      if (chunk.done === undefined && this.chunks.length === 1 && chunk.active === active) {
        await this.store.remove();
      }
      throw error;
    } finally {
      stop();
      if (chunk.active === active) {
        delete chunk.active;
      }
    }
    if (this.part.arrived === undefined && this.chunks.every((one) => one.done !== undefined)) {
      this.finishing ??= this.finish().finally(() => (this.finishing = undefined));
      await this.finishing;
    }
  }

  private async receiveAlone(chunk: Chunk, index: number, body: PutBody): Promise<void> {
    const range = this.findRange(index);
    const again = chunk.done;
    const written = await this.write(body, range, again === undefined);
    this.assertLength(index, written.bytes);
    if (again === undefined) {
      chunk.done = written;
    } else if (again.crc !== written.crc || again.bytes !== written.bytes) {
      throw mismatch(
        `${this.name(index)} has been uploaded already, with other bytes: prepare a new upload.`,
      );
    }
  }

  /** Reads a PUT of a file that has arrived already. @throws Refusal 400 when the bytes are others */
  static async compare(known: NonNullable<UploadPart['arrived']>, body: PutBody): Promise<void> {
    const assertSame = (same: boolean): void => {
      if (!same) {
        throw mismatch('The file has been uploaded already, with other bytes: prepare a new upload.');
      }
    };
    assertSame(body.length === undefined || body.length === known.bytes);
    let bytes = 0;
    let crc = 0;
    for await (const data of arriving(body.stream, body.patience)) {
      bytes += data.length;
      assertSame(bytes <= known.bytes);
      crc = crc32c(data, crc);
    }
    assertSame(bytes === known.bytes && crc32cToBase64(crc) === known.crc);
  }

  /** The upload is complete or given up: its bytes are no longer those of an unfinished one. */
  settle(): void {
    this.store.settle();
  }

  /** Ends the PUTs under way. */
  abort(): void {
    for (const chunk of this.chunks) {
      chunk.active?.body.destroy();
    }
  }

  private findRange(index: number): { start: number; length?: number } {
    const size = this.part.announcedBytes;
    if (size === undefined) {
      return { start: 0 };
    }
    const even = Math.floor(size / this.chunks.length);
    const start = index * even;
    return { start, length: index === this.chunks.length - 1 ? size - start : even };
  }

  /** @throws Refusal 400 where a chunk, or the file in one piece, has other bytes than were announced */
  private assertLength(index: number, bytes: number): void {
    const { length } = this.findRange(index);
    if (length !== undefined && bytes !== length) {
      throw mismatch(`${this.name(index)} has ${bytes} bytes; ${length} were announced.`);
    }
  }

  private async write(
    body: PutBody,
    range: { start: number; length?: number },
    keep: boolean,
  ): Promise<{ bytes: number; crc: number }> {
    const handle = keep ? await this.store.open() : undefined;
    let bytes = 0;
    let crc = 0;
    try {
      for await (const data of arriving(body.stream, body.patience)) {
        if (range.length !== undefined && bytes + data.length > range.length) {
          throw mismatch(`More bytes came than the ${range.length} that were announced.`);
        }
        if (bytes + data.length > this.maxBytes) {
          throw tooLarge(this.maxBytes);
        }
        await handle?.write(data, range.start + bytes);
        crc = crc32c(data, crc);
        bytes += data.length;
      }
    } catch (error) {
      throw error instanceof Refusal || isStorageFailure(error)
        ? error
        : mismatch('The upload was cut off before its end.');
    } finally {
      await handle?.close();
    }
    return { bytes, crc };
  }

  private async finish(): Promise<void> {
    const [first, ...rest] = this.chunks.map((chunk) => chunk.done!);
    const whole = rest.reduce(
      (sum, next) => ({ bytes: sum.bytes + next.bytes, crc: combineCrc32c(sum.crc, next.crc, next.bytes) }),
      first!,
    );
    const crc = crc32cToBase64(whole.crc);
    const announced = this.part.announcedHash;
    const found = await this.inAnnouncedForm(announced, crc);
    if (found !== undefined && found !== announced) {
      for (const chunk of this.chunks) {
        delete chunk.done;
      }
      await this.store.remove();
      throw mismatch(
        `The ${isSha256(found) ? 'SHA-256' : 'CRC32C'} of the bytes is ${found}; ${announced} was announced.`,
      );
    }
    if (whole.bytes === 0) {
      for (const chunk of this.chunks) {
        delete chunk.done;
      }
      await this.store.remove();
      throw mismatch('The file is empty: not even a header came.');
    }
    if (this.durable) {
      await this.store.sync();
    }
    this.part.arrived = { bytes: whole.bytes, crc };
  }

  /** The hash of the bytes in the form of the one that was announced, where that form is known. */
  private async inAnnouncedForm(announced: string | undefined, crc: string): Promise<string | undefined> {
    if (announced === undefined || !isSha256(announced)) {
      return announced !== undefined && isCrc32c(announced) ? crc : undefined;
    }
    return normalSha256(await this.store.sha256());
  }

  private name(index: number): string {
    return this.chunks.length === 1 ? 'The file' : `Chunk ${index + 1} of ${this.chunks.length}`;
  }
}

function mismatch(message: string): Refusal {
  return new Refusal({ status: 400, errorCode: 'UPLOAD_MISMATCH', message, retryable: false });
}

function tooLarge(maxBytes: number): Refusal {
  return new Refusal({
    status: 413,
    errorCode: 'PAYLOAD_TOO_LARGE',
    message: `The file is larger than ${maxBytes} bytes, the most that this service takes.`,
  });
}

/** In how many PUTs a file comes. Without a size there is nothing to count them from (S 2.1): in one. */
export function countChunks(
  info: { use_chunks?: boolean; size_bytes?: number | null },
  chunkBytes: number,
  maxChunks: number,
): number {
  if (info.use_chunks !== true || typeof info.size_bytes !== 'number') {
    return 1;
  }
  return Math.max(1, Math.min(maxChunks, Math.ceil(info.size_bytes / chunkBytes)));
}

/** Bytes that are hashed at a time: a millisecond of the thread. */
const DIGEST_BYTES = 512 * 1024;

/** Where the bytes of one file of an upload go. */
interface PartStore {
  /** Opens it for the bytes of one PUT. */
  open(): Promise<PartHandle>;
  /** Gives up what is there. */
  remove(): Promise<void>;
  /** Makes what is there survive a power cut. */
  sync(): Promise<void>;
  /** The SHA-256 of what is there. */
  sha256(): Promise<Uint8Array>;
  /** The upload is complete, or its files are gone: their bytes are counted elsewhere, or not at all. */
  settle(): void;
}

interface PartHandle {
  /** Writes all of the bytes. @throws as the file system does, `ENOSPC` among others; Refusal 503 over the size cap */
  write(data: Uint8Array, position: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * A file on disk.
 *
 * @param file its path, asked for when the first byte comes
 * @param whole a PUT replaces what an earlier one left; else it writes at its own place between the others
 * @param account counts its bytes until it is settled
 */
export function fileStore(file: () => string, whole: boolean, account: DiskAccount): PartStore {
  const { O_CREAT, O_RDWR, O_TRUNC } = constants;
  /** Bytes on disk from each place where a PUT begins. */
  const extents = new Map<number, number>();
  const settle = (): void => {
    for (const bytes of extents.values()) {
      account.give(bytes);
    }
    extents.clear();
  };
  const count = (start: number, end: number): void => {
    const known = extents.get(start) ?? 0;
    if (end - start > known) {
      account.take(end - start - known);
      extents.set(start, end - start);
    }
  };
  return {
    async open() {
      const handle = await open(file(), O_CREAT | O_RDWR | NO_FOLLOW | (whole ? O_TRUNC : 0), 0o600);
      if (whole) {
        settle();
      }
      let start: number | undefined;
      return {
        async write(data, position) {
          start ??= position;
          count(start, position + data.length);
          await writeAll(handle, data, position);
          account.written();
        },
        close: () => handle.close(),
      };
    },
    async remove() {
      await rm(file(), { force: true });
      settle();
    },
    async sync() {
      const handle = await open(file(), 'r+');
      try {
        await handle.sync();
      } finally {
        await handle.close();
      }
    },
    async sha256() {
      const hash = createHash('sha256');
      for await (const data of streamOwnFile(file(), DIGEST_BYTES)) {
        hash.update(data);
      }
      return hash.digest();
    },
    settle,
  };
}

/** A small file in memory: every write wears a memory card. */
export interface MemoryStore extends PartStore {
  /** How many bytes it may hold. */
  readonly size: number;
  /** Its bytes so far. */
  bytes(): Uint8Array;
}

/** @param size how many bytes will come at most */
export function memoryStore(size: number): MemoryStore {
  let content = new Uint8Array(0);
  let end = 0;
  return {
    size,
    open() {
      // What comes from a socket is a piece of a larger buffer, which would be held as a whole.
      content = new Uint8Array(size);
      end = 0;
      return Promise.resolve({
        write(data, position) {
          content.set(data, position);
          end = position + data.length;
          return Promise.resolve();
        },
        close: () => Promise.resolve(),
      });
    },
    remove() {
      content = new Uint8Array(0);
      end = 0;
      return Promise.resolve();
    },
    sync: () => Promise.resolve(),
    sha256: () => Promise.resolve(createHash('sha256').update(content.subarray(0, end)).digest()),
    settle: () => undefined,
    bytes: () => (end === size ? content : content.slice(0, end)),
  };
}

/** Counts the bytes that uploads take on disk before they are complete. */
export class DiskAccount {
  private used = 0;

  /** @param onWritten called when more is used: something else may have to go */
  constructor(
    private readonly bounds: { readonly maxBytes: number },
    private readonly onWritten: () => void,
  ) {}

  get bytes(): number {
    return this.used;
  }

  /** Reserves bytes that are about to be written. @throws Refusal 503 where unfinished uploads alone would take more than there may be */
  take(bytes: number): void {
    const { maxBytes } = this.bounds;
    if (this.used + bytes > maxBytes) {
      throw new Refusal({
        status: 503,
        errorCode: 'STORAGE_FAILED',
        message:
          `Uploads that have not ended take ${this.used} of the ${maxBytes} bytes that this service may use: ` +
          'send this file again once others are complete.',
        retryable: true,
        retryAfter: 5,
      });
    }
    this.used += bytes;
  }

  /** They are on the disk, which had room for them: nothing goes for those that found none. */
  written(): void {
    this.onWritten();
  }

  give(bytes: number): void {
    this.used -= bytes;
  }
}

const OPAQUE = 'opaque:';
const SHA256 = 'sha256:';
/** 128 bits, in hexadecimal or base64. */
const WIDE = /^(?:[0-9a-f]{32,}|[A-Za-z0-9+/_-]{22,}={0,2})$/i;

/**
 * The announced hash of a file (S 2.1) in one form. A CRC32C as base64 of its four bytes, or as eight
 * hexadecimal digits, becomes the former. A SHA-256 as 64 hexadecimal digits is known as one. Anything else is stored as an opaque key: it may find duplicates, but
 * checks no bytes.
 */
export function normalHash(hash: string): string {
  if (isCrc32c(hash)) {
    return hash;
  }
  if (/^[0-9a-f]{8}$/i.test(hash)) {
    return Buffer.from(hash, 'hex').toString('base64');
  }
  return /^[0-9a-f]{64}$/i.test(hash) ? `${SHA256}${hash.toLowerCase()}` : `${OPAQUE}${hash}`;
}

/** Is it a CRC32C as the service writes it: 4 bytes, big-endian, standard base64? */
export function isCrc32c(hash: string): boolean {
  return /^[A-Za-z0-9+/]{5}[AQgw]==$/.test(hash);
}

/** Is a hash in its normal form a SHA-256? */
function isSha256(hash: string): boolean {
  return hash.startsWith(SHA256);
}

/** The normal form of a SHA-256. */
function normalSha256(digest: Uint8Array): string {
  return `${SHA256}${Buffer.from(digest).toString('hex')}`;
}

/** Does a hash in its normal form have 128 bits or more, so that equal ones mean equal files? */
export function isWide(hash: string): boolean {
  return isSha256(hash) || (hash.startsWith(OPAQUE) && WIDE.test(hash.slice(OPAQUE.length)));
}
