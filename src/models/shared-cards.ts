import path from 'node:path';

import { BoundedMap } from '../util/collections';
import { Serial } from '../util/concurrency';
import { addFormer, CardFile, meantIds, newSection, type ServiceSection, unmeant } from './card-file';
import type { FittedModel, ModelCard } from './cards';
import { ReferenceFiles } from './reference-files';
import type { KeptVersion, NewVersion, VersionedModel } from './versioned-model';

/** How many models' last errors are remembered: messages may name any number of models. */
const MAX_ERRORS = 500;
/** The folder, next to the file of the cards, with the references of their train sets. */
const REFERENCES = 'references';

/** What has become of a fit under its name. */
export interface PutModel {
  /** The model of the fit. */
  own: ModelCard;
  /** Another one, where the fit came too late or its model was rolled back from before. */
  inCharge: ModelCard;
}

/** A fit under way: messages for its model wait for it. */
export interface FitUnderWay {
  /**
   * Keeps the card as a version of its name. It takes charge, unless a fit that began later has done so already, or the
   * model has since been rolled back.
   */
  readonly done: (card: FittedModel, fingerprint?: string, why?: NewVersion['why']) => PutModel;
  /** It has ended without a model of its own. */
  readonly ended: () => void;
  readonly failed: (error: Error) => void;
}

type Put = (card: FittedModel, more: Omit<NewVersion, 'card'>) => PutModel;

interface Waiter {
  promise: Promise<void>;
  resolve: () => void;
}

let fitCount = 0;

/** The fits under way of one service, and who waits for the models that come of them, by model name. */
export class FitsUnderWay {
  private readonly fits = new Map<string, Set<Waiter>>();
  /** When the fit of the card under a name began, or the name was rolled back, for the order of overlapping fits. */
  private readonly begun = new Map<string, number>();
  private readonly lastError = new BoundedMap<string, Error>(MAX_ERRORS);
  private readonly arrivals = new Map<string, Set<() => void>>();
  private readonly turns = new Map<string, { serial: Serial; waiting: number }>();

  /** Announces a fit. Until it ends, `end(name)` is there to wait for. */
  begin(name: string, put: Put, late: boolean): FitUnderWay {
    const begun = ++fitCount;
    const waiter = newWaiter();
    const fits = this.fits.get(name) ?? new Set();
    fits.add(waiter);
    this.fits.set(name, fits);
    const end = (): void => {
      fits.delete(waiter);
      if (fits.size === 0) {
        this.fits.delete(name);
      }
      waiter.resolve();
    };
    return {
      done: (card, fingerprint, why) => {
        const takesCharge = !late && (this.begun.get(name) ?? 0) <= begun;
        if (takesCharge) {
          this.begun.set(name, begun);
          this.lastError.delete(name);
        }
        const putModel = put(card, { fingerprint, why, takesCharge });
        end();
        return putModel;
      },
      ended: end,
      failed: (error) => {
        this.lastError.set(name, error);
        end();
      },
    };
  }

  /** What is under way under that name does not take charge any more. */
  overtake(name: string): void {
    this.begun.set(name, ++fitCount);
  }

  /** Runs steps of one name one after the other: fits are compared each with the model that the last has left in charge. */
  async inTurn<Result>(name: string, step: () => Promise<Result>): Promise<Result> {
    const turn = this.turns.get(name) ?? { serial: new Serial(), waiting: 0 };
    this.turns.set(name, turn);
    turn.waiting++;
    try {
      return await turn.serial.run(step);
    } finally {
      turn.waiting--;
      if (turn.waiting === 0) {
        this.turns.delete(name);
      }
    }
  }

  /** Resolves when a fit of that model ends, whether it succeeds or fails; undefined when none is under way. */
  end(name: string): Promise<void> | undefined {
    const fits = this.fits.get(name);
    return fits === undefined ? undefined : Promise.race([...fits].map((fit) => fit.promise));
  }

  /** Why the last fit under that name failed. */
  error(name: string): Error | undefined {
    return this.lastError.get(name);
  }

  /** Resolves when a card is put under the name, or the signal is aborted. */
  arrival(name: string, signal: AbortSignal): Promise<void> {
    const waiting = this.arrivals.get(name) ?? new Set();
    this.arrivals.set(name, waiting);
    return new Promise((resolve) => {
      const end = (): void => {
        signal.removeEventListener('abort', end);
        waiting.delete(end);
        if (waiting.size === 0) {
          this.arrivals.delete(name);
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

  /** A card was put under the name. */
  arrived(name: string): void {
    for (const wake of this.arrivals.get(name) ?? []) {
      wake();
    }
  }
}

function newWaiter(): Waiter {
  let resolve!: () => void;
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

/** What the cards objects of one path and service share. */
export interface SharedCards {
  file: CardFile | undefined;
  section: ServiceSection;
  /** The models of the section by the ids of all of their versions. */
  byId: Map<string, VersionedModel>;
  fits: FitsUnderWay;
  /** Removals from the service, and imports. */
  moves: Serial;
  /** How many use a model or a train set now, by its id. */
  held: Map<string, number>;
  references: ReferenceFiles;
}

const sharedByFile = new WeakMap<CardFile, Map<string, SharedCards>>();

/** What is known of a service's models in memory alone, by nobody else. */
export function cardsInMemory(service: string): SharedCards {
  return newShared(newSection(), new ReferenceFiles(undefined, service), undefined);
}

/** What is known of a service's models by a file, which is to be released as often as it was asked for. */
export function cardsOfFile(file: string, service: string, onWarning: (text: string) => void): SharedCards {
  const opened = CardFile.open(file, onWarning);
  let services = sharedByFile.get(opened);
  if (services === undefined) {
    services = new Map();
    sharedByFile.set(opened, services);
  }
  let shared = services.get(service);
  if (shared === undefined) {
    const folder = path.join(path.dirname(file), REFERENCES);
    const section = opened.section(service);
    // Without any model the cards may be lost, and come back.
    const meant = (): ReadonlySet<string> | undefined =>
      opened.isRead && section.models.size > 0 ? meantIds(section) : undefined;
    shared = newShared(section, new ReferenceFiles(folder, service, meant), opened);
    services.set(service, shared);
  }
  return shared;
}

function newShared(
  section: ServiceSection,
  references: ReferenceFiles,
  file: CardFile | undefined,
): SharedCards {
  const shared: SharedCards = {
    file,
    section,
    byId: new Map(),
    fits: new FitsUnderWay(),
    moves: new Serial(),
    held: new Map(),
    references,
  };
  readIndexAnew(shared);
  file?.onRead(() => {
    readIndexAnew(shared);
    for (const name of section.models.keys()) {
      shared.fits.arrived(name);
    }
  });
  return shared;
}

function readIndexAnew(shared: SharedCards): void {
  shared.byId.clear();
  for (const model of shared.section.models.values()) {
    indexById(shared, undefined, model);
  }
}

/** Keeps the index by id: a model that goes is still meant where another name has it too. */
export function indexById(
  { byId, section }: SharedCards,
  before: VersionedModel | undefined,
  after: VersionedModel | undefined,
): void {
  for (const { card } of before?.versions ?? []) {
    const id = card.fitted_train_set_id;
    if (byId.get(id) === before) {
      byId.delete(id);
      const other = [...section.models.values()].find((model) => model.byFittedId(id) !== undefined);
      if (other !== undefined) {
        byId.set(id, other);
      }
    }
  }
  for (const { card } of after?.versions ?? []) {
    byId.set(card.fitted_train_set_id, after!);
  }
}

/** Versions have been dropped: the service may remove them, and their references go. */
export function releaseVersions(shared: SharedCards, gone: readonly KeptVersion[]): void {
  const cards = gone.map(({ card }) => card);
  addFormer(
    shared.section,
    cards.map((card) => ({ fitted: card.fitted_train_set_id, upload: card.train_set_upload_id })),
  );
  dropReferences(
    shared,
    cards.map((card) => card.fitted_train_set_id),
  );
}

/** Removes the references of models that no name refers to any more. */
export function dropReferences({ file, section, references }: SharedCards, ids: readonly string[]): void {
  for (const id of unmeant(section, ids)) {
    // Not before the cards on disk have forgotten the model. It never fails, and `flush` waits for it.
    void references.remove(id, () => file?.flush());
  }
}
