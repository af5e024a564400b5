import type { FileInfo, FileUploadInfo } from '../../wire/types';
import { DuplicateUploadError } from '../errors/errors';
import { Call } from '../retry/deadline';
import type { RateGate } from '../retry/rate-gate';
import type { Wiring } from '../retry/request';
import type { CallOptions, UploadSource } from '../types';
import { putFile, UrlRefused } from './put';

export interface PreparedUpload {
  id: string;
  files: { what: string; source: UploadSource; info: FileUploadInfo }[];
}

/** Description of a file for a prepare route. Without a hash it is never taken for a duplicate. */
export function fileInfo(
  source: Omit<UploadSource, 'open'>,
  chunks: boolean | undefined,
  withHash: boolean,
): FileInfo {
  return {
    format: source.format,
    size_bytes: source.bytes,
    ...(withHash && { hash: source.hash }),
    ...(chunks === true && { use_chunks: true }),
  };
}

/**
 * Prepares an upload and sends its files side by side. Where a signed URL is refused, everything is prepared again
 * and sent again, once, by force: else the service may take the first attempt, whose bytes never arrived, for a
 * duplicate. `prepare` answers, or throws DuplicateUploadError, whose id is reused.
 * @throws ServiceError `upload.expired`, or `upload.failed` with the storage's reason, where the new URLs are refused too
 */
export async function sendUpload(
  wiring: Wiring,
  call: Call,
  storage: RateGate,
  prepare: (force: boolean) => Promise<PreparedUpload>,
  onProgress: CallOptions['onProgress'],
): Promise<{ id: string; reused: boolean }> {
  let refused: UrlRefused | undefined;
  for (const force of [false, true]) {
    let prepared: PreparedUpload;
    try {
      prepared = await prepare(force);
    } catch (error) {
      if (error instanceof DuplicateUploadError) {
        return { id: error.uploadId, reused: true };
      }
      throw error;
    }
    refused = await sendAll(wiring, call, storage, prepared, onProgress);
    if (refused === undefined) {
      return { id: prepared.id, reused: false };
    }
    wiring.settings.log('warn', `A signed URL was refused (${refused.status}). Preparing the upload again.`);
  }
  throw refused!.error;
}

/** Sends the files; a failure of one stops the others. Answers with the refusal where a URL was refused. */
async function sendAll(
  wiring: Wiring,
  outer: Call,
  storage: RateGate,
  prepared: PreparedUpload,
  onProgress: CallOptions['onProgress'],
): Promise<UrlRefused | undefined> {
  const urls = prepared.files.flatMap((file) => file.info.signed_urls);
  urls.forEach((url) => wiring.secrets.addUrl(url));
  const total = prepared.files.reduce((sum, file) => sum + file.source.bytes, 0);
  let sent = 0;
  const onBytes = (bytes: number) => {
    sent += bytes;
    if (bytes > 0) {
      onProgress?.(sent, total);
    }
  };
  const stop = new AbortController();
  const alone = urls.length === 1;
  const call = alone ? outer : outer.within(stop.signal);
  let first: unknown;
  await Promise.all(
    prepared.files.map(async (file) => {
      try {
        await putFile(wiring, call, storage, { ...file, onBytes });
      } catch (error) {
        first ??= error;
        stop.abort();
      }
    }),
  );
  if (!alone) {
    call.end();
  }
  urls.forEach((url) => wiring.secrets.forgetUrl(url));
  outer.throwIfOver();
  if (first === undefined) {
    return undefined;
  }
  if (first instanceof UrlRefused) {
    return first;
  }
  throw first as Error;
}
