import type { Readable } from 'node:stream';

import { combineCrc32c, crc32c, crc32cToBase64 } from '../../../table/storage/crc32c';
import { isStorageFailure } from '../../../util/files';
import { Refusal } from '../../refusal';
import { arriving, type SenderPatience } from '../../slow-body';
import type { UploadPart } from '../entries/entries';
import { isCrc32c, isSha256, normalSha256 } from './hashes';
import type { PartStore } from './part-store';

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
    const range = this.rangeOf(index);
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

  private rangeOf(index: number): { start: number; length?: number } {
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
    const { length } = this.rangeOf(index);
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
    const found = await this.inFormOf(announced, crc);
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
  private async inFormOf(announced: string | undefined, crc: string): Promise<string | undefined> {
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
