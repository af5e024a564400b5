import { BoundedMap } from '../util/collections';
import { cloneJson, isObject } from '../util/values';
import type { FittedModel, Publication, ThresholdRule, UploadCard } from './cards';
import { isPublication, type KeptVersion, NamedModels, VersionedModel } from './named-models';

/** Models that are remembered until the service has removed them. */
const MAX_FORMER = 500;
const MAX_UPLOADS = 500;
const MAX_PENDING = 100;

/** A fit that goes on in the service: kept, so that it is taken up again after a restart. */
export interface PendingFit {
  /** The card as it will be, without what the service says of the fit. */
  card: FittedModel;
  fingerprint?: string;
  /** The threshold that it is to answer by. */
  threshold?: ThresholdRule;
  /** Its model has since been rolled back, or fitted anew, so it does not take charge. */
  late?: true;
}

/** A model that had a name and was dropped: what the service still holds of it. */
export interface FormerModel {
  /** `fitted_train_set_id` and `train_set_upload_id`; the same where it was not fitted yet when it was noted. */
  fitted: string;
  upload: string;
}

/** A name that was deleted or renamed. */
interface GoneName {
  name: string;
  /** The newest of the models that it meant. */
  fitted: string;
  /** Milliseconds since 1970. */
  at: number;
}

/** What a section held at one time: models never change, so that those that are the same objects have not. */
export interface SectionMark {
  models: Map<string, VersionedModel>;
  pending: ReadonlySet<string>;
}

/** What is stored for one service. */
export class ServiceSection {
  models = new NamedModels();
  uploads = new BoundedMap<string, UploadCard>(MAX_UPLOADS);
  /** Fits that go on in the service, by the id of the model that comes of them. */
  pending = new BoundedMap<string, PendingFit>(MAX_PENDING);
  /** Dropped models, the newest first, until the service has removed them. */
  former: FormerModel[] = [];
  /** The last deletions, by name: another process that still has the model deletes it too, once. */
  readonly gone = new BoundedMap<string, GoneName>(MAX_FORMER);
  /** The last publication of all: the next one has a higher number, whatever became of its model. */
  published: Publication | undefined;
  /** When the fits that go on in the service began here, as `AnnouncedFit` counts. */
  private readonly begun = new WeakMap<PendingFit, number>();

  /** @throws Error for what is no section of a file of cards */
  static read(saved: unknown): ServiceSection {
    if (!isObject(saved) || !Array.isArray(saved.models)) {
      throw new Error('it does not hold model cards');
    }
    const section = new ServiceSection();
    for (const record of saved.models as unknown[]) {
      if (isRecord(record)) {
        section.models.set(readModel(record));
        // Of a version of this package that kept the ids alone.
        section.former.push(...readFormer(record.former));
      }
    }
    for (const upload of readList(saved.uploads)) {
      if (isObject(upload) && typeof upload.id === 'string') {
        section.uploads.set(upload.id, upload as unknown as UploadCard);
      }
    }
    for (const fit of readList(saved.pending)) {
      if (isRecord(fit)) {
        section.pending.set(fit.card.fitted_train_set_id, fit);
      }
    }
    section.former.push(...readFormer(saved.former));
    for (const one of readList(saved.gone)) {
      if (isGoneName(one)) {
        section.gone.set(one.name, one);
      }
    }
    section.published = isPublication(saved.published) ? saved.published : undefined;
    return section;
  }

  /** As JSON, in pieces of one model, upload or fit: what there is now, whatever changes while the pieces are written. */
  write(): Generator<string> {
    const { models, uploads, pending, former, published } = this;
    const gone = [...this.gone.values()];
    return pieces(
      {
        models: [...models],
        uploads: [...uploads.values()],
        pending: [...pending.values()],
        former: [...former],
        ...(gone.length > 0 && { gone }),
      },
      published,
    );
  }

  /** What there is now, to tell later what has changed here since. */
  mark(): SectionMark {
    const models = new Map(Array.from(this.models, (model) => [model.name, model]));
    return { models, pending: new Set(this.pending.keys()) };
  }

  /** Removes a name with its models, which may be used under another one. */
  removeName(model: VersionedModel): void {
    const { name } = model;
    this.models.delete(name);
    // Later than the last of that name, though the clock may have been set back.
    const at = Math.max(Date.now(), (this.gone.get(name)?.at ?? 0) + 1);
    this.gone.set(name, { name, fitted: newestId(model), at });
  }

  /**
   * Takes in what another process has written to the file since. Of a model that has not changed here its state counts, as
   * long as it is not an older one; of one that has, its versions are kept beside those here, which stay in charge.
   * A name that it has deleted goes here too, unless there is a newer model of it.
   *
   * @param since what was here when the file was last read or written; what is taken in as it is is noted there
   */
  takeIn(written: ServiceSection, since: SectionMark): void {
    for (const [name, one] of written.gone) {
      // What came under the name since may be the same model.
      if (one.at > (this.gone.get(name)?.at ?? 0)) {
        this.gone.set(name, one);
        const own = this.models.get(name);
        if (own !== undefined && newestId(own) === one.fitted) {
          this.models.delete(name);
          since.models.delete(name);
        }
      }
    }
    for (const theirs of written.models) {
      const gone = this.gone.get(theirs.name);
      // The other one wrote before it had read what was deleted here.
      if (gone?.fitted === newestId(theirs) && gone.at > (written.gone.get(theirs.name)?.at ?? 0)) {
        continue;
      }
      const own = this.models.get(theirs.name);
      const before = since.models.get(theirs.name);
      const isNews = before === undefined || newest(theirs) > newest(before);
      if (own === undefined) {
        // Else it was deleted or renamed here.
        if (isNews) {
          this.release(this.models.setNewest(theirs));
        }
      } else if (own === before) {
        if (newest(theirs) >= newest(own)) {
          this.models.set(theirs);
        }
      } else if (isNews) {
        this.addBeside(own, theirs);
      }
      if (this.models.get(theirs.name) === theirs) {
        since.models.set(theirs.name, theirs);
      }
    }
    for (const [id, upload] of written.uploads) {
      if (!this.uploads.has(id)) {
        this.uploads.set(id, upload);
      }
    }
    for (const [id, fit] of written.pending) {
      const isKnown = since.pending.has(id) || this.models.findById(id) !== undefined;
      if (!this.pending.has(id) && !isKnown) {
        this.pending.set(id, fit);
      }
    }
    if ((written.published?.number ?? 0) > (this.published?.number ?? 0)) {
      this.published = written.published;
    }
  }

  private addBeside(own: VersionedModel, theirs: VersionedModel): void {
    let model = own;
    for (const { card, fingerprint, published } of theirs.versions.toReversed()) {
      if (model.byFittedId(card.fitted_train_set_id) === undefined) {
        const added = model.withVersion({ card, fingerprint, published, takesCharge: false });
        this.release(added.gone);
        ({ model } = added);
      }
    }
    this.models.set(model);
  }

  /** Adds what a file holds to what came before it was read, which is newer. Models of one name are versions of it. */
  putBefore(saved: ServiceSection): void {
    const own = { models: this.models, uploads: this.uploads, pending: this.pending };
    this.models = saved.models;
    this.uploads = saved.uploads;
    this.pending = saved.pending;
    for (const model of own.models) {
      const before = this.models.get(model.name);
      this.release(this.models.setNewest(before === undefined ? model : model.following(before)));
    }
    for (const [id, upload] of own.uploads) {
      this.uploads.set(id, upload);
    }
    for (const [id, fit] of own.pending) {
      this.pending.set(id, fit);
    }
    for (const [name, one] of saved.gone) {
      if (!this.gone.has(name)) {
        this.gone.set(name, one);
      }
    }
    this.former.push(...saved.former);
    this.published = saved.published ?? this.published;
  }

  /**
   * Notes a fit that goes on in the service, until its model is put: whatever ends this process before, it is not lost.
   * @param begun when it began, as `AnnouncedFit` counts
   */
  addPending(fit: PendingFit, begun: number): void {
    const { pending } = this;
    pending.delete(fit.card.fitted_train_set_id);
    const before = new Set(this.pendingBefore(begun));
    const own = cloneJson(fit);
    this.noteBegun(own, begun);
    const later = [...pending.values()].filter((one) => !before.has(one));
    // Those that it overtook on the way go behind it: after a restart, the last of a name takes charge.
    for (const one of [own, ...later]) {
      pending.set(one.card.fitted_train_set_id, one);
    }
  }

  noteBegun(fit: PendingFit, begun: number): void {
    this.begun.set(fit, begun);
  }

  /** The fits that go on in the service and began before; those that were not begun here did. */
  pendingBefore(begun: number): PendingFit[] {
    return [...this.pending.values()].filter((fit) => (this.begun.get(fit) ?? 0) < begun);
  }

  /** Versions have been dropped: the service may remove them. */
  release(gone: readonly KeptVersion[]): void {
    this.addFormer(
      gone.map(({ card }) => ({ fitted: card.fitted_train_set_id, upload: card.train_set_upload_id })),
    );
  }

  /** Notes that models are no longer needed. A model takes the place of its train set, which was noted before its fit. */
  addFormer(gone: readonly FormerModel[]): void {
    const uploads = new Set(gone.map(({ upload }) => upload));
    const others = this.former.filter(({ fitted }) => !uploads.has(fitted));
    this.former = [...gone, ...others].slice(0, MAX_FORMER);
  }

  /**
   * Notes the train sets that a fit had uploaded and no model is of, with what was fitted of them: the process was killed
   * before it had kept the card. Only while no fit is under way.
   */
  noteAbandoned(): void {
    const known = new Set([
      ...this.meant().map((card) => card.train_set_upload_id),
      ...this.former.map(({ upload }) => upload),
    ]);
    for (const { id, by_fit: byFit } of this.uploads.values()) {
      if (byFit === true && !known.has(id)) {
        this.former.push({ fitted: id, upload: id });
      }
    }
  }

  /** Models that any name means, in any version, or that are being fitted. */
  private meant(): FittedModel[] {
    return [
      ...[...this.models].flatMap(({ versions }) => versions.map(({ card }) => card)),
      ...[...this.pending.values()].map(({ card }) => card),
    ];
  }

  meantIds(): Set<string> {
    return new Set(this.meant().map((card) => card.fitted_train_set_id));
  }

  /**
   * Models that no version of any name refers to and nobody uses now. `upload` is left out where the
   * train set stays: other models are of it, or somebody has uploaded it on purpose.
   */
  superfluous(isHeld: (id: string) => boolean): { fitted: string; upload?: string }[] {
    const { uploads, former } = this;
    if (former.length === 0) {
      return [];
    }
    const meant = this.meant();
    const keptModels = new Set(meant.map((card) => card.fitted_train_set_id));
    const keptUploads = new Set(meant.map((card) => card.train_set_upload_id));
    const seen = new Set<string>();
    return former
      .filter(({ fitted }) => seen.size < seen.add(fitted).size)
      .filter(({ fitted }) => !keptModels.has(fitted) && !isHeld(fitted))
      .flatMap(({ fitted, upload }) => {
        const goes = uploads.get(upload)?.by_fit === true && !keptUploads.has(upload) && !isHeld(upload);
        return goes ? [{ fitted, upload }] : fitted === upload ? [] : [{ fitted }];
      });
  }
}

/** The version in charge, as it is written, with the others next to it. */
interface WrittenModel extends KeptVersion {
  others?: unknown;
  former?: unknown;
}

/** A model as the file keeps it. One of a version of this package without versions is the first of its name. */
function readModel({ others, ...written }: WrittenModel): VersionedModel {
  const inCharge: KeptVersion = { ...written, version: written.version ?? 1, why: written.why ?? 'first' };
  Reflect.deleteProperty(inCharge, 'former');
  const { name, columns } = inCharge.card;
  const rest = readList(others).flatMap((one): KeptVersion[] => {
    const whole = isObject(one) && isObject(one.card) && { ...one, card: { columns, ...one.card, name } };
    return isRecord(whole) && whole.version > 0 ? [whole] : [];
  });
  return VersionedModel.of(inCharge, rest);
}

function isRecord(value: unknown): value is WrittenModel {
  return (
    isObject(value) &&
    isObject(value.card) &&
    typeof value.card.name === 'string' &&
    typeof value.card.fitted_train_set_id === 'string' &&
    Array.isArray(value.card.columns)
  );
}

function isGoneName(value: unknown): value is GoneName {
  return (
    isObject(value) &&
    typeof value.name === 'string' &&
    typeof value.fitted === 'string' &&
    typeof value.at === 'number'
  );
}

function readFormer(value: unknown): FormerModel[] {
  return readList(value).filter(
    (one): one is FormerModel =>
      isObject(one) && typeof one.fitted === 'string' && typeof one.upload === 'string',
  );
}

/** A list as it should be; the file may have been edited by hand. */
function readList(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

function* pieces(
  lists: Record<string, readonly object[]>,
  published: Publication | undefined,
): Generator<string> {
  let start = '{';
  for (const [name, items] of Object.entries(lists)) {
    yield `${start}"${name}":[`;
    let comma = '';
    for (const item of items) {
      yield comma + JSON.stringify(item);
      comma = ',';
    }
    start = '],';
  }
  yield published === undefined ? ']}' : `],"published":${JSON.stringify(published)}}`;
}

function newestId({ versions }: VersionedModel): string {
  return versions[0]!.card.fitted_train_set_id;
}

function newest({ versions }: VersionedModel): number {
  return versions[0]!.version;
}
