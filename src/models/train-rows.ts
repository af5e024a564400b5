import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { lstat, mkdir, mkdtemp, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

import type { BodyPart } from '../client';
import type { JsonRows } from '../table/encoder/encode';
import { BoundedMap } from '../util/collections';
import {
  assertWithoutLinks,
  isNewer,
  isOwnId,
  makeFolder,
  NewerFile,
  ownPath,
  readJsonFile,
  syncFolder,
  writeFileAtomic,
} from '../util/files';
import { isObject, readReason } from '../util/values';
import { ServiceError } from '../wire/service-error';

/** Most bytes of all train sets of an endpoint; beyond that, the least recently used are removed. */
const MAX_BYTES = 1024 * 1024 * 1024;
/** Leftovers of an interrupted write are removed after this time. */
const STALE_MS = 3_600_000;
/** Descriptions held in memory, and models remembered of one train set. */
const HELD = 200;
const MAX_MODELS = 20;
const DESCRIPTION = 'set.json';
const VERSION = 1;

/** Train rows as they go into a request. */
export interface KeptRows {
  id: string;
  x: BodyPart;
  y: BodyPart;
  /** Feature columns, in the order of a row. */
  names: readonly string[];
  /** Models that the endpoint has kept of these rows, by a key of their configuration. */
  models: Readonly<Record<string, string>>;
}

/** `set.json`. Versions of this package before there was a `version` wrote the same. */
interface Described {
  version: typeof VERSION;
  names: string[];
  bytes: { x: number; y: number };
  models: Record<string, string>;
}

/**
 * The train rows of an endpoint that keeps none itself: a folder for each set, made elsewhere and renamed, so that a
 * set is there whole or not at all. Without a folder of its own they are in a temporary one, until `close`.
 */
export class TrainRows {
  private readonly described = new BoundedMap<string, Described>(HELD);
  private opened: Promise<string> | undefined;

  constructor(
    private readonly folder: string | undefined,
    private readonly maxBytes = MAX_BYTES,
  ) {}

  /** Keeps a train set under its id, a UUID that says what it holds. @throws ServiceError `storage.failed` */
  async put(id: string, x: JsonRows, y: JsonRows): Promise<void> {
    if ((await this.get(id)) !== undefined) {
      return;
    }
    const bytes = { x: x.bytes, y: y.bytes };
    const description: Described = { version: VERSION, names: x.names, bytes, models: {} };
    await storing(async () => {
      const folder = await this.open();
      const place = ownPath(folder, id);
      const temporary = ownPath(folder, id, `.${randomUUID()}.tmp`);
      try {
        await mkdir(temporary, { mode: 0o700 });
        await write(path.join(temporary, 'x.json'), x.open());
        await write(path.join(temporary, 'y.json'), y.open());
        await writeFileAtomic(path.join(temporary, DESCRIPTION), JSON.stringify(description), true);
        await rm(place, { recursive: true, force: true });
        await rename(temporary, place);
        await syncFolder(folder);
      } catch (error) {
        await rm(temporary, { recursive: true, force: true });
        throw error;
      }
      this.described.set(id, description);
      await this.shrink(folder, id);
    });
  }

  /**
   * A train set, which counts as used now; undefined where there is none.
   * @param id of any form: it may come from a message or a file
   * @throws ServiceError `storage.failed`
   */
  async get(id: string): Promise<KeptRows | undefined> {
    if (!isOwnId(id)) {
      return undefined;
    }
    return storing(async () => {
      const folder = ownPath(await this.open(), id);
      const known = (await isWhole(folder))
        ? (this.described.get(id) ?? (await describedIn(folder)))
        : undefined;
      if (known === undefined) {
        this.described.delete(id);
        return undefined;
      }
      const now = new Date();
      await utimes(folder, now, now);
      this.described.set(id, known);
      return {
        id,
        names: known.names,
        models: known.models,
        x: readPart(path.join(folder, 'x.json'), known.bytes.x),
        y: readPart(path.join(folder, 'y.json'), known.bytes.y),
      };
    });
  }

  /** Remembers, or forgets, which model the endpoint has kept of a train set. */
  async setModel(id: string, key: string, modelId: string | undefined): Promise<void> {
    const known = this.described.get(id);
    if (known === undefined || known.models[key] === modelId) {
      return;
    }
    const others = Object.entries(known.models).filter(([other]) => other !== key);
    const kept = others.slice(1 - MAX_MODELS);
    known.models = Object.fromEntries(modelId === undefined ? kept : [...kept, [key, modelId]]);
    // Without it the rows are sent once more: nothing is lost.
    const file = path.join(ownPath(await this.open(), id), DESCRIPTION);
    await writeFileAtomic(file, JSON.stringify(known), false).catch(() => undefined);
  }

  /** Removes a train set. @param id of any form: it may come from a file */
  async remove(id: string): Promise<void> {
    if (isOwnId(id)) {
      this.described.delete(id);
      await rm(ownPath(await this.open(), id), { recursive: true, force: true });
    }
  }

  async close(): Promise<void> {
    if (this.folder === undefined && this.opened !== undefined) {
      await rm(await this.opened, { recursive: true, force: true });
    }
  }

  private open(): Promise<string> {
    this.opened ??= this.makeFolder().catch((error: unknown) => {
      this.opened = undefined;
      throw error;
    });
    return this.opened;
  }

  private async makeFolder(): Promise<string> {
    const { folder } = this;
    if (folder === undefined) {
      return mkdtemp(path.join(tmpdir(), 'tabular-train-rows-'));
    }
    await makeFolder(folder);
    for (const name of await readdir(folder)) {
      const left = path.join(folder, name);
      if (name.endsWith('.tmp') && Date.now() - (await lstat(left)).mtimeMs > STALE_MS) {
        await rm(left, { recursive: true, force: true });
      }
    }
    return folder;
  }

  /** Removes the least recently used sets beyond the bound; never the newest. */
  private async shrink(folder: string, newest: string): Promise<void> {
    const sets: { id: string; bytes: number; used: number }[] = [];
    for (const id of (await readdir(folder)).filter(isOwnId)) {
      const place = ownPath(folder, id);
      const known = (await isWhole(place)) ? await describedIn(place).catch(() => undefined) : undefined;
      if (known !== undefined) {
        const { mtimeMs } = await stat(place);
        sets.push({ id, bytes: known.bytes.x + known.bytes.y, used: id === newest ? Infinity : mtimeMs });
      }
    }
    let total = sets.reduce((sum, { bytes }) => sum + bytes, 0);
    for (const { id, bytes, used } of sets.sort((a, b) => a.used - b.used)) {
      if (total <= this.maxBytes || used === Infinity) {
        return;
      }
      total -= bytes;
      await this.remove(id);
    }
  }
}

/** Whether there is such a folder, without links: one that somebody has put there leads nowhere. */
async function isWhole(folder: string): Promise<boolean> {
  try {
    await assertWithoutLinks(folder);
    return true;
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return false;
    }
    throw error;
  }
}

/** @throws NewerFile, and as the file system does */
async function describedIn(folder: string): Promise<Described | undefined> {
  const value = await readJsonFile(path.join(folder, DESCRIPTION)).catch((error: unknown) => {
    if (error instanceof SyntaxError) {
      return undefined;
    }
    throw error;
  });
  if (isNewer(value, VERSION)) {
    throw new NewerFile(value.version, VERSION);
  }
  const { names, bytes, models } = (isObject(value) ? value : {}) as Partial<Described>;
  return Array.isArray(names) && typeof bytes?.x === 'number' && typeof bytes.y === 'number'
    ? { version: VERSION, names, bytes, models: isObject(models) ? models : {} }
    : undefined;
}

function readPart(file: string, bytes: number): BodyPart {
  return {
    bytes,
    open: (start = 0, end = bytes) =>
      end <= start ? Readable.from([]) : createReadStream(file, { start, end: end - 1 }),
  };
}

function write(file: string, rows: Readable): Promise<void> {
  return pipeline(rows, createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true }));
}

async function storing<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ServiceError
      ? error
      : new ServiceError(
          'storage.failed',
          `The train rows of the endpoint cannot be kept or read on this computer: ${readReason(error)}.`,
        );
  }
}
