import { isObject } from '../../../util/json';
import type { FittedModel, ThresholdRule, UploadCard } from '../../types';
import { type FormerModel, type KeptVersion, VersionedModel } from './versioned-model';

/** A fit that goes on in the service: kept, so that it is taken up again after a restart. */
export interface PendingFit {
  /** The card as it will be, without what the service says of the fit. */
  card: FittedModel;
  fingerprint?: string;
  /** The threshold that it is to answer by. */
  threshold?: ThresholdRule;
  /** Its model has since been rolled back, so it does not take charge. */
  late?: true;
}

/** What is stored for one service. */
export interface ServiceSection {
  models: Map<string, VersionedModel>;
  uploads: Map<string, UploadCard>;
  /** Fits that go on in the service, by the id of the model that comes of them. */
  pending: Map<string, PendingFit>;
  /** Dropped models, the newest first, until the service has removed them. */
  former: FormerModel[];
}

/** Of the format of the file. */
export const CARDS_VERSION = 1;
/** Characters that are made and written at a time: what hundreds of wide models fill would hold the event loop. */
const PIECE = 64 * 1024;

/** @throws Error for what is no file of cards */
export function sectionsOf(body: unknown): Map<string, ServiceSection> {
  if (!isObject(body) || body.version !== CARDS_VERSION || !isObject(body.services)) {
    throw new Error('it does not hold model cards');
  }
  const sections = new Map<string, ServiceSection>();
  for (const [service, saved] of Object.entries(body.services)) {
    sections.set(service, sectionOf(saved));
  }
  return sections;
}

function sectionOf(saved: unknown): ServiceSection {
  if (!isObject(saved) || !Array.isArray(saved.models)) {
    throw new Error('it does not hold model cards');
  }
  const section = newSection();
  for (const record of saved.models as unknown[]) {
    if (isRecord(record)) {
      section.models.set(record.card.name, modelOf(record));
      // Of a version of this package that kept the ids alone.
      section.former.push(...formerOf(record.former));
    }
  }
  for (const upload of Array.isArray(saved.uploads) ? (saved.uploads as unknown[]) : []) {
    if (isObject(upload) && typeof upload.id === 'string') {
      section.uploads.set(upload.id, upload as unknown as UploadCard);
    }
  }
  for (const fit of Array.isArray(saved.pending) ? (saved.pending as unknown[]) : []) {
    if (isRecord(fit)) {
      section.pending.set(fit.card.fitted_train_set_id, fit);
    }
  }
  section.former.push(...formerOf(saved.former));
  return section;
}

export function newSection(): ServiceSection {
  return { models: new Map(), uploads: new Map(), pending: new Map(), former: [] };
}

/** Adds what a file holds to what came before it was read, which is newer. Models of one name are versions of it. */
export function putBefore(own: ServiceSection, saved: ServiceSection): void {
  mergeBefore(own.models, saved.models, (before, after) => after.following(before));
  mergeBefore(own.uploads, saved.uploads);
  mergeBefore(own.pending, saved.pending);
  own.former.push(...saved.former);
}

function mergeBefore<Value>(
  own: Map<string, Value>,
  saved: ReadonlyMap<string, Value>,
  join: (before: Value, after: Value) => Value = (_before, after) => after,
): void {
  const newer = [...own];
  own.clear();
  for (const [key, value] of saved) {
    own.set(key, value);
  }
  for (const [key, value] of newer) {
    const before = own.get(key);
    own.delete(key);
    own.set(key, before === undefined ? value : join(before, value));
  }
}

/** The text of the file: {version, services: {key: {models, uploads, pending, former}}}, a piece at a time. */
export function fileText(services: ReadonlyMap<string, ServiceSection>): Generator<string> {
  return pieces(records(services));
}

function* records(services: ReadonlyMap<string, ServiceSection>): Generator<string> {
  yield `{"version":${CARDS_VERSION},"services":{`;
  let comma = '';
  for (const [service, { models, uploads, pending, former }] of services) {
    yield `${comma}${JSON.stringify(service)}:{"models":[`;
    yield* list(models.values());
    yield '],"uploads":[';
    yield* list(uploads.values());
    yield '],"pending":[';
    yield* list(pending.values());
    yield '],"former":[';
    yield* list(former);
    yield ']}';
    comma = ',';
  }
  yield '}}';
}

function* list(items: Iterable<object>): Generator<string> {
  let comma = '';
  for (const item of [...items]) {
    yield comma + JSON.stringify(item);
    comma = ',';
  }
}

function* pieces(texts: Iterable<string>): Generator<string> {
  let piece = '';
  for (const text of texts) {
    piece += text;
    if (piece.length >= PIECE) {
      yield piece;
      piece = '';
    }
  }
  yield piece;
}

/** The version in charge, as it is written, with the others next to it. */
interface WrittenModel extends KeptVersion {
  others?: unknown;
  former?: unknown;
}

/** A model as the file keeps it. One of a version of this package without versions is the first of its name. */
function modelOf({ others, ...written }: WrittenModel): VersionedModel {
  const inCharge: KeptVersion = { ...written, version: written.version ?? 1, why: written.why ?? 'first' };
  Reflect.deleteProperty(inCharge, 'former');
  const { name, columns } = inCharge.card;
  const rest = (Array.isArray(others) ? (others as unknown[]) : []).flatMap((one): KeptVersion[] => {
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

/** The list as it should be; a card file may have been edited by hand. */
function formerOf(value: unknown): FormerModel[] {
  return Array.isArray(value)
    ? value.filter(
        (one): one is FormerModel =>
          isObject(one) && typeof one.fitted === 'string' && typeof one.upload === 'string',
      )
    : [];
}
