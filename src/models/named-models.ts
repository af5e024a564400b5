import { randomUUID } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

import type { ErrorCosts } from '../metrics/answer-costs';
import { thresholdCurveOf } from '../metrics/curves';
import { cloneJson } from '../util/values';
import { ServiceError } from '../wire/service-error';
import type { FittedModel, ModelCard, Publication } from './cards';
import { indexById, releaseVersions, type SharedCards } from './shared-cards';
import { keptThreshold, readCosts, soughtCurve, thresholdBy, withCosts } from './threshold';
import type { ThresholdWish } from './types';
import { earlierVersion, type KeptVersion, type NewVersion, VersionedModel } from './versioned-model';

const MAX_MODELS = 2000;
/** A dead model is asked for again after this, since a 404 may have come from something on the way. */
const DEAD_MS = 60_000;
/** Longest name that a model can be given later: it is part of URLs. */
const MAX_NAME = 500;

/** Drops the oldest entries until at most `max` are left. */
export function dropOldest<Value>(
  map: Map<string, Value>,
  max: number,
  onDrop?: (value: Value) => void,
): void {
  for (const [key, value] of map) {
    if (map.size <= max) {
      return;
    }
    map.delete(key);
    onDrop?.(value);
  }
}

/** The models of one service by name, `name@version` and id. */
export class NamedModels {
  private readonly models: Map<string, VersionedModel>;
  private readonly byId: Map<string, VersionedModel>;

  /** @param shared what all who keep models of the service at this place know; it is changed in place */
  constructor(protected readonly shared: SharedCards) {
    this.models = shared.section.models;
    this.byId = shared.byId;
  }

  /** The cards in charge, the newest first; `dead` marks those that the service does not have any more. */
  list(): (ModelCard & { dead?: true })[] {
    return [...this.models.values()]
      .map((model) =>
        model.inCharge.deadAt === undefined ? model.card() : { ...model.card(), dead: true as const },
      )
      .reverse();
  }

  /** The card in charge of a name, or of `name@version`, unless its model was found dead a moment ago. */
  get(name: string): ModelCard | undefined {
    const found = this.find(name);
    return found === undefined || isDead(found.version) ? undefined : found.model.card(found.version);
  }

  /** The card of that model, in charge or not. */
  byFittedId(id: string): ModelCard | undefined {
    const model = this.byId.get(id);
    return model?.card(model.byFittedId(id));
  }

  /** As `byFittedId`, unless the model was found dead a moment ago. */
  livingById(id: string): ModelCard | undefined {
    const version = this.byId.get(id)?.byFittedId(id);
    return version === undefined || isDead(version) ? undefined : this.byFittedId(id);
  }

  /**
   * A living card fitted from the same train set with the same options: one of that name, or else one in charge of
   * another. `aside`: it is of that name, and was rolled back from or came too late.
   */
  byFingerprint(fingerprint: string, name: string): { card: ModelCard; aside: boolean } | undefined {
    const { models } = this;
    const isSame = (one: KeptVersion): boolean => one.fingerprint === fingerprint && one.deadAt === undefined;
    const own = models.get(name);
    // Where the service has lost the one in charge, others of the same train set are most likely gone too.
    const isLost = own?.inCharge.fingerprint === fingerprint && own.inCharge.deadAt !== undefined;
    const version = isLost ? undefined : own && [own.inCharge, ...own.versions].find(isSame);
    if (version !== undefined) {
      return { card: own!.card(version), aside: own!.isAside(version) };
    }
    const other = [...models.values()].findLast(({ inCharge }) => isSame(inCharge));
    return other && { card: other.card(), aside: false };
  }

  /** Whether there is a model of the name, or `name@version`, at all, dead or alive. */
  has(name: string): boolean {
    return this.find(name) !== undefined;
  }

  /** The model of the name, or that `name@version` is a version of, whether there is such a version or not. */
  named(name: string): VersionedModel | undefined {
    return this.models.get(name) ?? this.models.get(readAddress(name)?.name ?? '');
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
    const { models } = this;
    const { fits } = this.shared;
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
    models.delete(card.name);
    models.set(card.name, model);
    const kept = model.card(model.byFittedId(card.fitted_train_set_id));
    if (!isThere) {
      indexById(this.shared, before, model);
      if (gone.length > 0) {
        releaseVersions(this.shared, gone);
      }
      dropOldest(models, MAX_MODELS, (old) => {
        indexById(this.shared, old, undefined);
        releaseVersions(this.shared, old.versions);
      });
      this.shared.file?.changed();
    }
    fits.arrived(kept.name);
    fits.arrived(`${kept.name}@${kept.version}`);
    return kept;
  }

  /**
   * The id of the model that a roll back would put in charge: see `rollBack`.
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBackTo(name: string, to: true | number): string {
    return earlierVersion(this.models.get(name), name, to).version.card.fitted_train_set_id;
  }

  /**
   * Puts an earlier version of the name in charge, between two batches: `true` for the one before the one in charge, or
   * the number of any that is kept. Fits of the name that are under way do not take charge any more.
   *
   * @returns its card
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBack(name: string, to: true | number): ModelCard {
    const { model, version } = earlierVersion(this.models.get(name), name, to);
    const rolled = model.withCharge(version);
    this.replace(model, rolled);
    const { fits, section } = this.shared;
    fits.overtake(name);
    for (const fit of section.pending.values()) {
      if (fit.card.name === name) {
        fit.late = true;
      }
    }
    return rolled.card();
  }

  /**
   * Publishes the version in charge of a name: it gets the next number, unless nothing has changed since the name was
   * last published.
   *
   * @returns its card, with `published`
   * @throws ServiceError `model.unknown`
   */
  publish(name: string): ModelCard & { published: Publication } {
    const model = this.models.get(name);
    if (model === undefined) {
      throw new ServiceError('model.unknown', `There is no model "${name}" to publish.`);
    }
    const { section } = this.shared;
    const last = section.published ?? { by: randomUUID(), number: 0 };
    const newest = Math.max(0, ...model.versions.map(({ published }) => published?.number ?? 0));
    const before = newest > 0 ? model.inCharge.published : undefined;
    const published =
      before?.number === newest ? before : { by: last.by, number: Math.max(last.number, newest) + 1 };
    let after = model;
    if (published !== before) {
      after = model.withPublication(published);
      this.replace(model, after);
    }
    if (published.by === last.by && published.number > last.number) {
      section.published = published;
    }
    return { ...after.card(), published };
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
    const { models } = this;
    const model = models.get(name);
    if (model === undefined) {
      throw new ServiceError('model.unknown', `There is no model "${name}" to rename.`);
    }
    if (to === name) {
      return model.card();
    }
    this.assertFree(to);
    models.delete(name);
    const renamed = model.renamed(to);
    this.replace(model, renamed);
    this.shared.fits.arrived(to);
    return renamed.card();
  }

  /**
   * Chooses from which probability on the model in charge answers one of its two classes, or that it answers the more
   * probable one.
   *
   * @returns its card
   * @throws ServiceError `model.unknown`, `validation.failed`
   */
  chooseThreshold(name: string, wish: ThresholdWish): ModelCard {
    const model = this.models.get(name);
    if (model === undefined) {
      throw new ServiceError('model.unknown', `There is no model "${name}" to choose a threshold for.`);
    }
    const threshold = wish === null ? undefined : thresholdBy(model.inCharge.card, wish);
    const chosen = model.withThreshold(threshold);
    this.replace(model, chosen);
    return chosen.card();
  }

  /**
   * Chooses what a miss and a false alarm of a model cost, or that nobody knows. A threshold that is the best for costs
   * is found anew, with the curve of the version in charge.
   *
   * @returns its card
   * @throws ServiceError `model.unknown`; `validation.failed` for a model that can have no costs
   */
  async chooseCosts(name: string, costs: ErrorCosts | null): Promise<ModelCard> {
    const { references } = this.shared;
    // Another version may take charge while the reference is read.
    for (let id: string | undefined; ;) {
      const reference = id === undefined ? undefined : await references.get(id);
      const model = this.models.get(name);
      if (model === undefined) {
        throw new ServiceError('model.unknown', `There is no model "${name}" to choose costs for.`);
      }
      const { card } = model.inCharge;
      if (card.fitted_train_set_id !== id) {
        id = card.fitted_train_set_id;
        continue;
      }
      const given = costs === null ? undefined : readCosts(costs, card.classes);
      const next = withCosts(card, given, given && soughtCurve(card, thresholdCurveOf(reference?.curves)));
      const own: FittedModel = { ...next, costs_chosen: true };
      if (costs === null) {
        delete own.costs_chosen;
      }
      const threshold = card.threshold && keptThreshold(card.threshold, own);
      const chosen = model.withThreshold(threshold, own);
      this.replace(model, chosen);
      return chosen.card();
    }
  }

  /** Forgets a model with all of its versions; the service may remove them then. @throws ServiceError `model.unknown` */
  remove(name: string): void {
    const { models } = this;
    const model = models.get(name);
    if (model === undefined) {
      throw new ServiceError('model.unknown', `There is no model "${name}" to delete.`);
    }
    models.delete(name);
    indexById(this.shared, model, undefined);
    releaseVersions(this.shared, model.versions);
    this.shared.file?.changed();
  }

  /** @throws ServiceError `validation.failed` for a name that is taken, empty or much too long */
  assertFree(name: string): void {
    if (name.trim() === '') {
      throw new ServiceError('validation.failed', 'A model needs a name.');
    }
    if (name.length > MAX_NAME || /\p{Surrogate}/u.test(name)) {
      throw new ServiceError(
        'validation.failed',
        `The name of a model is a text of at most ${MAX_NAME} characters.`,
      );
    }
    if (this.models.has(name)) {
      throw new ServiceError('validation.failed', `There is a model "${name}" already: choose another name.`);
    }
  }

  /** The service answered 404 for the id. */
  markDead(fittedTrainSetId: string): void {
    this.setDead(fittedTrainSetId, Date.now());
  }

  /** The service answered for an id that was marked dead. */
  markAlive(fittedTrainSetId: string): void {
    if (this.byId.get(fittedTrainSetId)?.byFittedId(fittedTrainSetId)?.deadAt !== undefined) {
      this.setDead(fittedTrainSetId, undefined);
    }
  }

  private setDead(id: string, deadAt: number | undefined): void {
    for (const { versions } of this.models.values()) {
      for (const version of versions) {
        if (version.card.fitted_train_set_id === id) {
          version.deadAt = deadAt;
          this.shared.file?.changed();
        }
      }
    }
  }

  /** The version that a name means: an exact name first, then `name@version`. */
  private find(name: string): { model: VersionedModel; version: KeptVersion } | undefined {
    const { models } = this;
    const exact = models.get(name);
    if (exact !== undefined) {
      return { model: exact, version: exact.inCharge };
    }
    const address = readAddress(name);
    const model = models.get(address?.name ?? '');
    const version = address && model?.find(address.version);
    return version && { model: model!, version };
  }

  private replace(before: VersionedModel, after: VersionedModel): void {
    this.models.set(after.name, after);
    indexById(this.shared, before, after);
    this.shared.file?.changed();
  }
}

/** `name@version` in its parts. */
function readAddress(name: string): { name: string; version: number } | undefined {
  const [, model, version] = /^(.+)@([1-9]\d{0,8})$/s.exec(name) ?? [];
  return model === undefined ? undefined : { name: model, version: Number(version) };
}

/** A card may be that of a version already. It is changed in place. */
function withoutVersion(card: FittedModel & Partial<ModelCard>): FittedModel {
  delete card.version;
  delete card.published;
  delete card.versions;
  return card;
}

function isDead({ deadAt }: KeptVersion): boolean {
  return deadAt !== undefined && Date.now() - deadAt < DEAD_MS;
}
