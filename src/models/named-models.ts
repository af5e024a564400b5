import { isDeepStrictEqual } from 'node:util';

import { isObject } from '../util/values';
import { ServiceError } from '../wire/service-error';
import type { FittedModel, ModelCard, ModelVersion, Publication, VersionReason } from './cards';

/** Names that have models; and models that are kept under each. */
const MAX_NAMES = 2000;
const KEPT_VERSIONS = 5;
/** Longest name that a model can be given later: it is part of URLs. */
const MAX_NAME = 500;

/** @throws ServiceError `validation.failed` for a name that is empty, much too long or no text that a URL can hold */
export function assertModelName(name: string): void {
  if (name.trim() === '') {
    throw new ServiceError('validation.failed', 'A model needs a name.');
  }
  if (name.length > MAX_NAME || /\p{Surrogate}/u.test(name)) {
    throw new ServiceError(
      'validation.failed',
      `The name of a model is a text of at most ${MAX_NAME} characters.`,
    );
  }
}

/** One version of a model, as it is stored. */
export interface KeptVersion {
  version: number;
  card: FittedModel;
  why: VersionReason;
  /** The version that was in charge when it came; left out for the first. */
  before?: number;
  /** Hash of the train set and the options: an equal one needs no fit. */
  fingerprint?: string;
  /** The last time that it was published, here or where it came from. */
  published?: Publication;
  /** Milliseconds since the epoch when the service last said that it does not have the model. */
  deadAt?: number;
}

/** A dead model is asked for again after this, since a 404 may have come from something on the way. */
const DEAD_MS = 60_000;

export function isDead({ deadAt }: KeptVersion): boolean {
  // Negative where the clock was set back since.
  const age = Date.now() - (deadAt ?? -Infinity);
  return age >= 0 && age < DEAD_MS;
}

/** What becomes a version. */
export type NewVersion = Pick<KeptVersion, 'card' | 'fingerprint' | 'published'> & {
  /** Default `refit`. */
  why?: VersionReason;
  /** False for a fit that came too late: the version in charge stays. Default true. */
  takesCharge?: boolean;
};

/** All that is stored under one name: its versions, one of them in charge. Immutable: `with…` return another. */
export class VersionedModel {
  private readonly cards = new Map<number, ModelCard>();

  private constructor(
    /** The newest first; never empty. */
    readonly versions: readonly KeptVersion[],
    readonly inCharge: KeptVersion,
  ) {}

  /** The first model of a name. */
  static first({ card, fingerprint, published, why = 'first' }: NewVersion): VersionedModel {
    const version: KeptVersion = { version: 1, card, why, fingerprint, ...(published && { published }) };
    return new VersionedModel([version], version);
  }

  /** Versions as a file keeps them, in any order. */
  static of(inCharge: KeptVersion, others: readonly KeptVersion[]): VersionedModel {
    const versions = [inCharge, ...others].sort((a, b) => b.version - a.version);
    return new VersionedModel(versions, inCharge);
  }

  get name(): string {
    return this.inCharge.card.name;
  }

  find(version: number): KeptVersion | undefined {
    return this.versions.find((one) => one.version === version);
  }

  /** The newest version of that model. */
  byFittedId(id: string): KeptVersion | undefined {
    return this.versions.find(({ card }) => card.fitted_train_set_id === id);
  }

  /** The card of a version, with the list of all. */
  card(version: KeptVersion = this.inCharge): ModelCard {
    let card = this.cards.get(version.version);
    if (card === undefined) {
      const versions = this.versions.map(listed);
      const { published } = version;
      card = { ...version.card, version: version.version, ...(published && { published }), versions };
      this.cards.set(version.version, card);
    }
    return card;
  }

  /** The versions that were in charge before the one in charge, the nearest first. */
  *before(): Generator<KeptVersion> {
    for (let at = this.inCharge; at.before !== undefined;) {
      const next = this.find(at.before);
      // Those in a file may point anywhere.
      if (next === undefined || next.version >= at.version) {
        return;
      }
      yield next;
      at = next;
    }
  }

  /**
   * The version that a roll back puts in charge.
   * @param to `true` for the one before the one in charge, or the number of any that is kept
   * @throws ServiceError `rollback.impossible` where it is not there, or the service has lost it
   */
  earlier(to: true | number): KeptVersion {
    const version = to === true ? [...this.before()].find((one) => one.deadAt === undefined) : this.find(to);
    if (version !== undefined && version.deadAt === undefined) {
      return version;
    }
    const { name, inCharge } = this;
    const why =
      version !== undefined
        ? `the service does not have version ${version.version} any more`
        : to !== true
          ? `there is no version ${to}`
          : `nothing that the service still has was in charge before version ${inCharge.version}`;
    const kept = this.versions.map((one) => one.version).reverse();
    throw new ServiceError(
      'rollback.impossible',
      `The model "${name}" cannot be rolled back: ${why}. Kept are: ${kept.join(', ')}; version ${inCharge.version} is in charge.`,
    );
  }

  /** It is not in charge and was not on the way to the one in charge: rolled back from, or too late. */
  isAside(version: KeptVersion): boolean {
    return version !== this.inCharge && ![...this.before()].includes(version);
  }

  /** With a model more; the same model as the one in charge takes its place. `gone`: what was dropped. */
  withVersion(added: NewVersion): { model: VersionedModel; gone: KeptVersion[] } {
    const { inCharge } = this;
    const { fingerprint, published, why = 'refit', takesCharge = true } = added;
    const card = this.sharingColumns(added.card);
    if (card.fitted_train_set_id === inCharge.card.fitted_train_set_id) {
      const same: KeptVersion = { ...inCharge, card, fingerprint, ...(published && { published }) };
      delete same.deadAt;
      const others = this.versions.filter((one) => one !== inCharge);
      return { model: VersionedModel.of(same, others), gone: [] };
    }
    const version = this.versions[0]!.version + 1;
    const next: KeptVersion = {
      version,
      card,
      why: takesCharge ? why : 'late',
      before: inCharge.version,
      fingerprint,
      ...(published && { published }),
    };
    const all = [next, ...this.versions];
    return (takesCharge ? new VersionedModel(all, next) : new VersionedModel(all, inCharge)).bounded();
  }

  /** The same models as the newest versions of that one, the one in charge of them in charge. */
  following(before: VersionedModel): VersionedModel {
    let model = before;
    for (const { card, fingerprint, published, why } of this.versions.toReversed()) {
      model = model.withVersion({ card, fingerprint, published, why: why === 'first' ? 'refit' : why }).model;
    }
    return model.withCharge(model.byFittedId(this.inCharge.card.fitted_train_set_id)!);
  }

  /** With another of its versions in charge. */
  withCharge(version: KeptVersion): VersionedModel {
    return new VersionedModel(this.versions, version);
  }

  /** With another threshold for the version in charge, or none, and what else its card says now. */
  withThreshold(threshold: FittedModel['threshold'], own: FittedModel = this.inCharge.card): VersionedModel {
    const card = { ...own, threshold };
    if (threshold === undefined) {
      delete card.threshold;
    }
    return this.withInCharge({ ...this.inCharge, card });
  }

  /** With the version in charge published. */
  withPublication(published: Publication): VersionedModel {
    return this.withInCharge({ ...this.inCharge, published });
  }

  /**
   * What the version in charge is published as: what it was, unless the name was published anew since, else the next.
   * @param last of all models that were published from here
   */
  nextPublication(last: Publication): Publication {
    const newest = Math.max(0, ...this.versions.map(({ published }) => published?.number ?? 0));
    const { published } = this.inCharge;
    return newest > 0 && published?.number === newest
      ? published
      : { by: last.by, number: Math.max(last.number, newest) + 1 };
  }

  /** The newest of a publisher that there is among its versions. */
  findLast(by: string): number {
    return Math.max(
      0,
      ...this.versions.map(({ published }) => (published?.by === by ? published.number : 0)),
    );
  }

  renamed(name: string): VersionedModel {
    const versions = this.versions.map((one) => ({ ...one, card: { ...one.card, name } }));
    return new VersionedModel(versions, versions[this.versions.indexOf(this.inCharge)]!);
  }

  /** With another state of the version in charge. */
  private withInCharge(next: KeptVersion): VersionedModel {
    const versions = this.versions.map((one) => (one === this.inCharge ? next : one));
    return new VersionedModel(versions, next);
  }

  /** Without the oldest versions beyond those that are kept. The one in charge stays, and the one to go back to. */
  private bounded(): { model: VersionedModel; gone: KeptVersion[] } {
    const gone: KeptVersion[] = [];
    let { versions } = this as { versions: readonly KeptVersion[] };
    const [previous] = this.before();
    while (versions.length > KEPT_VERSIONS) {
      const oldest = versions.findLast((one) => one !== this.inCharge && one !== previous)!;
      gone.push(oldest);
      versions = versions.filter((one) => one !== oldest);
    }
    if (gone.length === 0) {
      return { model: this, gone };
    }
    // What came after one that goes came after the one before that.
    const kept = versions.map((one) => ({ ...one, before: this.nearest(one.before, gone) }));
    return { model: new VersionedModel(kept, kept[versions.indexOf(this.inCharge)]!), gone };
  }

  private nearest(before: number | undefined, gone: readonly KeptVersion[]): number | undefined {
    const left = gone.find(({ version }) => version === before);
    return left === undefined ? before : this.nearest(left.before, gone);
  }

  /** Most refits are of the same columns: they are held, and written, once. */
  private sharingColumns(card: FittedModel): FittedModel {
    const { columns } = this.inCharge.card;
    return isDeepStrictEqual(columns, card.columns) ? { ...card, columns } : card;
  }

  /** As it is written: the one in charge as versions of this package without versions wrote their only one. */
  toJSON(): object {
    const { columns } = this.inCharge.card;
    const others = this.versions
      .filter((one) => one !== this.inCharge)
      .map((one) =>
        one.card.columns === columns ? { ...one, card: { ...one.card, columns: undefined } } : one,
      );
    return { ...this.inCharge, ...(others.length > 0 && { others }) };
  }
}

function listed({ version, why, card, published }: KeptVersion): ModelVersion {
  const { fitted_at, rows, scores, compared, doubts } = card;
  return {
    version,
    fitted_at,
    rows,
    why,
    ...(scores !== undefined && { scores }),
    ...(doubts !== undefined && { doubted: true as const }),
    ...(published !== undefined && { published }),
    ...(compared !== undefined && { compared }),
  };
}

/** A version, and the model that it is a version of. */
interface FoundVersion {
  model: VersionedModel;
  version: KeptVersion;
}

/** The models of one service, the newest last: found by name, by `name@version`, and by the id of any version. */
export class NamedModels {
  private readonly byName = new Map<string, VersionedModel>();
  /** By the ids of all versions. Where several names have the same model, one of them. */
  private readonly byId = new Map<string, VersionedModel>();

  [Symbol.iterator](): Iterator<VersionedModel> {
    return this.byName.values();
  }

  get size(): number {
    return this.byName.size;
  }

  /** The model of exactly that name. */
  get(name: string): VersionedModel | undefined {
    return this.byName.get(name);
  }

  /** The model of that name, or that `name@version` is a version of, whether there is such a version or not. */
  addressed(address: string): VersionedModel | undefined {
    return this.byName.get(address) ?? this.byName.get(readAddress(address)?.name ?? '');
  }

  /** The version that a name means: an exact name first, then `name@version`. */
  find(address: string): FoundVersion | undefined {
    const exact = this.byName.get(address);
    if (exact !== undefined) {
      return { model: exact, version: exact.inCharge };
    }
    const { name = '', version: number = 0 } = readAddress(address) ?? {};
    const model = this.byName.get(name);
    const version = model?.find(number);
    return version && { model: model!, version };
  }

  findById(id: string): FoundVersion | undefined {
    const model = this.byId.get(id);
    const version = model?.byFittedId(id);
    return version && { model: model!, version };
  }

  /**
   * A version of the same train set and options that the service is not known to have lost: one of that name, or else
   * one in charge of another.
   */
  findByFingerprint(fingerprint: string, name: string): FoundVersion | undefined {
    const isSame = (one: KeptVersion): boolean => one.fingerprint === fingerprint && one.deadAt === undefined;
    const own = this.byName.get(name);
    // Where the service has lost the one in charge, others of the same train set are most likely gone too.
    const isLost = own?.inCharge.fingerprint === fingerprint && own.inCharge.deadAt !== undefined;
    const version = isLost ? undefined : own && [own.inCharge, ...own.versions].find(isSame);
    if (version !== undefined) {
      return { model: own!, version };
    }
    const other = [...this].findLast(({ inCharge }) => isSame(inCharge));
    return other && { model: other, version: other.inCharge };
  }

  /** Puts a model in the place of the one of its name, or at the end. */
  set(model: VersionedModel): void {
    const before = this.byName.get(model.name);
    this.byName.set(model.name, model);
    if (before !== model) {
      this.forgetIds(before);
      for (const { card } of model.versions) {
        this.byId.set(card.fitted_train_set_id, model);
      }
    }
  }

  /** As `set`, always at the end. @returns what is dropped where there are too many names */
  setNewest(model: VersionedModel): KeptVersion[] {
    this.delete(model.name);
    this.set(model);
    const gone = [...this].slice(0, Math.max(0, this.size - MAX_NAMES));
    for (const { name } of gone) {
      this.delete(name);
    }
    return gone.flatMap(({ versions }) => versions);
  }

  delete(name: string): void {
    const before = this.byName.get(name);
    this.byName.delete(name);
    this.forgetIds(before);
  }

  /** A model that goes is still meant where another name has it too. */
  private forgetIds(gone: VersionedModel | undefined): void {
    for (const { card } of gone?.versions ?? []) {
      const id = card.fitted_train_set_id;
      if (this.byId.get(id) === gone) {
        this.byId.delete(id);
        const other = [...this].find((model) => model.byFittedId(id) !== undefined);
        if (other !== undefined) {
          this.byId.set(id, other);
        }
      }
    }
  }
}

/** `name@version` in its parts. */
function readAddress(address: string): { name: string; version: number } | undefined {
  const [, name, version] = /^(.+)@([1-9]\d{0,8})$/s.exec(address) ?? [];
  return name === undefined ? undefined : { name, version: Number(version) };
}

/** Whether a part of a file is a publication; the file may come from anywhere. */
export function isPublication(value: unknown): value is Publication {
  return (
    isObject(value) &&
    typeof value.by === 'string' &&
    Number.isSafeInteger(value.number) &&
    Number(value.number) > 0
  );
}
