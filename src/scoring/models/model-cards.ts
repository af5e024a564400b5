import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';

import { cloneJson } from '../../util/json';
import { ServiceError } from '../../wire/service-error';
import { ReferenceFiles } from '../reference/reference-files';
import type { Reference } from '../reference/types';
import type { FittedModel, ModelCard, UploadCard } from '../types';
import { CardFile, newSection, type PendingFit, type ServiceSection } from './card-file';
import { FitsUnderWay, type FitUnderWay } from './fits-under-way';
import { addFormer, superfluous, unmeant } from './former-models';
import { type KeptVersion, type NewVersion, VersionedModel } from './versioned-model';

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
  byId: Map<string, VersionedModel>;
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
      this.shared = newShared(newSection(), new ReferenceFiles(undefined, options.service));
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

  /** The cards in charge, the newest first; `dead` marks those that the service does not have any more. */
  list(): (ModelCard & { dead?: true })[] {
    return [...this.shared.section.models.values()]
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
    const model = this.shared.byId.get(id);
    return model?.card(model.byFittedId(id));
  }

  /** As `byFittedId`, unless the model was found dead a moment ago. */
  livingById(id: string): ModelCard | undefined {
    const version = this.shared.byId.get(id)?.byFittedId(id);
    return version === undefined || isDead(version) ? undefined : this.byFittedId(id);
  }

  /**
   * A living card fitted from the same train set with the same options: one of that name, or else one in charge of
   * another. `aside`: it is of that name, and was rolled back from or came too late.
   */
  byFingerprint(fingerprint: string, name: string): { card: ModelCard; aside: boolean } | undefined {
    const { models } = this.shared.section;
    const isSame = (one: KeptVersion): boolean => one.fingerprint === fingerprint && one.deadAt === undefined;
    const own = models.get(name);
    const version = own && [own.inCharge, ...own.versions].find(isSame);
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
    return (
      this.shared.section.models.get(name) ?? this.shared.section.models.get(addressOf(name)?.name ?? '')
    );
  }

  /**
   * Keeps a copy as another version of its name, in charge of it: what a flow does to its card changes nothing here.
   * The model that is in charge already stays the version that it is, and is not written again.
   *
   * @returns the card of that version
   */
  put(
    given: FittedModel,
    fingerprint?: string,
    more: Omit<NewVersion, 'card' | 'fingerprint'> = {},
  ): ModelCard {
    const { models } = this.shared.section;
    const card = withoutVersion(cloneJson(given));
    const added: NewVersion = { card, ...(fingerprint !== undefined && { fingerprint }), ...more };
    const before = models.get(card.name);
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
      this.index(before, model);
      this.release(gone);
      dropOldest(models, MAX_MODELS, (old) => {
        this.index(old, undefined);
        this.release(old.versions);
      });
      this.file?.changed();
    }
    this.shared.fits.arrived(card.name);
    this.shared.fits.arrived(`${card.name}@${kept.version}`);
    return kept;
  }

  /**
   * The id of the model that a roll back would put in charge: see `rollBack`.
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBackTo(name: string, to: true | number): string {
    return this.earlier(name, to).version.card.fitted_train_set_id;
  }

  /**
   * Puts an earlier version of the name in charge, between two batches: `true` for the one before the one in charge, or
   * the number of any that is kept. Fits of the name that are under way do not take charge any more.
   *
   * @returns its card
   * @throws ServiceError `model.unknown`, `rollback.impossible`
   */
  rollBack(name: string, to: true | number): ModelCard {
    const { model, version } = this.earlier(name, to);
    this.shared.fits.overtake(name);
    for (const fit of this.shared.section.pending.values()) {
      if (fit.card.name === name) {
        fit.late = true;
      }
    }
    const rolled = model.withCharge(version);
    this.replace(model, rolled);
    return rolled.card();
  }

  /**
   * Gives a model another name, with all of its versions.
   * @throws ServiceError `model.unknown`, `validation.failed` for a name that is taken or empty
   */
  rename(name: string, to: string): ModelCard {
    const { models } = this.shared.section;
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

  /** Forgets a model with all of its versions; the service may remove them then. @throws ServiceError `model.unknown` */
  remove(name: string): void {
    const { models } = this.shared.section;
    const model = models.get(name);
    if (model === undefined) {
      throw new ServiceError('model.unknown', `There is no model "${name}" to delete.`);
    }
    models.delete(name);
    this.index(model, undefined);
    this.release(model.versions);
    this.file?.changed();
  }

  /** @throws ServiceError `validation.failed` for a name that is taken or empty */
  assertFree(name: string): void {
    if (name === '') {
      throw new ServiceError('validation.failed', 'A model needs a name.');
    }
    if (this.shared.section.models.has(name)) {
      throw new ServiceError('validation.failed', `There is a model "${name}" already: choose another name.`);
    }
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
    if (this.shared.byId.get(fittedTrainSetId)?.byFittedId(fittedTrainSetId)?.deadAt !== undefined) {
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

  /** Notes a model that was fitted and is not kept under any name: the service may remove it once nobody uses it. */
  discard({ fitted_train_set_id: fitted, train_set_upload_id: upload }: FittedModel): void {
    addFormer(this.shared.section, [{ fitted, upload }]);
    this.file?.changed();
  }

  /** Models that are not kept any more, of all names, and may be removed from the service: see `superfluous`. */
  superfluous(): { fitted: string; upload?: string }[] {
    return superfluous(this.shared.section, (id) => this.isHeld(id));
  }

  /** The service does not have a former model any more. */
  forgetFormer(fittedTrainSetId: string): void {
    const { section } = this.shared;
    section.former = section.former.filter(({ fitted }) => fitted !== fittedTrainSetId);
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

  /** The fit came to nothing: what was kept of its train set goes too. */
  failPending(fittedTrainSetId: string): void {
    this.removePending(fittedTrainSetId);
    this.dropReferences([fittedTrainSetId]);
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
        return { own, inCharge: this.shared.section.models.get(card.name)!.card() };
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

  /** Removes what is kept of train sets of those models that no name means any more. */
  private dropReferences(ids: readonly string[]): void {
    for (const id of unmeant(this.shared.section, ids)) {
      // It never fails, and `flush` waits for it.
      void this.shared.references.remove(id);
    }
  }

  private setDead(id: string, deadAt: number | undefined): void {
    for (const { versions } of this.shared.section.models.values()) {
      for (const version of versions) {
        if (version.card.fitted_train_set_id === id) {
          version.deadAt = deadAt;
          this.file?.changed();
        }
      }
    }
  }

  /** The version that a name means: an exact name first, then `name@version`. */
  private find(name: string): { model: VersionedModel; version: KeptVersion } | undefined {
    const { models } = this.shared.section;
    const exact = models.get(name);
    if (exact !== undefined) {
      return { model: exact, version: exact.inCharge };
    }
    const address = addressOf(name);
    const model = models.get(address?.name ?? '');
    const version = address && model?.find(address.version);
    return version && { model: model!, version };
  }

  private earlier(name: string, to: true | number): { model: VersionedModel; version: KeptVersion } {
    const model = this.shared.section.models.get(name);
    if (model === undefined) {
      throw new ServiceError('model.unknown', `There is no model "${name}": there is nothing to roll back.`);
    }
    const version =
      to === true ? [...model.before()].find((one) => one.deadAt === undefined) : model.find(to);
    if (version === undefined || version.deadAt !== undefined) {
      throw rollbackImpossible(model, to, version);
    }
    return { model, version };
  }

  private replace(before: VersionedModel, after: VersionedModel): void {
    this.shared.section.models.set(after.name, after);
    this.index(before, after);
    this.file?.changed();
  }

  /** Keeps the index by id: a model that goes is still meant where another name has it too. */
  private index(before: VersionedModel | undefined, after: VersionedModel | undefined): void {
    const { byId, section } = this.shared;
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

  private release(gone: readonly KeptVersion[]): void {
    addFormer(
      this.shared.section,
      gone.map(({ card }) => ({ fitted: card.fitted_train_set_id, upload: card.train_set_upload_id })),
    );
    this.dropReferences(gone.map(({ card }) => card.fitted_train_set_id));
  }
}

/** `name@version` in its parts. */
function addressOf(name: string): { name: string; version: number } | undefined {
  const [, model, version] = /^(.+)@([1-9]\d{0,8})$/s.exec(name) ?? [];
  return model === undefined ? undefined : { name: model, version: Number(version) };
}

/** A card may be that of a version already. It is changed in place. */
function withoutVersion(card: FittedModel & Partial<ModelCard>): FittedModel {
  delete card.version;
  delete card.versions;
  return card;
}

function rollbackImpossible(
  model: VersionedModel,
  to: true | number,
  dead: KeptVersion | undefined,
): ServiceError {
  const { name, inCharge } = model;
  const kept = model.versions.map(({ version }) => version).reverse();
  const why =
    dead !== undefined
      ? `the service does not have version ${dead.version} any more`
      : to !== true
        ? `there is no version ${to}`
        : `nothing that the service still has was in charge before version ${inCharge.version}`;
  return new ServiceError(
    'rollback.impossible',
    `The model "${name}" cannot be rolled back: ${why}. Kept are: ${kept.join(', ')}; version ${inCharge.version} is in charge.`,
  );
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
  const byId = new Map<string, VersionedModel>();
  for (const model of section.models.values()) {
    for (const { card } of model.versions) {
      byId.set(card.fitted_train_set_id, model);
    }
  }
  return { section, byId, fits: new FitsUnderWay(), held: new Map(), references };
}

function isDead({ deadAt }: KeptVersion): boolean {
  return deadAt !== undefined && Date.now() - deadAt < DEAD_MS;
}
