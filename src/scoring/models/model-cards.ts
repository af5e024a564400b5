import { isDeepStrictEqual } from 'node:util';

import { BoundedMap } from '../../util/bounded-map';
import { cloneJson } from '../../util/json';
import type { ModelCard, UploadCard } from '../types';
import { CardFile, type CardRecord, type PendingFit, type ServiceSection } from './card-file';

export interface ModelCardsOptions {
  /** The file the cards of every service are kept in; left out: memory only. */
  path?: string;
  /** Key of the service: base URL and API name, or `embedded`. */
  service: string;
  onWarning?: (text: string) => void;
}

/** A fit under way: messages for its model wait for it. */
export interface FitUnderWay {
  /** Puts the card under its name, unless a fit that began later has already put its own. */
  done(card: ModelCard, fingerprint?: string): void;
  failed(error: Error): void;
}

const MAX_MODELS = 2000;
const MAX_UPLOADS = 500;
/** Names of models whose last error is kept: a flow may make them up by the message. */
const MAX_ERRORS = 500;
const MAX_PENDING = 100;
/** A dead model is asked for again after this, since a 404 may have come from something on the way. */
const DEAD_MS = 60_000;

/** What the cards objects of one path and service share. */
interface Shared {
  section: ServiceSection;
  byId: Map<string, CardRecord>;
  /** Fits under way by model name. */
  fits: Map<string, Set<PromiseWithResolve>>;
  /** When the fit of the card under a name began, for the order of overlapping fits. */
  begun: Map<string, number>;
  /** Why the last fit of a name failed. */
  lastError: BoundedMap<string, Error>;
  /** Who waits for a card to be put, by model name. */
  arrivals: Map<string, Set<() => void>>;
}

interface PromiseWithResolve {
  promise: Promise<void>;
  resolve: () => void;
}

const sharedByFile = new WeakMap<CardFile, Map<string, Shared>>();
let fitCount = 0;

/** The model cards of one service. Cards objects of one path and service share what they know. */
export class ModelCards {
  readonly service: string;
  private readonly file: CardFile | undefined;
  private readonly shared: Shared;
  private closed = false;

  constructor(options: ModelCardsOptions) {
    this.service = options.service;
    if (options.path === undefined) {
      this.shared = newShared({ models: new Map(), uploads: new Map(), pending: new Map() });
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
      shared = newShared(this.file.section(options.service));
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
      models.delete(card.name);
      if (isDeepStrictEqual(before, record)) {
        models.set(card.name, before);
        return;
      }
      this.forget(before);
    }
    models.set(card.name, record);
    this.shared.byId.set(card.fitted_train_set_id, record);
    for (const [name, old] of models) {
      if (models.size <= MAX_MODELS) {
        break;
      }
      models.delete(name);
      this.forget(old);
    }
    this.file?.changed();
    for (const wake of this.shared.arrivals.get(card.name) ?? []) {
      wake();
    }
  }

  /** Resolves when a card is put under the name, or the signal is aborted. */
  arrival(name: string, signal: AbortSignal): Promise<void> {
    const { arrivals } = this.shared;
    const waiting = arrivals.get(name) ?? new Set();
    arrivals.set(name, waiting);
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end);
        waiting.delete(end);
        if (waiting.size === 0) {
          arrivals.delete(name);
        }
        resolve();
      };
      waiting.add(end);
      if (signal.aborted) {
        end();
      } else {
        signal.addEventListener('abort', end);
      }
    });
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

  putUpload(upload: UploadCard): void {
    const { uploads } = this.shared.section;
    uploads.delete(upload.id);
    uploads.set(upload.id, cloneJson(upload));
    for (const id of uploads.keys()) {
      if (uploads.size <= MAX_UPLOADS) {
        break;
      }
      uploads.delete(id);
    }
    this.file?.changed();
  }

  /** Keeps a fit that goes on in the service, until `removePending`. */
  putPending(fit: PendingFit): void {
    const { pending } = this.shared.section;
    pending.set(fit.card.fitted_train_set_id, cloneJson(fit));
    for (const id of pending.keys()) {
      if (pending.size <= MAX_PENDING) {
        break;
      }
      pending.delete(id);
    }
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

  /** Announces a fit. Until it ends, `fitEnd(name)` is there to wait for. */
  beginFit(name: string): FitUnderWay {
    const begun = ++fitCount;
    let resolve = (): void => undefined;
    const waiter: PromiseWithResolve = {
      promise: new Promise<void>((settle) => {
        resolve = settle;
      }),
      resolve: () => resolve(),
    };
    const fits = this.shared.fits.get(name) ?? new Set();
    fits.add(waiter);
    this.shared.fits.set(name, fits);
    const end = (): void => {
      fits.delete(waiter);
      if (fits.size === 0) {
        this.shared.fits.delete(name);
      }
      waiter.resolve();
    };
    return {
      done: (card, fingerprint) => {
        if ((this.shared.begun.get(name) ?? 0) <= begun) {
          this.shared.begun.set(name, begun);
          this.shared.lastError.delete(name);
          this.put(card, fingerprint);
        }
        end();
      },
      failed: (error) => {
        this.shared.lastError.set(name, error);
        end();
      },
    };
  }

  /** Resolves when a fit of that model that is now under way ends, well or badly; undefined when there is none. */
  fitEnd(name: string): Promise<void> | undefined {
    const fits = this.shared.fits.get(name);
    return fits === undefined ? undefined : Promise.race([...fits].map((fit) => fit.promise));
  }

  /** Why the last fit under that name failed. */
  fitError(name: string): Error | undefined {
    return this.shared.lastError.get(name);
  }

  /** Resolves when what was put is on disk. */
  async flush(): Promise<void> {
    await this.file?.flush();
  }

  /** Writes what is not yet written and lets go of the file. */
  async close(): Promise<void> {
    if (this.closed) {
      return;
    }
    this.closed = true;
    await this.file?.release();
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

function newShared(section: ServiceSection): Shared {
  const byId = new Map<string, CardRecord>();
  for (const record of section.models.values()) {
    byId.set(record.card.fitted_train_set_id, record);
  }
  return {
    section,
    byId,
    fits: new Map(),
    begun: new Map(),
    lastError: new BoundedMap(MAX_ERRORS),
    arrivals: new Map(),
  };
}

function living(record: CardRecord | undefined): ModelCard | undefined {
  if (record === undefined || (record.deadAt !== undefined && Date.now() - record.deadAt < DEAD_MS)) {
    return undefined;
  }
  return record.card;
}
