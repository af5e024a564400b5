import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { cloneJson } from '../../util/json';
import { ReferenceFiles } from '../reference/reference-files';
import type { Reference } from '../reference/types';
import type { ModelCard, UploadCard } from '../types';
import { CardFile, type CardRecord, type PendingFit, type ServiceSection } from './card-file';
import { FitsUnderWay, type FitUnderWay } from './fits-under-way';
import { formerAfter, KEPT_VERSIONS, superfluous, unmeant } from './former-models';

export interface ModelCardsOptions {
  /** The file the cards of every service are kept in; left out: memory only. */
  path?: string;
  /** Key of the service: base URL and API name, or `embedded`. */
  service: string;
  onWarning?: (text: string) => void;
}

/** The folder beside the file of the cards with what is kept of their train sets. */
const REFERENCES = 'references';

const MAX_MODELS = 2000;
const MAX_UPLOADS = 500;
const MAX_PENDING = 100;
/** A dead model is asked for again after this, since a 404 may have come from something on the way. */
const DEAD_MS = 60_000;

/** What the cards objects of one path and service share. */
interface Shared {
  section: ServiceSection;
  byId: Map<string, CardRecord>;
  fits: FitsUnderWay;
  /** How many use a model or a train set now, by its id. */
  held: Map<string, number>;
  references: ReferenceFiles;
}

const sharedByFile = new WeakMap<CardFile, Map<string, Shared>>();

/** The model cards of one service. Cards objects of one path and service share what they know. */
export class ModelCards {
  readonly service: string;
  private readonly file: CardFile | undefined;
  private readonly shared: Shared;
  private closed = false;

  constructor(options: ModelCardsOptions) {
    this.service = options.service;
    if (options.path === undefined) {
      const section = { models: new Map(), uploads: new Map(), pending: new Map() };
      this.shared = newShared(section, new ReferenceFiles(undefined, options.service));
      return;
    }
    this.file = CardFile.open(options.path, options.onWarning ?? (() => undefined));
    let services = sharedByFile.get(this.file);
    if (services === undefined) {
      services = new Map();
      sharedByFile.set(this.file, services);
    }
    let shared = services.get(options.service);
    if (shared === undefined) {
      const folder = path.join(path.dirname(options.path), REFERENCES);
      shared = newShared(this.file.section(options.service), new ReferenceFiles(folder, options.service));
      services.set(options.service, shared);
    }
    this.shared = shared;
  }

  /** All cards, the newest first; `dead` marks those that the service does not have any more. */
  list(): (ModelCard & { dead?: true })[] {
    return [...this.shared.section.models.values()]
      .map((record) => (record.deadAt === undefined ? record.card : { ...record.card, dead: true as const }))
      .reverse();
  }

  /** The card under a name, unless it was found dead a moment ago. */
  get(name: string): ModelCard | undefined {
    return living(this.shared.section.models.get(name));
  }

  byFittedId(id: string): ModelCard | undefined {
    return this.shared.byId.get(id)?.card;
  }

  /** A living card fitted from the same train set with the same options. */
  byFingerprint(fingerprint: string, preferName: string): ModelCard | undefined {
    let found: ModelCard | undefined;
    for (const record of this.shared.section.models.values()) {
      if (record.fingerprint === fingerprint && record.deadAt === undefined) {
        found = record.card;
        if (found.name === preferName) {
          break;
        }
      }
    }
    return found;
  }

  /** Whether there is a card under the name at all, dead or alive. */
  has(name: string): boolean {
    return this.shared.section.models.has(name);
  }

  /** Keeps a copy: what a flow does to its card changes nothing here. A card that is there already is not written again. */
  put(card: ModelCard, fingerprint?: string): void {
    const { models } = this.shared.section;
    const record: CardRecord = { card: cloneJson(card) };
    if (fingerprint !== undefined) {
      record.fingerprint = fingerprint;
    }
    const before = models.get(card.name);
    if (before !== undefined) {
      const former = formerAfter(before, card.fitted_train_set_id);
      if (former.length > 0) {
        record.former = former;
      }
      models.delete(card.name);
      if (isDeepStrictEqual(before, record)) {
        models.set(card.name, before);
        return;
      }
      this.forget(before);
    }
    models.set(card.name, record);
    this.shared.byId.set(card.fitted_train_set_id, record);
    const gone = (record.former ?? []).slice(KEPT_VERSIONS - 1).map(({ fitted }) => fitted);
    dropOldest(models, MAX_MODELS, (old) => {
      this.forget(old);
      gone.push(old.card.fitted_train_set_id, ...(old.former ?? []).map(({ fitted }) => fitted));
    });
    this.dropReferences(gone);
    this.file?.changed();
    this.shared.fits.arrived(card.name);
  }

  /** What is kept of a model's train set; undefined where that is not known. */
  reference(fittedTrainSetId: string): Promise<Reference | undefined> {
    return this.shared.references.get(fittedTrainSetId);
  }

  /** Keeps it until no name means the model any more. Resolves when it is on disk, or cannot be written. */
  putReference(fittedTrainSetId: string, reference: Reference): Promise<void> {
    return this.shared.references.put(fittedTrainSetId, reference);
  }

  /** Resolves when a card is put under the name, or the signal is aborted. */
  arrival(name: string, signal: AbortSignal): Promise<void> {
    return this.shared.fits.arrival(name, signal);
  }

  /** The service answered 404 for the id. */
  markDead(fittedTrainSetId: string): void {
    this.setDead(fittedTrainSetId, Date.now());
  }

  /** The service answered for an id that was marked dead. */
  markAlive(fittedTrainSetId: string): void {
    if (this.shared.byId.get(fittedTrainSetId)?.deadAt !== undefined) {
      this.setDead(fittedTrainSetId, undefined);
    }
  }

  /** Notes that a model, or a train set, is in use until the answer is called: it is not removed from the service. */
  hold(id: string): () => void {
    const { held } = this.shared;
    held.set(id, (held.get(id) ?? 0) + 1);
    return () => {
      const left = held.get(id)! - 1;
      if (left > 0) {
        held.set(id, left);
      } else {
        held.delete(id);
      }
    };
  }

  isHeld(id: string): boolean {
    return this.shared.held.has(id);
  }

  /** Models that were replaced, of all names, and may be removed from the service: see `superfluous`. */
  superfluous(): { fitted: string; upload?: string }[] {
    return superfluous(this.shared.section, (id) => this.isHeld(id));
  }

  /** The service does not have a former model any more. */
  forgetFormer(fittedTrainSetId: string): void {
    for (const record of this.shared.section.models.values()) {
      if (record.former !== undefined) {
        record.former = record.former.filter(({ fitted }) => fitted !== fittedTrainSetId);
      }
    }
    this.dropReferences([fittedTrainSetId]);
    this.file?.changed();
  }

  putUpload(upload: UploadCard): void {
    const { uploads } = this.shared.section;
    uploads.delete(upload.id);
    uploads.set(upload.id, cloneJson(upload));
    dropOldest(uploads, MAX_UPLOADS);
    this.file?.changed();
  }

  /** Keeps a fit that goes on in the service, until `removePending`. */
  putPending(fit: PendingFit): void {
    const { pending } = this.shared.section;
    pending.set(fit.card.fitted_train_set_id, cloneJson(fit));
    dropOldest(pending, MAX_PENDING);
    this.file?.changed();
  }

  /** The service is done with the fit, or does not know it. */
  removePending(fittedTrainSetId: string): void {
    if (this.shared.section.pending.delete(fittedTrainSetId)) {
      this.file?.changed();
    }
  }

  /** Fits that were not done when they were last heard of. */
  pending(): PendingFit[] {
    return [...this.shared.section.pending.values()];
  }

  upload(id: string): UploadCard | undefined {
    return this.shared.section.uploads.get(id);
  }

  /** The newest train set with this target that was uploaded from here. */
  newestTrainSet(target: string): UploadCard | undefined {
    return [...this.shared.section.uploads.values()].findLast(
      (card) => card.set === 'train' && card.target === target,
    );
  }

  /** Announces a fit. Until it ends, `fitEnd(name)` is there to wait for. */
  beginFit(name: string): FitUnderWay {
    return this.shared.fits.begin(name, (card, fingerprint) => this.put(card, fingerprint));
  }

  /** Resolves when a fit of that model ends, whether it succeeds or fails; undefined when none is under way. */
  fitEnd(name: string): Promise<void> | undefined {
    return this.shared.fits.end(name);
  }

  /** Why the last fit under that name failed. */
  fitError(name: string): Error | undefined {
    return this.shared.fits.error(name);
  }

  /** Resolves when what was put is on disk. */
  async flush(): Promise<void> {
    await Promise.all([this.file?.flush(), this.shared.references.idle()]);
  }

  /** Writes what is not yet written and lets go of the file. */
  async close(): Promise<void> {
    if (this.closed) {
      return;
    }
    this.closed = true;
    await Promise.all([this.file?.release(), this.shared.references.idle()]);
  }

  /** Removes what is kept of train sets of those models that no name means any more. */
  private dropReferences(ids: readonly string[]): void {
    for (const id of unmeant(this.shared.section, ids)) {
      // It never fails, and `flush` waits for it.
      void this.shared.references.remove(id);
    }
  }

  private setDead(id: string, deadAt: number | undefined): void {
    for (const record of this.shared.section.models.values()) {
      if (record.card.fitted_train_set_id === id) {
        record.deadAt = deadAt;
        this.file?.changed();
      }
    }
  }

  /** Takes a replaced record out of the index by id, unless another name still means the same model. */
  private forget(record: CardRecord): void {
    const id = record.card.fitted_train_set_id;
    if (this.shared.byId.get(id) !== record) {
      return;
    }
    this.shared.byId.delete(id);
    for (const other of this.shared.section.models.values()) {
      if (other.card.fitted_train_set_id === id) {
        this.shared.byId.set(id, other);
      }
    }
  }
}

/** Drops the oldest entries until at most `max` are left. */
function dropOldest<Value>(map: Map<string, Value>, max: number, onDrop?: (value: Value) => void): void {
  for (const [key, value] of map) {
    if (map.size <= max) {
      return;
    }
    map.delete(key);
    onDrop?.(value);
  }
}

function newShared(section: ServiceSection, references: ReferenceFiles): Shared {
  const byId = new Map<string, CardRecord>();
  for (const record of section.models.values()) {
    byId.set(record.card.fitted_train_set_id, record);
  }
  return { section, byId, fits: new FitsUnderWay(), held: new Map(), references };
}

function living(record: CardRecord | undefined): ModelCard | undefined {
  if (record === undefined || (record.deadAt !== undefined && Date.now() - record.deadAt < DEAD_MS)) {
    return undefined;
  }
  return record.card;
}
