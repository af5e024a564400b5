import { randomBytes } from 'node:crypto';
import { rename } from 'node:fs/promises';
import path from 'node:path';

import { OUTDATED_FORMATS, READ_FORMATS } from '../../learner/storage/formats';
import {
  cannotWrite,
  isNewer,
  isPassingFailure,
  makeFolder,
  NewerFile,
  readJsonFile,
  writeFileAtomic,
} from '../../util/files';
import { FolderInUse, type FolderLock, lockFolder } from '../../util/folder-lock';
import { isObject } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import type { Log, ResolvedOptions } from '../options';
import { fileName, isModelEntry, isUploadEntry, type ModelEntry, type UploadEntry } from './entries';
import { EntryStore } from './entry-store';
import { FitRecords } from './fit-records';
import { DiskAccount } from './parts';
import { type Bounds, boundsOfDisk, Retention } from './retention';
import { Uploads } from './uploads';

export const MODEL_FILE = 'model.bin';
const SECRET_BYTES = 32;
/** The file of the secret names no version yet: this is what it would name. */
const SECRET_VERSION = 1;

/** All state of a service: a locked folder with uploads, fitted models and the secret that signs URLs. */
export interface Store {
  uploads: Uploads;
  uploadEntries: EntryStore<UploadEntry>;
  models: EntryStore<ModelEntry>;
  /** Fits that were promised and have not ended, and those of them that failed. */
  fitRecords: FitRecords;
  secret: Buffer;
  /** The size cap: as given, or by the free disk at the start. */
  maxBytes: number;
  /** Drops what is beyond the bounds of size, number and age. */
  trim(): Promise<void>;
  /** Tries again what could not be read. */
  reload(): Promise<void>;
  /** Bytes on disk, those of unfinished uploads included. */
  bytes(): number;
  close(): Promise<void>;
}

/**
 * Opens the folder, and makes it where it is missing and `makeFolder` allows it.
 *
 * @param maxFileBytes how large a file may be under a size cap
 * @param onLost called when another process took the folder over
 * @throws ServiceError `storage.failed`: not a writable folder, or held by another process
 */
export async function openStore(
  options: Pick<ResolvedOptions, 'dataDir' | 'makeFolder' | 'maxBytes' | 'processToken'>,
  maxFileBytes: (maxBytes: number) => number,
  log: Log,
  onLost: (reason: string) => void,
): Promise<Store> {
  const { dataDir } = options;
  let lock: FolderLock | undefined;
  try {
    if (options.makeFolder) {
      await makeFolder(dataDir);
    }
    lock = await lockFolder(dataDir, { token: options.processToken, onLost });
    if (!lock.isWritten) {
      log(
        'warn',
        `Nothing can be written in ${dataDir}: models that are there predict, the rest waits for room.`,
      );
    }
    const uploadEntries = new EntryStore<UploadEntry>({
      what: 'upload',
      root: path.join(dataDir, 'uploads'),
      index: 'upload.json',
      isEntry: isUploadEntry,
      filesOf: uploadFiles,
      log,
    });
    const models = new EntryStore<ModelEntry>({
      what: 'fitted train set',
      root: path.join(dataDir, 'models'),
      index: 'model.json',
      isEntry: isModelEntry,
      filesOf: (entry) => [{ name: MODEL_FILE, bytes: entry.bytes }],
      // The same request must fit again instead of finding it.
      isOutdated: ({ format }) => format === undefined || OUTDATED_FORMATS.includes(format),
      newerFormat,
      log,
    });
    await uploadEntries.load();
    await models.load();
    const fitRecords = new FitRecords(path.join(dataDir, 'fits'), log);
    await fitRecords.load();
    const secret = await readSecret(path.join(dataDir, 'secret.json'), log);
    const bounds: Bounds =
      options.maxBytes === undefined
        ? await boundsOfDisk(dataDir, () => uploadEntries.bytes + models.bytes)
        : { maxBytes: options.maxBytes };
    const { maxBytes } = bounds;
    for (const { request } of fitRecords.pending()) {
      // It is wanted in a moment, so it must not be the one that goes.
      const id = request.train_set_upload_id.toLowerCase();
      if (uploadEntries.items.has(id)) {
        uploadEntries.use(id);
      }
    }
    const retention = new Retention(bounds, { uploads: uploadEntries, models }, log, () => uploads);
    const trimSoon = (): void => void retention.trim().catch(() => undefined);
    const uploads = new Uploads(uploadEntries, maxFileBytes(maxBytes), new DiskAccount(bounds, trimSoon));
    await retention.trim();
    const held = lock;
    return {
      uploads,
      uploadEntries,
      models,
      fitRecords,
      secret,
      maxBytes,
      trim: () => retention.trim(),
      reload: async () => {
        await uploadEntries.reload();
        await models.reload();
      },
      bytes: () => uploadEntries.bytes + models.bytes + uploads.unfinishedBytes,
      close: () => held.release(),
    };
  } catch (error) {
    await lock?.release();
    if (error instanceof ServiceError) {
      throw error;
    }
    if (error instanceof FolderInUse) {
      throw new ServiceError(
        'storage.failed',
        `The folder ${dataDir} is in use by another tabular-service (${error.who}): give each its own folder, or stop the other one.`,
      );
    }
    throw unusableFolder(dataDir, error);
  }
}

/** Of an entry whose model this version of the package does not read, and no older one wrote. */
function newerFormat(value: unknown): NewerFile | undefined {
  const format = isObject(value) ? value.format : undefined;
  return typeof format === 'string' && ![...OUTDATED_FORMATS, ...READ_FORMATS].includes(format)
    ? new NewerFile(format.slice(0, 20), READ_FORMATS.join(', '))
    : undefined;
}

function uploadFiles(entry: UploadEntry): { name: string; bytes: number }[] {
  const files = [{ name: fileName('x', entry.x), bytes: entry.x.arrived?.bytes ?? 0 }];
  if (entry.y !== undefined) {
    files.push({ name: fileName('y', entry.y), bytes: entry.y.arrived?.bytes ?? 0 });
  }
  return files;
}

/**
 * The secret outlives a restart, so that URLs signed before it stay good. A file that holds none is set aside; one of a
 * newer version of this package is left alone.
 */
async function readSecret(file: string, log: Log): Promise<Buffer> {
  const known = await readJsonFile(file).catch((error: unknown) => {
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ELOOP') {
      return null;
    }
    throw error;
  });
  if (isSecret(known)) {
    return Buffer.from(known.secret, 'hex');
  }
  if (isNewer(known, SECRET_VERSION)) {
    const { message } = new NewerFile(known.version, SECRET_VERSION);
    log('warn', `${file} is left alone: ${message}. Signed URLs are good until the service ends.`);
    return randomBytes(SECRET_BYTES);
  }
  const secret = randomBytes(SECRET_BYTES);
  try {
    if (known !== undefined) {
      const aside = `${file}.${randomBytes(4).toString('hex')}.corrupt`;
      await rename(file, aside);
      log('warn', `${file} holds no secret and was set aside as ${aside}; URLs signed before are void.`);
    }
    await writeFileAtomic(file, JSON.stringify({ secret: secret.toString('hex') }), true);
  } catch (error) {
    if (!cannotWrite(error)) {
      throw error;
    }
    log('warn', `${file} cannot be written now. Signed URLs are good until the service ends.`);
  }
  return secret;
}

function isSecret(value: unknown): value is { secret: string } {
  const { secret } = (value ?? {}) as { secret?: unknown };
  return typeof secret === 'string' && /^[0-9a-f]{64}$/.test(secret);
}

/** `storage.failed`: the service's folder cannot be used, and what to do about it. */
export function unusableFolder(folder: string, error: unknown): ServiceError {
  const { code, message } = error as NodeJS.ErrnoException;
  const full = code === 'ENOSPC' || code === 'EDQUOT';
  const advice = full
    ? 'make room on its disk, or choose one on another'
    : isPassingFailure(error)
      ? 'try again in a moment'
      : 'choose one that can be written';
  return new ServiceError('storage.failed', `The folder ${folder} cannot be used (${message}): ${advice}.`);
}
