import { randomUUID } from 'node:crypto';

import type { ErrorCosts } from '../metrics/answer-costs';
import { thresholdCurveOf } from '../metrics/curves';
import { cloneJson } from '../util/values';
import { ServiceError } from '../wire/service-error';
import { addFormer, type PendingFit, superfluous } from './card-file';
import type { FittedModel, ModelCard, Publication, Reference, UploadCard } from './cards';
import { dropOldest } from './named-models';
import {
  cardsInMemory,
  cardsOfFile,
  dropReferences,
  type FitUnderWay,
  type SharedCards,
} from './shared-cards';
import type { ThresholdWish } from './types';
import type { FormerModel, NewVersion, VersionedModel } from './versioned-model';

const MAX_UPLOADS = 500;
const MAX_PENDING = 100;

export interface ModelCardsOptions {
  /** The file the cards of every service are kept in; left out: memory only. */
  path?: string;
  /** Key of the service: base URL and API name, or `embedded`. */
  service: string;
  onWarning?: (text: string) => void;
}

/** The model cards of one service. Cards objects of one path and service share what they know. */
export class ModelCards {
  readonly service: string;
  private readonly shared: SharedCards;
  private closed = false;

  constructor({ path, service, onWarning = () => undefined }: ModelCardsOptions) {
    this.service = service;
    this.shared = path === undefined ? cardsInMemory(service) : cardsOfFile(path, service, onWarning);
  }

  /** Models can be found by their names, and cards be kept: see `assertUsable`. */
  get isUsable(): boolean {
    return this.shared.file?.newer === undefined;
  }

  /**
   * @throws ServiceError `storage.failed` where a newer version of this package wrote the file of the cards
   */
  assertUsable(): void {
    const { file } = this.shared;
    if (file?.newer !== undefined) {
      throw new ServiceError(
        'storage.failed',
        `The model cards in ${file.file} are left alone: ${file.newer.message}, or move the file away to begin anew.`,
      );
    }
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
   * Publishes the version in charge of a name: it gets the next number, unless nothing has changed since the name was
   * last published.
   *
   * @returns its card, with `published`
   * @throws ServiceError `model.unknown`
   */
  publish(name: string): ModelCard & { published: Publication } {
    const { models, section } = this.shared;
    const last = section.published ?? { by: randomUUID(), number: 0 };
    const card = models.publish(name, { by: last.by, number: last.number + 1 });
    const published = card.published!;
    if (published.by === last.by && published.number > last.number) {
      section.published = published;
    }
    return { ...card, published };
  }

  /** Whether a model of a name is newer than all that were taken from its publisher so far. */
  isNewer(name: string, { by, number }: Publication): boolean {
    return number > (this.shared.models.named(name)?.lastOf(by) ?? 0);
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

  /** See `NamedModels.chooseCosts`. @throws ServiceError `model.unknown`, `validation.failed` */
  async chooseCosts(name: string, costs: ErrorCosts | null): Promise<ModelCard> {
    const { models, references } = this.shared;
    // Another version may take charge while the reference is read.
    for (let id: string | undefined; ;) {
      const reference = id === undefined ? undefined : await references.get(id);
      const inCharge = models.named(name)?.inCharge.card.fitted_train_set_id;
      if (id === inCharge) {
        return models.chooseCosts(name, costs, thresholdCurveOf(reference?.curves));
      }
      id = inCharge;
    }
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

  /** The reference of a model's train set; undefined where it is not known. */
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

  /**
   * Runs what removes models from the service, or brings some to it, one after the other: a model that is being removed
   * may be in the file that is imported.
   */
  move<Result>(step: () => Promise<Result>): Promise<Result> {
    return this.shared.moves.run(step);
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
    this.shared.file?.changed();
    await this.shared.file?.flush();
  }

  /** Dropped models of all names, which may be removed from the service: see `superfluous`. */
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
    this.shared.file?.changed();
  }

  /** Keeps what is known of an upload, which is in use again where it was to be removed. */
  putUpload(upload: UploadCard): void {
    const { section } = this.shared;
    const { uploads } = section;
    section.former = section.former.filter(({ fitted }) => fitted !== upload.id);
    uploads.delete(upload.id);
    uploads.set(upload.id, cloneJson(upload));
    dropOldest(uploads, MAX_UPLOADS);
    this.shared.file?.changed();
  }

  /** Keeps a fit that goes on in the service, until `removePending`. */
  putPending(fit: PendingFit): void {
    const { pending } = this.shared.section;
    pending.set(fit.card.fitted_train_set_id, cloneJson(fit));
    dropOldest(pending, MAX_PENDING);
    this.shared.file?.changed();
  }

  /** The service is done with the fit, or does not know it. */
  removePending(fittedTrainSetId: string): void {
    if (this.shared.section.pending.delete(fittedTrainSetId)) {
      this.shared.file?.changed();
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
    await Promise.all([this.shared.file?.flush(), this.shared.references.idle()]);
  }

  /** Writes what is not yet written and lets go of the file. */
  async close(): Promise<void> {
    if (this.closed) {
      return;
    }
    this.closed = true;
    await Promise.all([this.shared.file?.release(), this.shared.references.idle()]);
  }
}
