import { createHash } from 'node:crypto';
import { lstat, open, readdir, rm, stat } from 'node:fs/promises';
import path from 'node:path';

import { BoundedMap } from '../../util/collections';
import { Serial } from '../../util/concurrency';
import { isNewer, makeFolder, readOwnFile, writeFileAtomic } from '../../util/files';
import { isObject, tryParseJson } from '../../util/json';
import { readReference } from './read-reference';
import type { Reference } from './types';

/** References held in memory: those in use, and all that there are where nothing can be written. */
const HELD = 16;
/** Characters of a file: beyond them every second row goes, and at last all that is not the curves. */
const MAX_SIZE = 2 * 1024 * 1024;
/** What an interrupted write left behind is removed after this. */
const STALE_MS = 3_600_000;
/** What no card means is removed after this: a card may still come, or a file of cards be put back. */
const ORPHAN_MS = 7 * 86_400_000;
/** The service that a file is of stands in its first bytes. */
const HEAD_BYTES = 4096;
const VERSION = 1;
const HEAD = /^\{"version":1,"service":("(?:[^"\\]|\\.)*"),"model":"/;
/** What an interrupted write leaves. */
const LEFT = /^[0-9a-f]{32}\.json\.[\w-]+\.tmp$/;
/** Folders that are made when they are gone: its own, and that of the cards. */
const LEVELS = 2;

/**
 * What is kept of train sets, a JSON file for each fitted model of one service. A file that is missing, damaged, of
 * another model, a link or of a newer version of this package is "not known", and one that cannot be written is held in
 * memory: neither is ever an error. A file of a newer version is not overwritten.
 */
export class ReferenceFiles {
  private readonly held = new BoundedMap<string, Reference>(HELD);
  private readonly steps = new Serial();
  private swept = false;

  /**
   * @param folder left out: memory only
   * @param meant ids of the models that there are cards of; undefined while that is not known
   */
  constructor(
    private readonly folder: string | undefined,
    private readonly service: string,
    private readonly meant: () => ReadonlySet<string> | undefined = () => undefined,
  ) {}

  async get(fittedId: string): Promise<Reference | undefined> {
    const held = this.held.get(fittedId);
    if (held !== undefined || this.folder === undefined) {
      return held;
    }
    return this.steps.run(async () => {
      const read = this.held.get(fittedId) ?? (await this.read(fittedId));
      if (read !== undefined) {
        this.held.set(fittedId, read);
      }
      return read;
    });
  }

  /** Resolves when it is on disk, or cannot be written. */
  put(fittedId: string, reference: Reference): Promise<void> {
    return this.steps.run(async () => {
      const fitting = withinSize(reference);
      this.held.set(fittedId, fitting.reference);
      if (this.folder === undefined) {
        return;
      }
      const { service } = this;
      const text = `{"version":1,"service":${JSON.stringify(service)},"model":${JSON.stringify(fittedId)},"reference":${fitting.text}}`;
      try {
        await makeFolder(this.folder, LEVELS);
        // Another process or node may remove a file before it is read.
        await this.sweep(this.folder).catch(() => undefined);
        const file = this.fileOf(this.folder, fittedId);
        if (!isNewer(await bodyOf(file), VERSION)) {
          await writeFileAtomic(file, text, true);
        }
      } catch {
        // The model works without it; the cards have warned of a folder that cannot be written.
      }
    });
  }

  /** The model is gone. @param first what has to be done before */
  remove(fittedId: string, first?: () => Promise<void> | undefined): Promise<void> {
    return this.steps.run(async () => {
      await first?.();
      this.held.delete(fittedId);
      if (this.folder !== undefined) {
        await rm(this.fileOf(this.folder, fittedId), { force: true }).catch(() => undefined);
      }
    });
  }

  /** Resolves when everything asked for so far is done. */
  idle(): Promise<void> {
    return this.steps.idle();
  }

  private async read(fittedId: string): Promise<Reference | undefined> {
    const body = await bodyOf(this.fileOf(this.folder!, fittedId));
    const isOwn =
      isObject(body) && !isNewer(body, VERSION) && body.service === this.service && body.model === fittedId;
    return isOwn ? readReference(body.reference) : undefined;
  }

  /** Ids of hosted services may hold any character, so a file is named by their hash. */
  private fileOf(folder: string, fittedId: string): string {
    const name = createHash('sha256')
      .update(JSON.stringify([this.service, fittedId]))
      .digest('hex');
    return path.join(folder, `${name.slice(0, 32)}.json`);
  }

  private async sweep(folder: string): Promise<void> {
    if (this.swept) {
      return;
    }
    this.swept = true;
    const ids = this.meant();
    const kept = ids && new Set(Array.from(ids, (id) => this.fileOf(folder, id)));
    for (const name of await readdir(folder)) {
      const file = path.join(folder, name);
      const isOlder = async (ms: number): Promise<boolean> => Date.now() - (await lstat(file)).mtimeMs > ms;
      const isLeft = LEFT.test(name) && (await isOlder(STALE_MS));
      const isUnknown = name.endsWith('.json') && kept?.has(file) === false;
      if (isLeft || (isUnknown && (await isOlder(ORPHAN_MS)) && (await this.isOwn(file)))) {
        await rm(file, { force: true });
      }
    }
  }

  /** The file is of this service: others have theirs in the same folder. */
  private async isOwn(file: string): Promise<boolean> {
    const handle = await open(file, 'r');
    try {
      const { buffer, bytesRead } = await handle.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
      const [, service] = HEAD.exec(buffer.toString('utf8', 0, bytesRead)) ?? [];
      return service !== undefined && tryParseJson(service) === this.service;
    } finally {
      await handle.close();
    }
  }
}

/** What a file holds; undefined where it is missing, much too large, or cannot be read. */
async function bodyOf(file: string): Promise<unknown> {
  try {
    const { size } = await stat(file);
    return size > 2 * MAX_SIZE ? undefined : tryParseJson((await readOwnFile(file)).toString('utf8'));
  } catch {
    return undefined;
  }
}

/** With as many of its rows as there is room for. */
function withinSize(given: Reference): { reference: Reference; text: string } {
  let reference = given;
  let text = JSON.stringify(reference);
  while (text.length > MAX_SIZE && reference.rows.length > 0) {
    reference = { ...reference, rows: reference.rows.filter((_, at) => at % 2 === 1) };
    text = JSON.stringify(reference);
  }
  if (text.length > MAX_SIZE) {
    const { target, curves, seen } = given;
    reference = { columns: [], rows: [], usual: [], drift: [], target, curves, seen };
    text = JSON.stringify(reference);
  }
  return { reference, text };
}
