import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { mkdir, open, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';

import { syncFolder } from '../../util/atomic-file';
import { isObject } from '../../util/json';
import { reasonOf } from '../../util/reason';
import type { FittedModel, UploadCard } from '../types';
import { type FormerModel, type KeptVersion, VersionedModel } from './versioned-model';

/** A fit that goes on in the service: kept, so that it is taken up again after a restart. */
export interface PendingFit {
  /** The card as it will be, without what the service says of the fit. */
  card: FittedModel;
  fingerprint?: string;
  /** Its model was rolled back meanwhile, so that it does not take charge. */
  late?: true;
}

/** What is kept of one service. */
export interface ServiceSection {
  models: Map<string, VersionedModel>;
  uploads: Map<string, UploadCard>;
  /** Fits that go on in the service, by the id of the model that comes of them. */
  pending: Map<string, PendingFit>;
  /** Models that are not kept any more, the newest first, until the service has removed them. */
  former: FormerModel[];
}

const DEBOUNCE_MS = 250;
/** Characters that are made and written at a time: what hundreds of wide models fill would hold the event loop. */
const PIECE = 64 * 1024;
const STALE_TMP_MS = 60_000;

/** Files open in this process, by absolute path: several config nodes write one file. */
const openFiles = new Map<string, CardFile>();

/**
 * The file that model cards are kept in. It is replaced as a whole (temporary file, fsync, rename, fsync of the
 * folder), so a process killed at any moment leaves the old or the new one. Bursts of changes share a write.
 */
export class CardFile {
  readonly services = new Map<string, ServiceSection>();
  private holders = 1;
  private timer: NodeJS.Timeout | undefined;
  private writing: Promise<void> | undefined;
  private changes = 0;
  private written = 0;
  private warned = false;
  private readOnly = false;
  private warn: (text: string) => void;

  private constructor(
    private readonly file: string,
    warn: (text: string) => void,
  ) {
    this.warn = warn;
    this.load();
  }

  /** The open file of that path, or a newly read one. Each `open` needs its `release`. */
  static open(file: string, warn: (text: string) => void): CardFile {
    const key = path.resolve(file);
    const known = openFiles.get(key);
    if (known !== undefined) {
      known.holders++;
      return known;
    }
    const opened = new CardFile(key, warn);
    openFiles.set(key, opened);
    return opened;
  }

  section(service: string): ServiceSection {
    let section = this.services.get(service);
    if (section === undefined) {
      section = newSection();
      this.services.set(service, section);
    }
    return section;
  }

  /** Notes a change: it is written a moment later, together with others. */
  changed(): void {
    this.changes++;
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.flush();
    }, DEBOUNCE_MS).unref();
  }

  /** Resolves when every change noted so far is on disk, or could not be written (then one warning was given). */
  async flush(): Promise<void> {
    const upTo = this.changes;
    while (this.written < upTo && !this.readOnly) {
      this.writing ??= this.write().finally(() => {
        this.writing = undefined;
      });
      await this.writing;
    }
  }

  async release(): Promise<void> {
    if (this.timer !== undefined) {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
    await this.flush();
    this.holders--;
    if (this.holders === 0 && openFiles.get(this.file) === this) {
      openFiles.delete(this.file);
    }
  }

  private async write(): Promise<void> {
    const upTo = this.changes;
    const folder = path.dirname(this.file);
    const temporary = `${this.file}.${process.pid}.tmp`;
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const handle = await open(temporary, 'w', 0o600);
      try {
        await writeFile(handle, pieces(fileText(this.services)));
        await handle.sync();
      } finally {
        await handle.close();
      }
      await rename(temporary, this.file);
      // Makes the rename itself durable; some file systems refuse to sync a folder, which changes nothing else.
      await syncFolder(folder).catch(() => undefined);
      this.warned = false;
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      this.warnOnce(
        `Model cards are kept in memory only: ${this.file} cannot be written (${reasonOf(error)}).`,
      );
    }
    this.written = upTo;
  }

  private load(): void {
    let text: string;
    try {
      mkdirSync(path.dirname(this.file), { recursive: true, mode: 0o700 });
      removeStaleTemporaries(this.file);
      text = readFileSync(this.file, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        this.readOnly = true;
        this.warnOnce(
          `Model cards are kept in memory only: ${this.file} cannot be used (${reasonOf(error)}).`,
        );
      }
      return;
    }
    try {
      this.take(JSON.parse(text) as unknown);
    } catch (error) {
      this.services.clear();
      this.setAside(reasonOf(error));
    }
  }

  private take(body: unknown): void {
    if (!isObject(body) || body.version !== 1 || !isObject(body.services)) {
      throw new Error('it does not hold model cards');
    }
    for (const [service, saved] of Object.entries(body.services)) {
      const section = this.section(service);
      if (!isObject(saved) || !Array.isArray(saved.models)) {
        throw new Error('it does not hold model cards');
      }
      for (const record of saved.models as unknown[]) {
        if (isRecord(record)) {
          section.models.set(record.card.name, modelOf(record));
          // Of a version of this package that kept the ids alone.
          section.former.push(...formerOf(record.former));
        }
      }
      for (const upload of Array.isArray(saved.uploads) ? (saved.uploads as unknown[]) : []) {
        if (isObject(upload) && typeof upload.id === 'string') {
          section.uploads.set(upload.id, upload as unknown as UploadCard);
        }
      }
      for (const fit of Array.isArray(saved.pending) ? (saved.pending as unknown[]) : []) {
        if (isRecord(fit)) {
          section.pending.set(fit.card.fitted_train_set_id, fit);
        }
      }
      section.former.push(...formerOf(saved.former));
    }
  }

  private setAside(why: string): void {
    const aside = `${this.file}.corrupt-${Date.now()}`;
    try {
      renameSync(this.file, aside);
      this.warnOnce(`${this.file} could not be read (${why}): it was set aside as ${aside}.`);
      this.warned = false;
    } catch {
      this.readOnly = true;
      this.warnOnce(`Model cards are kept in memory only: ${this.file} could not be read (${why}).`);
    }
  }

  private warnOnce(text: string): void {
    if (!this.warned) {
      this.warned = true;
      this.warn(text);
    }
  }
}

export function newSection(): ServiceSection {
  return { models: new Map(), uploads: new Map(), pending: new Map(), former: [] };
}

/** The text of the file: {version, services: {key: {models, uploads, pending, former}}}, record by record. */
function* fileText(services: ReadonlyMap<string, ServiceSection>): Generator<string> {
  yield '{"version":1,"services":{';
  let comma = '';
  for (const [service, { models, uploads, pending, former }] of services) {
    yield `${comma}${JSON.stringify(service)}:{"models":[`;
    yield* list(models.values());
    yield '],"uploads":[';
    yield* list(uploads.values());
    yield '],"pending":[';
    yield* list(pending.values());
    yield '],"former":[';
    yield* list(former);
    yield ']}';
    comma = ',';
  }
  yield '}}';
}

function* list(items: Iterable<object>): Generator<string> {
  let comma = '';
  for (const item of [...items]) {
    yield comma + JSON.stringify(item);
    comma = ',';
  }
}

function* pieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length >= PIECE) {
      yield piece;
      piece = '';
    }
  }
  yield piece;
}

function removeStaleTemporaries(file: string): void {
  const folder = path.dirname(file);
  const start = `${path.basename(file)}.`;
  for (const name of readdirSync(folder)) {
    const full = path.join(folder, name);
    if (
      name.startsWith(start) &&
      name.endsWith('.tmp') &&
      Date.now() - statSync(full).mtimeMs > STALE_TMP_MS
    ) {
      rmSync(full, { force: true });
    }
  }
}

/** The version in charge, as it is written, and beside it the others. */
interface WrittenModel extends KeptVersion {
  others?: unknown;
  former?: unknown;
}

/** A model as the file keeps it. One of a version of this package without versions is the first of its name. */
function modelOf({ others, ...written }: WrittenModel): VersionedModel {
  const inCharge: KeptVersion = { ...written, version: written.version ?? 1, why: written.why ?? 'first' };
  Reflect.deleteProperty(inCharge, 'former');
  const { name, columns } = inCharge.card;
  const rest = (Array.isArray(others) ? (others as unknown[]) : []).flatMap((one): KeptVersion[] => {
    const whole = isObject(one) && isObject(one.card) && { ...one, card: { columns, ...one.card, name } };
    return isRecord(whole) && whole.version > 0 ? [whole] : [];
  });
  return VersionedModel.of(inCharge, rest);
}

function isRecord(value: unknown): value is WrittenModel {
  return (
    isObject(value) &&
    isObject(value.card) &&
    typeof value.card.name === 'string' &&
    typeof value.card.fitted_train_set_id === 'string' &&
    Array.isArray(value.card.columns)
  );
}

/** The list as it should be; a card file may have been edited by hand. */
function formerOf(value: unknown): FormerModel[] {
  return Array.isArray(value)
    ? value.filter(
        (one): one is FormerModel =>
          isObject(one) && typeof one.fitted === 'string' && typeof one.upload === 'string',
      )
    : [];
}
