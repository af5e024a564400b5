import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import type { ErrorCosts } from '../metrics/answer-costs';
import { findThresholdCurve } from '../metrics/curves';
import { Serial } from '../util/concurrency';
import { cloneJson } from '../util/values';
import { ServiceError } from '../wire/service-error';
import { CardFile } from './card-file';
import type { FittedModel, ModelCard, Publication, UploadCard } from './cards';
import { FitsUnderWay, type FitUnderWay } from './fits-under-way';
import { assertModelName, isDead, type KeptVersion, type NewVersion, VersionedModel } from './named-models';
import { ReferenceFiles } from './reference-files';
import { type FormerModel, type PendingFit, ServiceSection } from './service-section';
import { keptThreshold, thresholdBy, withChosenCosts } from './threshold';
import type { ThresholdWish } from './types';

/** The folder, next to the file of the cards, with the references of their train sets. */
const REFERENCES = 'references';

export interface ModelCardsOptions {
  /** The file the cards of every service are kept in; left out: memory only. */
  path?: string;
  /** Key of the service: base URL and API name, or `embedded`. */
  service: string;
  onWarning?: (text: string) => void;
}

/** Those of the files that are open, by service. */
const openCards = new WeakMap<CardFile, Map<string, ModelCards>>();

/**
 * The model cards of one service: its models by name, `name@version` and id, and what is known of them besides: train
 * sets, fits under way, models that the service may remove. There is one for each file and service.
 */
export class ModelCards {
  /** What is kept of the train set of each model, by its id, until no name means the model any more. */
  readonly references: ReferenceFiles;
  /** The fits under way, by model name; one begins with `beginFit`. */
  readonly fits = new FitsUnderWay();
  /** Removals from the service, and imports. */
  private readonly moves = new Serial();
  /** How many use a model or a train set now, by its id. */
  private readonly held = new Map<string, number>();

  private constructor(
    readonly service: string,
    private readonly stored: ServiceSection,
    private readonly file?: CardFile,
  ) {
    const folder = file && path.join(path.dirname(file.file), REFERENCES);
    this.references = new ReferenceFiles(folder, service, () =>
      // Without any model the cards may be lost, and come back.
      file?.isRead === true && stored.models.size > 0 ? stored.meantIds() : undefined,
    );
    file?.onRead(() => {
      for (const { name } of stored.models) {
        this.fits.arrived(name);
      }
    });
  }

  /** The cards of that file and service, or new ones in memory alone. Each `open` needs its `close`. */
  static open({ path: file, service, onWarning = () => undefined }: ModelCardsOptions): ModelCards {
    if (file === undefined) {
      return new ModelCards(service, new ServiceSection());
    }
    const opened = CardFile.open(file, onWarning);
    const services = openCards.get(opened) ?? new Map<string, ModelCards>();
    openCards.set(opened, services);
    const cards = services.get(service) ?? new ModelCards(service, opened.section(service), opened);
    services.set(service, cards);
    return cards;
  }

  /** Writes what is not yet written and lets go of the file. */
  async close(): Promise<void> {
    await Promise.all([this.file?.release(), this.references.idle()]);
  }

  /** Resolves when what was put is on disk. */
  async flush(): Promise<void> {
    await Promise.all([this.file?.flush(), this.references.idle()]);
  }

  /** Models can be found by their names, and cards be kept: see `assertUsable`. */
  get isUsable(): boolean {
    return this.file?.isUsable ?? true;
  }

  /** @throws ServiceError `storage.failed` where a newer version of this package wrote the file of the cards */
  assertUsable(): void {
    this.file?.assertUsable();
  }

  /** @throws ServiceError `storage.failed` as `assertUsable`, and where the file of the cards could not be read yet */
  assertRead(): void {
    this.file?.assertRead();
  }

  /** The cards in charge, the newest first; `dead` marks those that the service does not have any more. */
  list(): (ModelCard & { dead?: true })[] {
    return [...this.stored.models]
      .map((model) =>
        model.inCharge.deadAt === undefined ? model.card() : { ...model.card(), dead: true as const },
      )
      .reverse();
  }

  /** The card in charge of a name, or of `name@version`, unless its model was found dead a moment ago. */
  get(name: string): ModelCard | undefined {
    const found = this.stored.models.find(name);
    return found === undefined || isDead(found.version) ? undefined : found.model.card(found.version);
  }

  /** The card of that model, in charge or not. */
  byFittedId(id: string): ModelCard | undefined {
    const found = this.stored.models.findById(id);
    return found?.model.card(found.version);
  }

  /** As `byFittedId`, unless the model was found dead a moment ago. */
  livingById(id: string): ModelCard | undefined {
    const found = this.stored.models.findById(id);
    return found === undefined || isDead(found.version) ? undefined : found.model.card(found.version);
  }

  /**
   * A living card fitted from the same train set with the same options: one of that name, or else one in charge of
   * another. `aside`: it is of that name, and was rolled back from or came too late.
   */
  byFingerprint(fingerprint: string, name: string): { card: ModelCard; aside: boolean } | undefined {
    const found = this.stored.models.findByFingerprint(fingerprint, name);
    return found && { card: found.model.card(found.version), aside: found.model.isAside(found.version) };
  }

  /** Whether there is a model of the name, or `name@version`, at all, dead or alive. */
  has(name: string): boolean {
    return this.stored.models.find(name) !== undefined;
  }

  /** The model of the name, or that `name@version` is a version of, whether there is such a version or not. */
  named(name: string): VersionedModel | undefined {
    return this.stored.models.addressed(name);
  }

  /**
   * Announces a fit. Until it ends, `fits.end(name)` is there to wait for.
   * @param takenUp the one that is taken up after a restart; left out: a new one
   */
  beginFit(name: string, takenUp?: PendingFit): FitUnderWay {
    const fit = this.fits.announce(name);
    const late = takenUp?.late === true;
    if (takenUp !== undefined) {
      this.stored.noteBegun(takenUp, fit.begun);
    }
    return {
      goesOn: (pending) => {
        const overtaken = fit.isOvertaken() && { late: true as const };
        this.stored.addPending({ ...pending, ...overtaken }, fit.begun);
        this.file?.changed();
      },
      done: (card, fingerprint, why) => {
        const takesCharge = !late && fit.takeCharge();
        const own = this.put(card, fingerprint, { why, takesCharge });
        if (takesCharge) {
          // They began before, so they do not take charge any more, after a restart either.
          this.noteLate(name, this.stored.pendingBefore(fit.begun));
        }
        fit.end();
        return { own, inCharge: this.named(card.name)!.card() };
      },
      ended: () => fit.end(),
      failed: (error) => fit.end(error),
    };
  }

  /**
   * Keeps a copy as another version of its name, in charge of it: what a flow does to its card changes nothing here.
   * The model that is in charge already stays the version that it is, and is not written again. A card without a
   * threshold gets that of the one in charge, where it can be its own. Who waits for the model goes on.
   *
   * @returns the card of that version
   */
  put(
    given: FittedModel,
    fingerprint?: string,
    more: Omit<NewVersion, 'card' | 'fingerprint'> = {},
  ): ModelCard {
    const { models } = this.stored;
    const card = withoutVersion(cloneJson(given));
    const added: NewVersion = { card, ...(fingerprint !== undefined && { fingerprint }), ...more };
    const before = models.get(card.name);
    const chosen = before?.inCharge.card.threshold;
    const threshold = card.threshold ?? (chosen && keptThreshold(chosen, card));
    if (threshold !== undefined) {
      card.threshold = threshold;
    }
    const isThere =
      before !== undefined &&
      isDeepStrictEqual(before.inCharge.card, card) &&
      before.inCharge.fingerprint === fingerprint &&
      before.inCharge.deadAt === undefined;
    const { model, gone } =
      before === undefined
        ? { model: VersionedModel.first(added), gone: [] }
        : isThere
          ? { model: before, gone: [] }
          : before.withVersion(added);
    const dropped = models.setNewest(model);
    const kept = model.card(model.byFittedId(card.fitted_train_set_id));
    this.removePending(card.fitted_train_set_id);
    if (!isThere) {
      this.release([...gone, ...dropped]);
      this.file?.changed();
    }
    this.fits.arrived(kept.name);
    this.fits.arrived(`${kept.name}@${kept.version}`);
    return kept;
  }

  /**
   * The id of the model that a roll back would put in charge: see `rollBack`.
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBackTo(name: string, to: true | number): string {
    return this.known(name, 'roll back').earlier(to).card.fitted_train_set_id;
  }

  /**
   * Puts an earlier version of the name in charge, between two batches: `true` for the one before the one in charge, or
   * the number of any that is kept. Fits of the name that are under way do not take charge any more.
   *
   * @returns its card
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBack(name: string, to: true | number): ModelCard {
    const model = this.known(name, 'roll back');
    const rolled = this.change(model.withCharge(model.earlier(to)));
    this.fits.overtake(name);
    this.noteLate(name, this.pending());
    return rolled;
  }

  /** What comes of these fits, as far as they are of the name, does not take charge any more. */
  private noteLate(name: string, fits: readonly PendingFit[]): void {
    for (const fit of fits) {
      if (fit.card.name === name) {
        fit.late = true;
        this.file?.changed();
      }
    }
  }

  /**
   * Publishes the version in charge of a name: it gets the next number, unless nothing has changed since the name was
   * last published.
   *
   * @returns its card, with `published`
   * @throws ServiceError `model.unknown`
   */
  publish(name: string): ModelCard & { published: Publication } {
    const { stored } = this;
    const model = this.known(name, 'publish');
    const last = stored.published ?? { by: randomUUID(), number: 0 };
    const published = model.nextPublication(last);
    // An older file of cards may have been put back: what was published from here since came back with a message.
    if (published.by === last.by && published.number > last.number) {
      stored.published = published;
    }
    const isNew = published !== model.inCharge.published;
    const card = isNew ? this.change(model.withPublication(published)) : model.card();
    return { ...card, published };
  }

  /** Whether a model of a name is newer than all that were taken from its publisher so far. */
  isNewer(name: string, { by, number }: Publication): boolean {
    return number > (this.named(name)?.findLast(by) ?? 0);
  }

  /**
   * Gives a model another name, with all of its versions.
   * @throws ServiceError `model.unknown`, `validation.failed` for a name that is taken or empty
   */
  rename(name: string, to: string): ModelCard {
    const model = this.known(name, 'rename');
    if (to === name) {
      return model.card();
    }
    this.assertFree(to);
    this.stored.removeName(model);
    const renamed = this.change(model.renamed(to));
    this.fits.arrived(to);
    return renamed;
  }

  /** @throws ServiceError `validation.failed` for a name that is taken, empty or much too long */
  assertFree(name: string): void {
    assertModelName(name);
    if (this.stored.models.get(name) !== undefined) {
      throw new ServiceError('validation.failed', `There is a model "${name}" already: choose another name.`);
    }
  }

  /**
   * Chooses from which probability on the model in charge answers one of its two classes, or that it answers the more
   * probable one.
   *
   * @returns its card
   * @throws ServiceError `model.unknown`, `validation.failed`
   */
  chooseThreshold(name: string, wish: ThresholdWish): ModelCard {
    const model = this.known(name, 'choose a threshold for');
    return this.change(
      model.withThreshold(wish === null ? undefined : thresholdBy(model.inCharge.card, wish)),
    );
  }

  /**
   * Chooses what a miss and a false alarm of a model cost, or that nobody knows. A threshold that is the best for costs
   * is found anew, with the curve of the version in charge.
   *
   * @returns its card
   * @throws ServiceError `model.unknown`; `validation.failed` for a model that can have no costs
   */
  async chooseCosts(name: string, costs: ErrorCosts | null): Promise<ModelCard> {
    // Another version may take charge while the reference is read.
    for (let id: string | undefined; ;) {
      const reference = id === undefined ? undefined : await this.references.get(id);
      const model = this.known(name, 'choose costs for');
      const { card } = model.inCharge;
      if (card.fitted_train_set_id !== id) {
        id = card.fitted_train_set_id;
        continue;
      }
      const own = withChosenCosts(card, costs, findThresholdCurve(reference?.curves));
      return this.change(model.withThreshold(own.threshold, own));
    }
  }

  /** Forgets a model with all of its versions; the service may remove them then. @throws ServiceError `model.unknown` */
  remove(name: string): void {
    const model = this.known(name, 'delete');
    this.stored.removeName(model);
    this.release(model.versions);
    this.file?.changed();
  }

  /** The service answered 404 for the id. */
  markDead(fittedTrainSetId: string): void {
    this.setDead(fittedTrainSetId, Date.now());
  }

  /** The service answered for an id that was marked dead. */
  markAlive(fittedTrainSetId: string): void {
    if (this.stored.models.findById(fittedTrainSetId)?.version.deadAt !== undefined) {
      this.setDead(fittedTrainSetId, undefined);
    }
  }

  /** Notes that a model, or a train set, is in use until the answer is called: it is not removed from the service. */
  hold(id: string): () => void {
    const { held } = this;
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
    return this.moves.run(step);
  }

  /**
   * Notes a model that is kept under no name, or the train set of one that is to be fitted: the service may remove it
   * once nobody uses it. Resolves when that is on disk.
   */
  async discard({ fitted, upload }: FormerModel): Promise<void> {
    this.stored.addFormer([{ fitted, upload }]);
    this.file?.changed();
    await this.file?.flush();
  }

  /** Dropped models of all names, which may be removed from the service. `upload`: with their train set. */
  superfluous(): { fitted: string; upload?: string }[] {
    return this.stored.superfluous((id) => this.held.has(id));
  }

  /** The service does not have a former model any more, nor its train set where that is named. */
  forgetFormer(fittedTrainSetId: string, uploadId?: string): void {
    const { stored } = this;
    stored.former = stored.former.filter(({ fitted }) => fitted !== fittedTrainSetId);
    if (uploadId !== undefined) {
      stored.uploads.delete(uploadId);
    }
    this.dropReferences([fittedTrainSetId]);
    this.file?.changed();
  }

  upload(id: string): UploadCard | undefined {
    return this.stored.uploads.get(id);
  }

  /** The newest train set with this target that was uploaded from here. */
  newestTrainSet(target: string): UploadCard | undefined {
    return [...this.stored.uploads.values()].findLast(
      (card) => card.set === 'train' && card.target === target,
    );
  }

  /** Keeps what is known of an upload, which is in use again where it was to be removed. */
  putUpload(upload: UploadCard): void {
    const { stored } = this;
    stored.former = stored.former.filter(({ fitted }) => fitted !== upload.id);
    stored.uploads.set(upload.id, cloneJson(upload));
    this.file?.changed();
  }

  /** Fits that were not done when they were last heard of, in the order in which they began. */
  pending(): PendingFit[] {
    return [...this.stored.pending.values()];
  }

  /** Nothing comes of the fit any more, or its model is kept. */
  removePending(fittedTrainSetId: string): void {
    if (this.stored.pending.delete(fittedTrainSetId)) {
      this.file?.changed();
    }
  }

  /** The fit came to nothing: what was kept of its train set goes too. */
  failPending(fittedTrainSetId: string): void {
    this.removePending(fittedTrainSetId);
    this.dropReferences([fittedTrainSetId]);
  }

  /** @throws ServiceError `model.unknown` */
  private known(name: string, to: string): VersionedModel {
    const model = this.stored.models.get(name);
    if (model === undefined) {
      this.assertRead();
      throw new ServiceError('model.unknown', `There is no model "${name}" to ${to}.`);
    }
    return model;
  }

  /** A model is another than it was. @returns the card in charge of it */
  private change(model: VersionedModel): ModelCard {
    this.stored.models.set(model);
    this.file?.changed();
    return model.card();
  }

  private setDead(id: string, deadAt: number | undefined): void {
    for (const { versions } of this.stored.models) {
      for (const version of versions) {
        if (version.card.fitted_train_set_id === id) {
          version.deadAt = deadAt;
          this.file?.changed();
        }
      }
    }
  }

  /** Versions have been dropped: the service may remove them, and their references go. */
  private release(gone: readonly KeptVersion[]): void {
    this.stored.release(gone);
    this.dropReferences(gone.map(({ card }) => card.fitted_train_set_id));
  }

  /** Removes the references of models that no name refers to any more. */
  private dropReferences(ids: readonly string[]): void {
    const meant = ids.length === 0 ? undefined : this.stored.meantIds();
    for (const id of ids.filter((one) => !meant!.has(one))) {
      // Not before the cards on disk have forgotten the model. It never fails, and `flush` waits for it.
      void this.references.remove(id, () => this.file?.flush());
    }
  }
}

/** A card may be that of a version already. It is changed in place. */
function withoutVersion(card: FittedModel & Partial<ModelCard>): FittedModel {
  delete card.version;
  delete card.published;
  delete card.versions;
  return card;
}
