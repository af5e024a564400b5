import path from 'node:path';

import { cloneJson } from '../../util/json';
import { ReferenceFiles } from '../reference/reference-files';
import type { Reference } from '../reference/types';
import type { FittedModel, ModelCard, ThresholdWish, UploadCard } from '../types';
import { CardFile } from './card-file';
import { newSection, type PendingFit, type ServiceSection } from './card-sections';
import { dropOldest } from './drop-oldest';
import { FitsUnderWay, type FitUnderWay } from './fits-under-way';
import { addFormer, meantIds, superfluous, unmeant } from './former-models';
import { NamedModels } from './named-models';
import type { FormerModel, KeptVersion, NewVersion, VersionedModel } from './versioned-model';

export interface ModelCardsOptions {
  /** The file the cards of every service are kept in; left out: memory only. */
  path?: string;
  /** Key of the service: base URL and API name, or `embedded`. */
  service: string;
  onWarning?: (text: string) => void;
}

/** The folder beside the file of the cards with what is kept of their train sets. */
const REFERENCES = 'references';

const MAX_UPLOADS = 500;
const MAX_PENDING = 100;

/** What the cards objects of one path and service share. */
interface Shared {
  file: CardFile | undefined;
  section: ServiceSection;
  models: NamedModels;
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
      this.shared = newShared(newSection(), new ReferenceFiles(undefined, options.service), undefined);
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
      const { file } = this;
      const section = file.section(options.service);
      // Without any model the cards may be lost, and come back.
      const meant = (): ReadonlySet<string> | undefined =>
        file.isRead && section.models.size > 0 ? meantIds(section) : undefined;
      const references = new ReferenceFiles(folder, options.service, meant);
      shared = newShared(section, references, file);
      services.set(options.service, shared);
    }
    this.shared = shared;
  }

  /** The cards in charge, the newest first; `dead` marks those that the service does not have any more. */
  list(): (ModelCard & { dead?: true })[] {
    return this.shared.models.list();
  }

  /** The card in charge of a name, or of `name@version`, unless its model was found dead a moment ago. */
  get(name: string): ModelCard | undefined {
    return this.shared.models.get(name);
  }

  /** The card of that model, in charge or not. */
  byFittedId(id: string): ModelCard | undefined {
    return this.shared.models.byFittedId(id);
  }

  /** As `byFittedId`, unless the model was found dead a moment ago. */
  livingById(id: string): ModelCard | undefined {
    return this.shared.models.livingById(id);
  }

  /** See `NamedModels.byFingerprint`. */
  byFingerprint(fingerprint: string, name: string): { card: ModelCard; aside: boolean } | undefined {
    return this.shared.models.byFingerprint(fingerprint, name);
  }

  /** Whether there is a model of the name, or `name@version`, at all, dead or alive. */
  has(name: string): boolean {
    return this.shared.models.has(name);
  }

  /** The model of the name, or that `name@version` is a version of, whether there is such a version or not. */
  named(name: string): VersionedModel | undefined {
    return this.shared.models.named(name);
  }

  /** Keeps a card as another version of its name, in charge of it: see `NamedModels.put`. Who waits for it goes on. */
  put(
    given: FittedModel,
    fingerprint?: string,
    more: Omit<NewVersion, 'card' | 'fingerprint'> = {},
  ): ModelCard {
    const { models, fits } = this.shared;
    const kept = models.put(given, fingerprint, more);
    fits.arrived(kept.name);
    fits.arrived(`${kept.name}@${kept.version}`);
    return kept;
  }

  /**
   * The id of the model that a roll back would put in charge: see `rollBack`.
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBackTo(name: string, to: true | number): string {
    return this.shared.models.rollBackTo(name, to);
  }

  /**
   * Puts an earlier version of the name in charge, between two batches: see `NamedModels.rollBack`. Fits of the name that
   * are under way do not take charge any more.
   *
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBack(name: string, to: true | number): ModelCard {
    const { models, fits, section } = this.shared;
    const rolled = models.rollBack(name, to);
    fits.overtake(name);
    for (const fit of section.pending.values()) {
      if (fit.card.name === name) {
        fit.late = true;
      }
    }
    return rolled;
  }

  /**
   * Gives a model another name, with all of its versions.
   * @throws ServiceError `model.unknown`, `validation.failed` for a name that is taken or empty
   */
  rename(name: string, to: string): ModelCard {
    const renamed = this.shared.models.rename(name, to);
    this.shared.fits.arrived(to);
    return renamed;
  }

  /** See `NamedModels.chooseThreshold`. @throws ServiceError `model.unknown`, `validation.failed` */
  chooseThreshold(name: string, wish: ThresholdWish): ModelCard {
    return this.shared.models.chooseThreshold(name, wish);
  }

  /** Forgets a model with all of its versions; the service may remove them then. @throws ServiceError `model.unknown` */
  remove(name: string): void {
    this.shared.models.remove(name);
  }

  /** @throws ServiceError `validation.failed` for a name that is taken or empty */
  assertFree(name: string): void {
    this.shared.models.assertFree(name);
  }

  /** The service answered 404 for the id. */
  markDead(fittedTrainSetId: string): void {
    this.shared.models.markDead(fittedTrainSetId);
  }

  /** The service answered for an id that was marked dead. */
  markAlive(fittedTrainSetId: string): void {
    this.shared.models.markAlive(fittedTrainSetId);
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

  /**
   * Notes a model that is kept under no name, or the train set of one that is to be fitted: the service may remove it
   * once nobody uses it. Resolves when that is on disk.
   */
  async discard({ fitted, upload }: FormerModel): Promise<void> {
    addFormer(this.shared.section, [{ fitted, upload }]);
    this.file?.changed();
    await this.file?.flush();
  }

  /** Models that are not kept any more, of all names, and may be removed from the service: see `superfluous`. */
  superfluous(): { fitted: string; upload?: string }[] {
    return superfluous(this.shared.section, (id) => this.isHeld(id));
  }

  /** The service does not have a former model any more, nor its train set where that is named. */
  forgetFormer(fittedTrainSetId: string, uploadId?: string): void {
    const { section } = this.shared;
    section.former = section.former.filter(({ fitted }) => fitted !== fittedTrainSetId);
    if (uploadId !== undefined) {
      section.uploads.delete(uploadId);
    }
    dropReferences(this.shared, [fittedTrainSetId]);
    this.file?.changed();
  }

  /** Keeps what is known of an upload, which is in use again where it was to be removed. */
  putUpload(upload: UploadCard): void {
    const { section } = this.shared;
    const { uploads } = section;
    section.former = section.former.filter(({ fitted }) => fitted !== upload.id);
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

  /** The fit came to nothing: what was kept of its train set goes too. */
  failPending(fittedTrainSetId: string): void {
    this.removePending(fittedTrainSetId);
    dropReferences(this.shared, [fittedTrainSetId]);
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

  /** Announces a fit. Until it ends, `fitEnd(name)` is there to wait for. `late`: it must not take charge. */
  beginFit(name: string, late = false): FitUnderWay {
    return this.shared.fits.begin(
      name,
      (card, { fingerprint, why, takesCharge }) => {
        const own = this.put(card, fingerprint, { why, takesCharge });
        return { own, inCharge: this.shared.models.named(card.name)!.card() };
      },
      late,
    );
  }

  /** Fits that are compared with the model in charge: each with the one that the last has left in charge. */
  inTurn<Result>(name: string, step: () => Promise<Result>): Promise<Result> {
    return this.shared.fits.inTurn(name, step);
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
}

function newShared(section: ServiceSection, references: ReferenceFiles, file: CardFile | undefined): Shared {
  const models = new NamedModels(section.models, {
    changed: () => file?.changed(),
    gone: (versions) => release({ file, section, references }, versions),
  });
  const fits = new FitsUnderWay();
  file?.onRead(() => {
    models.readAnew();
    for (const name of section.models.keys()) {
      fits.arrived(name);
    }
  });
  return { file, section, models, fits, held: new Map(), references };
}

type Kept = Pick<Shared, 'file' | 'section' | 'references'>;

function release(shared: Kept, gone: readonly KeptVersion[]): void {
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

/** Removes what is kept of train sets of those models that no name means any more. */
function dropReferences({ file, section, references }: Kept, ids: readonly string[]): void {
  for (const id of unmeant(section, ids)) {
    // Not before the cards on disk have forgotten the model. It never fails, and `flush` waits for it.
    void references.remove(id, () => file?.flush());
  }
}
