import { isDeepStrictEqual } from 'node:util';

import { isObject } from '../util/values';
import { ServiceError } from '../wire/service-error';
import type { FittedModel, ModelCard, ModelVersion, Publication, VersionReason } from './cards';

/** Models that are kept under a name. */
const KEPT_VERSIONS = 5;

/** A model that had a name and was dropped: what the service still holds of it. */
export interface FormerModel {
  /** `fitted_train_set_id` and `train_set_upload_id`; the same where it was not fitted yet when it was noted. */
  fitted: string;
  upload: string;
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
    ...{ version, fitted_at, rows, why },
    ...(scores !== undefined && { scores }),
    ...(doubts !== undefined && { doubted: true as const }),
    ...(published !== undefined && { published }),
    ...(compared !== undefined && { compared }),
  };
}

/**
 * The version that a roll back puts in charge.
 * @param model that of this name, if there is one
 * @param to `true` for the one before the one in charge, or the number of any that is kept
 * @throws ServiceError `model.unknown`; `rollback.impossible` where it is not there, or the service has lost it
 */
export function earlierVersion(
  model: VersionedModel | undefined,
  name: string,
  to: true | number,
): { model: VersionedModel; version: KeptVersion } {
  if (model === undefined) {
    throw new ServiceError('model.unknown', `There is no model "${name}": there is nothing to roll back.`);
  }
  const version = to === true ? [...model.before()].find((one) => one.deadAt === undefined) : model.find(to);
  if (version === undefined || version.deadAt !== undefined) {
    throw rollbackImpossible(model, to, version);
  }
  return { model, version };
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

/** Whether a part of a file is a publication; the file may come from anywhere. */
export function isPublication(value: unknown): value is Publication {
  return (
    isObject(value) &&
    typeof value.by === 'string' &&
    Number.isSafeInteger(value.number) &&
    Number(value.number) > 0
  );
}

/** The list as it should be; a card file may have been edited by hand. */
export function readFormer(value: unknown): FormerModel[] {
  return Array.isArray(value)
    ? value.filter(
        (one): one is FormerModel =>
          isObject(one) && typeof one.fitted === 'string' && typeof one.upload === 'string',
      )
    : [];
}
