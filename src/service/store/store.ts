import { randomBytes } from 'node:crypto';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { ServiceError } from '../../wire/service-error';
import type { ResolvedOptions, Log } from '../options';
import { readJsonFile, writeFileAtomic } from './atomic-file';
import { isModelEntry, isUploadEntry, type ModelEntry, type UploadEntry } from './entries';
import { type FolderLock, lockFolder } from './folder-lock';
import { Shelf, type Shelved } from './shelf';
import { fileName, Uploads } from './uploads';

/** Test sets are small and many; beyond this number the oldest go, whatever their size. */
const MAX_TEST_UPLOADS = 2_000;

export const MODEL_FILE = 'model.bin';

/** All state of a service: a locked folder with uploads, fitted models and the secret that signs URLs. */
export interface Store {
  uploads: Uploads;
  uploadShelf: Shelf<UploadEntry>;
  models: Shelf<ModelEntry>;
  secret: Buffer;
  /** Folder for files that live as long as one request; emptied at every start. */
  temporary: string;
  /** Drops the oldest things until all fits under the size cap. */
  trim(): Promise<void>;
  /** Bytes on disk. */
  bytes(): number;
  close(): Promise<void>;
}

/**
 * Opens the folder, making it where it is missing.
 *
 * @param onLost called when another process took the folder over
 * @throws ServiceError `storage.failed`: not a writable folder, or held by another process
 */
export async function openStore(
  options: Pick<ResolvedOptions, 'dataDir' | 'maxBytes'>,
  maxFileBytes: number,
  log: Log,
  onLost: (reason: string) => void,
): Promise<Store> {
  const { dataDir } = options;
  let lock: FolderLock | undefined;
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    lock = await lockFolder(dataDir, onLost);
    const uploadShelf = new Shelf<UploadEntry>({
      root: path.join(dataDir, 'uploads'),
      index: 'upload.json',
      isEntry: isUploadEntry,
      filesOf: uploadFiles,
      log,
    });
    const models = new Shelf<ModelEntry>({
      root: path.join(dataDir, 'models'),
      index: 'model.json',
      isEntry: isModelEntry,
      filesOf: (entry) => [{ name: MODEL_FILE, bytes: entry.bytes }],
      log,
    });
    const temporary = path.join(dataDir, 'temporary');
    await rm(temporary, { recursive: true, force: true });
    await mkdir(temporary, { mode: 0o700 });
    await uploadShelf.load();
    await models.load();
    const secret = await readSecret(path.join(dataDir, 'secret.json'), log);
    const uploads = new Uploads(uploadShelf, maxFileBytes);
    const held = lock;
    return {
      uploads,
      uploadShelf,
      models,
      secret,
      temporary,
      trim: () => trim(options.maxBytes, uploadShelf, models, log),
      bytes: () => bytesOf(uploadShelf) + bytesOf(models),
      close: () => held.release(),
    };
  } catch (error) {
    await lock?.release();
    if (error instanceof ServiceError) throw error;
    throw new ServiceError(
      'storage.failed',
      `The folder ${dataDir} cannot be used (${(error as Error).message}): choose one that can be written.`,
    );
  }
}

function uploadFiles(entry: UploadEntry): { name: string; bytes: number }[] {
  const files = [{ name: fileName('x', entry.x), bytes: entry.x.arrived?.bytes ?? 0 }];
  if (entry.y !== undefined) files.push({ name: fileName('y', entry.y), bytes: entry.y.arrived?.bytes ?? 0 });
  return files;
}

/** The secret outlives a restart, so that URLs signed before it stay good. */
async function readSecret(file: string, log: Log): Promise<Buffer> {
  try {
    const { secret } = ((await readJsonFile(file)) ?? {}) as { secret?: unknown };
    if (typeof secret === 'string' && secret.length === 64) return Buffer.from(secret, 'hex');
  } catch {
    await rename(file, `${file}.corrupt`);
    log('warn', `${file} cannot be read and was set aside; URLs signed before are void.`);
  }
  const secret = randomBytes(32);
  await writeFileAtomic(file, JSON.stringify({ secret: secret.toString('hex') }), true);
  return secret;
}

function bytesOf(shelf: Shelf<UploadEntry> | Shelf<ModelEntry>): number {
  let total = 0;
  for (const item of shelf.items.values()) total += item.bytes;
  return total;
}

/**
 * Test sets go before train sets and those before models, since each is dearer to bring back than the one
 * before; among equals the one unused for longest goes first. What is being read stays.
 */
async function trim(
  maxBytes: number,
  uploads: Shelf<UploadEntry>,
  models: Shelf<ModelEntry>,
  log: Log,
): Promise<void> {
  let total = bytesOf(uploads) + bytesOf(models);
  const all = [...uploads.items.values()];
  const tests = all.filter((item) => item.entry.set === 'test');
  // Some more at once, so that a stream of small test sets doesn't sort them all each time.
  let surplusTests = tests.length > MAX_TEST_UPLOADS ? tests.length - MAX_TEST_UPLOADS * 0.9 : 0;
  if (surplusTests <= 0 && total <= maxBytes) return;
  const trains = all.filter((item) => item.entry.set === 'train');
  for (const item of [...oldestFirst(tests), ...oldestFirst(trains)]) {
    if (total <= maxBytes && surplusTests <= 0) return;
    surplusTests -= 1;
    total -= item.bytes;
    await uploads.drop(item.entry.id);
  }
  for (const item of oldestFirst([...models.items.values()])) {
    if (total <= maxBytes) return;
    total -= item.bytes;
    log('warn', `Dropped the fitted train set ${item.entry.id} to stay under ${maxBytes} bytes.`);
    await models.drop(item.entry.id);
  }
}

function oldestFirst<E>(items: Shelved<E>[]): Shelved<E>[] {
  return items.filter((item) => item.pins === 0).sort((a, b) => a.lastUsedAt - b.lastUsedAt);
}
