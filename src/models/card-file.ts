import { readdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';

import { BoundedMap } from '../util/collections';
import { isNewer, makeFolder, makeFolderSync, NewerFile, writeFileAtomic } from '../util/files';
import { isObject, readReason } from '../util/values';
import type { FittedModel, Publication, ThresholdRule, UploadCard } from './cards';
import { isPublication, type KeptVersion, NamedModels, VersionedModel } from './named-models';

/** Characters that are made and written at a time: what hundreds of wide models fill would hold the event loop. */
const PIECE = 64 * 1024;
/** Models that are remembered until the service has removed them. */
const MAX_FORMER = 500;
const MAX_UPLOADS = 500;
const MAX_PENDING = 100;
const DEBOUNCE_MS = 250;
const STALE_TMP_MS = 60_000;
/** What could not be read or written is tried again after this, and each time later. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 60_000;

/** A fit that goes on in the service: kept, so that it is taken up again after a restart. */
export interface PendingFit {
  /** The card as it will be, without what the service says of the fit. */
  card: FittedModel;
  fingerprint?: string;
  /** The threshold that it is to answer by. */
  threshold?: ThresholdRule;
  /** Its model has since been rolled back, so it does not take charge. */
  late?: true;
}

/** A model that had a name and was dropped: what the service still holds of it. */
export interface FormerModel {
  /** `fitted_train_set_id` and `train_set_upload_id`; the same where it was not fitted yet when it was noted. */
  fitted: string;
  upload: string;
}

/** What is stored for one service. */
export class ServiceSection {
  models = new NamedModels();
  uploads = new BoundedMap<string, UploadCard>(MAX_UPLOADS);
  /** Fits that go on in the service, by the id of the model that comes of them. */
  pending = new BoundedMap<string, PendingFit>(MAX_PENDING);
  /** Dropped models, the newest first, until the service has removed them. */
  former: FormerModel[] = [];
  /** The last publication of all: the next one has a higher number, whatever became of its model. */
  published: Publication | undefined;

  /** @throws Error for what is no section of a file of cards */
  static read(saved: unknown): ServiceSection {
    if (!isObject(saved) || !Array.isArray(saved.models)) {
      throw new Error('it does not hold model cards');
    }
    const section = new ServiceSection();
    for (const record of saved.models as unknown[]) {
      if (isRecord(record)) {
        section.models.set(readModel(record));
        // Of a version of this package that kept the ids alone.
        section.former.push(...readFormer(record.former));
      }
    }
    for (const upload of readList(saved.uploads)) {
      if (isObject(upload) && typeof upload.id === 'string') {
        section.uploads.set(upload.id, upload as unknown as UploadCard);
      }
    }
    for (const fit of readList(saved.pending)) {
      if (isRecord(fit)) {
        section.pending.set(fit.card.fitted_train_set_id, fit);
      }
    }
    section.former.push(...readFormer(saved.former));
    section.published = isPublication(saved.published) ? saved.published : undefined;
    return section;
  }

  /** As JSON, in pieces of one model, upload or fit. */
  *write(): Generator<string> {
    const { models, uploads, pending, former, published } = this;
    yield '{"models":[';
    yield* list(models);
    yield '],"uploads":[';
    yield* list(uploads.values());
    yield '],"pending":[';
    yield* list(pending.values());
    yield '],"former":[';
    yield* list(former);
    yield published === undefined ? ']}' : `],"published":${JSON.stringify(published)}}`;
  }

  /** Adds what a file holds to what came before it was read, which is newer. Models of one name are versions of it. */
  putBefore(saved: ServiceSection): void {
    const own = { models: this.models, uploads: this.uploads, pending: this.pending };
    this.models = saved.models;
    this.uploads = saved.uploads;
    this.pending = saved.pending;
    for (const model of own.models) {
      const before = this.models.get(model.name);
      this.release(this.models.setNewest(before === undefined ? model : model.following(before)));
    }
    for (const [id, upload] of own.uploads) {
      this.uploads.set(id, upload);
    }
    for (const [id, fit] of own.pending) {
      this.pending.set(id, fit);
    }
    this.former.push(...saved.former);
    this.published = saved.published ?? this.published;
  }

  /** Versions have been dropped: the service may remove them. */
  release(gone: readonly KeptVersion[]): void {
    this.addFormer(
      gone.map(({ card }) => ({ fitted: card.fitted_train_set_id, upload: card.train_set_upload_id })),
    );
  }

  /** Notes that models are no longer needed. A model takes the place of its train set, which was noted before its fit. */
  addFormer(gone: readonly FormerModel[]): void {
    const uploads = new Set(gone.map(({ upload }) => upload));
    const others = this.former.filter(({ fitted }) => !uploads.has(fitted));
    this.former = [...gone, ...others].slice(0, MAX_FORMER);
  }

  /**
   * Notes the train sets that a fit had uploaded and no model is of, with what was fitted of them: the process was killed
   * before it had kept the card. Only while no fit is under way.
   */
  noteAbandoned(): void {
    const known = new Set([
      ...this.meant().map((card) => card.train_set_upload_id),
      ...this.former.map(({ upload }) => upload),
    ]);
    for (const { id, by_fit: byFit } of this.uploads.values()) {
      if (byFit === true && !known.has(id)) {
        this.former.push({ fitted: id, upload: id });
      }
    }
  }

  /** Models that any name means, in any version, or that are being fitted. */
  private meant(): FittedModel[] {
    return [
      ...[...this.models].flatMap(({ versions }) => versions.map(({ card }) => card)),
      ...[...this.pending.values()].map(({ card }) => card),
    ];
  }

  meantIds(): Set<string> {
    return new Set(this.meant().map((card) => card.fitted_train_set_id));
  }

  /**
   * Models that no version of any name refers to and nobody uses now. `upload` is left out where the
   * train set stays: other models are of it, or somebody has uploaded it on purpose.
   */
  superfluous(isHeld: (id: string) => boolean): { fitted: string; upload?: string }[] {
    const { uploads, former } = this;
    if (former.length === 0) {
      return [];
    }
    const meant = this.meant();
    const keptModels = new Set(meant.map((card) => card.fitted_train_set_id));
    const keptUploads = new Set(meant.map((card) => card.train_set_upload_id));
    const seen = new Set<string>();
    return former
      .filter(({ fitted }) => seen.size < seen.add(fitted).size)
      .filter(({ fitted }) => !keptModels.has(fitted) && !isHeld(fitted))
      .flatMap(({ fitted, upload }) => {
        const goes = uploads.get(upload)?.by_fit === true && !keptUploads.has(upload) && !isHeld(upload);
        return goes ? [{ fitted, upload }] : fitted === upload ? [] : [{ fitted }];
      });
  }
}

/** The version in charge, as it is written, with the others next to it. */
interface WrittenModel extends KeptVersion {
  others?: unknown;
  former?: unknown;
}

/** A model as the file keeps it. One of a version of this package without versions is the first of its name. */
function readModel({ others, ...written }: WrittenModel): VersionedModel {
  const inCharge: KeptVersion = { ...written, version: written.version ?? 1, why: written.why ?? 'first' };
  Reflect.deleteProperty(inCharge, 'former');
  const { name, columns } = inCharge.card;
  const rest = readList(others).flatMap((one): KeptVersion[] => {
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

function readFormer(value: unknown): FormerModel[] {
  return readList(value).filter(
    (one): one is FormerModel =>
      isObject(one) && typeof one.fitted === 'string' && typeof one.upload === 'string',
  );
}

/** A list as it should be; the file may have been edited by hand. */
function readList(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function* list(items: Iterable<object>): Generator<string> {
  let comma = '';
  for (const item of [...items]) {
    yield comma + JSON.stringify(item);
    comma = ',';
  }
}

/** Of the format of the file. */
const CARDS_VERSION = 1;

/** @throws Error for what is no file of cards */
function readSections(body: unknown): Map<string, ServiceSection> {
  if (!isObject(body) || body.version !== CARDS_VERSION || !isObject(body.services)) {
    throw new Error('it does not hold model cards');
  }
  return new Map(
    Object.entries(body.services).map(([service, saved]) => [service, ServiceSection.read(saved)]),
  );
}

/** The text of the file: {version, services: {key: section}}. */
function* writeSections(services: ReadonlyMap<string, ServiceSection>): Generator<string> {
  yield `{"version":${CARDS_VERSION},"services":{`;
  let comma = '';
  for (const [service, section] of services) {
    yield `${comma}${JSON.stringify(service)}:`;
    yield* section.write();
    comma = ',';
  }
  yield '}}';
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

/** Files open in this process, by absolute path: several config nodes write one file. */
const openFiles = new Map<string, CardFile>();

/**
 * The file that model cards are kept in. It is replaced as a whole (temporary file, fsync, rename, fsync of the
 * folder), so a process killed at any moment leaves the old or the new one. Bursts of changes share a write. A file that
 * cannot be read now (too many open files, a disk in trouble, a newer version of this package) is not replaced before
 * it has been read.
 */
export class CardFile {
  private readonly services = new Map<string, ServiceSection>();
  /** Set while the file is left alone because a newer version of this package wrote it. */
  newer: NewerFile | undefined;
  private holders = 1;
  private readonly listeners = new Set<() => void>();
  private timer: NodeJS.Timeout | undefined;
  private retry: NodeJS.Timeout | undefined;
  private retryMs = RETRY_MS;
  private writing: Promise<void> | undefined;
  private changes = 0;
  private written = 0;
  private warned = false;
  /** What the file holds is not known yet. */
  private unread = false;

  private constructor(
    readonly file: string,
    private readonly warn: (text: string) => void,
  ) {
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

  /** What it holds is known. */
  get isRead(): boolean {
    return !this.unread;
  }

  section(service: string): ServiceSection {
    let section = this.services.get(service);
    if (section === undefined) {
      section = new ServiceSection();
      this.services.set(service, section);
    }
    return section;
  }

  /** Calls back when a file that could not be read at first was: the sections hold its cards then. */
  onRead(listener: () => void): void {
    this.listeners.add(listener);
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
    while (this.written < upTo) {
      this.writing ??= this.write().finally(() => {
        this.writing = undefined;
      });
      await this.writing;
    }
  }

  /** Writes what is not yet written, and closes the file where nobody else has opened it. */
  async release(): Promise<void> {
    if (this.timer !== undefined) {
      clearTimeout(this.timer);
      this.timer = undefined;
    }
    if (this.retry !== undefined) {
      this.changes++;
    }
    await this.flush();
    this.holders--;
    if (this.holders === 0 && openFiles.get(this.file) === this) {
      clearTimeout(this.retry);
      openFiles.delete(this.file);
    }
  }

  private async write(): Promise<void> {
    const upTo = this.changes;
    try {
      if (this.unread) {
        await this.readLate();
      }
      await makeFolder(path.dirname(this.file), 1);
      await writeFileAtomic(this.file, pieces(writeSections(this.services)), true);
      this.warned = false;
      this.retryMs = RETRY_MS;
      clearTimeout(this.retry);
      this.retry = undefined;
    } catch (error) {
      this.fail(error);
    }
    this.written = upTo;
  }

  private load(): void {
    try {
      makeFolderSync(path.dirname(this.file));
      removeStaleTemporaries(this.file);
      this.take(readFileSync(this.file, 'utf8'));
    } catch (error) {
      if (!isMissing(error)) {
        this.unread = true;
        this.fail(error);
      }
    }
  }

  /** Reads the file that could not be read when it was opened; what has come since is newer. */
  private async readLate(): Promise<void> {
    try {
      this.take(await readFile(this.file, 'utf8'));
    } catch (error) {
      if (!isMissing(error)) {
        throw error;
      }
    }
    this.unread = false;
    this.newer = undefined;
    for (const listener of this.listeners) {
      listener();
    }
  }

  /** Cards stay in memory, and are tried to be read and written again later. */
  private fail(error: unknown): void {
    this.newer = error instanceof NewerFile ? error : undefined;
    const what = this.unread ? 'used' : 'written';
    this.warnOnce(
      this.newer === undefined
        ? `Model cards are kept in memory only: ${this.file} cannot be ${what} (${readReason(error)}). It is tried again.`
        : `${this.file} is left alone: ${this.newer.message}. Until then no model can be fitted, found by its name or changed.`,
    );
    clearTimeout(this.retry);
    this.retry = setTimeout(() => {
      this.changes++;
      void this.flush();
    }, this.retryMs).unref();
    this.retryMs = Math.min(2 * this.retryMs, MAX_RETRY_MS);
  }

  /**
   * Puts the cards of the file before those that are there.
   * @throws NewerFile; Error where a damaged file cannot be set aside
   */
  private take(text: string): void {
    let saved: Map<string, ServiceSection>;
    try {
      const body = JSON.parse(text) as unknown;
      if (isNewer(body, CARDS_VERSION)) {
        throw new NewerFile(body.version, CARDS_VERSION);
      }
      saved = readSections(body);
    } catch (error) {
      if (error instanceof NewerFile) {
        throw error;
      }
      this.setAside(readReason(error));
      return;
    }
    for (const [service, section] of saved) {
      const own = this.services.get(service);
      if (own === undefined) {
        if (service === 'embedded') {
          section.noteAbandoned();
        }
        this.services.set(service, section);
      } else {
        own.putBefore(section);
      }
    }
  }

  private setAside(why: string): void {
    const aside = `${this.file}.corrupt-${Date.now()}`;
    renameSync(this.file, aside);
    this.warnOnce(`${this.file} could not be read (${why}): it was set aside as ${aside}.`);
    this.warned = false;
  }

  private warnOnce(text: string): void {
    if (!this.warned) {
      this.warned = true;
      this.warn(text);
    }
  }
}

function isMissing(error: unknown): boolean {
  return (error as NodeJS.ErrnoException).code === 'ENOENT';
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
