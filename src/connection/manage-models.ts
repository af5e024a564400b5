import type { ModelCard, Reference } from '../models/cards';
import { checkedCard, unknownModel } from '../models/model-request';
import { isPublication } from '../models/named-models';
import { readReference } from '../models/reference-files';
import { isStillThere, type Service, type Work } from '../models/service';
import { kindByKey } from '../models/service-kind';
import { isThreshold } from '../models/threshold';
import { MAX_COLUMNS } from '../table/columns/header';
import { yieldToEventLoop } from '../util/concurrency';
import { cloneJson, isObject, readReason, tryParseJson } from '../util/values';
import { unzip, writeZip, zipBytes, type ZipEntry } from '../util/zip';
import { ServiceError, toServiceError } from '../wire/service-error';

const FORMAT = 'tabular-model';
const VERSION = 1;
const CARD_FILE = 'model.json';
const BYTES_FILE = 'model.bin';
/** Parsed at once: a card of thousands of columns with its reference. */
const MAX_CARD_BYTES = 16 * 1024 * 1024;
const PIECE = 1024 * 1024;
const EXPORT_MS = 120_000;
const IMPORT_MS = 120_000;

const TEXTS = ['name', 'target', 'service', 'fitted_at', 'train_set_upload_id'] as const;

/**
 * The card of a file, which anybody may have written. What is not as it should be is left out where a model can do
 * without.
 * @throws ServiceError `file.unreadable`
 */
function cardIn(value: unknown): ModelCard {
  let card: ModelCard;
  try {
    card = checkedCard(isObject(value) ? (value as unknown as ModelCard) : null);
  } catch {
    throw unreadableModel('its card is damaged');
  }
  const names = new Set(card.columns.map(({ name }) => name));
  if (
    TEXTS.some((name) => typeof card[name] !== 'string') ||
    card.name === '' ||
    names.size !== card.columns.length ||
    names.size > MAX_COLUMNS
  ) {
    throw unreadableModel('its card is damaged');
  }
  return Object.fromEntries(
    Object.entries(card).filter(([name, part]) => SOUND[name as keyof ModelCard]?.(part) ?? true),
  ) as unknown as ModelCard;
}

const isText = (part: unknown): boolean => typeof part === 'string';
const isNumber = (part: unknown): boolean => typeof part === 'number';
const areNumbers = (part: unknown): boolean => isObject(part) && Object.values(part).every(isNumber);
const isListWith =
  (isOne: (part: unknown) => boolean) =>
  (part: unknown): boolean =>
    Array.isArray(part) && part.every(isOne);
const isLabel = (part: unknown): boolean => isText(part) || isNumber(part) || typeof part === 'boolean';

/** Whether a part is what a fit writes there. */
const SOUND: Partial<Record<keyof ModelCard, (part: unknown) => boolean>> = {
  classes: isListWith(isLabel),
  scores: isScores,
  importance: isListWith(isImportance),
  limited: isListWith(isText),
  doubts: isListWith(isText),
  doubted_columns: isListWith(isText),
  threshold: isThreshold,
  thresholds: isThresholds,
  costs: isObject,
  costs_chosen: (part) => part === true,
  cleaned: isObject,
  repeated_rows: isNumber,
  order: (part) => part === 'time' || part === 'none',
  group: isText,
  folds: (part) => part === 'groups' || part === 'blocks',
  embargo: isNumber,
  relative_to: isText,
  trained_until: isText,
  published: isPublication,
  // The version that it was compared with is not in the file.
  compared: () => false,
};

function isScores(part: unknown): boolean {
  if (!isObject(part)) {
    return false;
  }
  const { from, baseline, baseline_now, ...own } = part;
  return (
    isText(from) &&
    areNumbers(baseline) &&
    (baseline_now === undefined || areNumbers(baseline_now)) &&
    areNumbers(own)
  );
}

function isImportance(part: unknown): boolean {
  return isObject(part) && isText(part.column) && isNumber(part.gain) && isNumber(part.permutation);
}

function isThresholds(part: unknown): boolean {
  if (!isObject(part)) {
    return false;
  }
  const { label, ...best } = part;
  return isLabel(label) && Object.values(best).every(areNumbers);
}

/*
 * A model in one file: a zip archive of `model.json` {format, version, exported_at, card, reference}, and, of the
 * embedded service, `model.bin`, which is the service's own affair. It holds no secret.
 */
/** Bytes of a file: it is held in memory. */
export const MAX_MODEL_FILE_BYTES = 288 * 1024 * 1024;

interface ExportedModel {
  card: ModelCard;
  reference?: Reference;
  /** The model itself, as the embedded service hands it out. */
  model?: Uint8Array;
}

/** A file that is ready to be written, a piece at a time. */
export interface ModelFile {
  /** A name for it, of letters that every file system takes. */
  name: string;
  bytes: number;
  pieces: AsyncIterable<Uint8Array>;
  /** The model itself stays in the service, and works wherever that service is used. */
  isCardAlone: boolean;
}

function modelFile({ card, reference, model }: ExportedModel): ModelFile {
  const head = { format: FORMAT, version: VERSION, exported_at: new Date().toISOString(), card, reference };
  const entries = [
    makeEntry(CARD_FILE, Buffer.from(JSON.stringify(head))),
    ...(model === undefined ? [] : [makeEntry(BYTES_FILE, model)]),
  ];
  return {
    name: fileName(card),
    bytes: zipBytes(entries),
    pieces: writeZip(entries),
    isCardAlone: model === undefined,
  };
}

/** All of a file, in memory. */
export async function wholeFile({ pieces }: ModelFile): Promise<Buffer> {
  const whole: Uint8Array[] = [];
  for await (const piece of pieces) {
    whole.push(piece);
  }
  return Buffer.concat(whole);
}

/** What a file holds, as far as it is this package's: the card and the reference are still to be looked at. */
interface ReadModel {
  card: unknown;
  reference: unknown;
  model?: Buffer;
}

/**
 * @param part `card`: without the model itself, which takes no time then
 * @throws ServiceError `file.unreadable` for a file that is damaged, something else, or of a later version;
 *   `limit.exceeded`
 */
async function readModelFile(file: Buffer, part: 'card' | 'all' = 'all'): Promise<ReadModel> {
  if (file.length > MAX_MODEL_FILE_BYTES) {
    throw new ServiceError(
      'limit.exceeded',
      `The file has ${file.length} bytes; a model may have ${MAX_MODEL_FILE_BYTES}.`,
    );
  }
  let files: Map<string, Buffer>;
  try {
    files = await unzip(file, MAX_MODEL_FILE_BYTES, part === 'card' ? CARD_FILE : undefined);
  } catch (error) {
    throw unreadableModel(`it is damaged, or no model: ${readReason(error)}`);
  }
  const text = files.get(CARD_FILE);
  if (text === undefined || text.length > MAX_CARD_BYTES) {
    throw unreadableModel(`it holds no ${CARD_FILE}`);
  }
  const head = tryParseJson(text.toString('utf8'));
  if (!isObject(head) || head.format !== FORMAT || typeof head.version !== 'number') {
    throw unreadableModel(`its ${CARD_FILE} is not of a model`);
  }
  if (head.version > VERSION) {
    throw unreadableModel(
      `a later version of this package wrote it (format ${head.version}; this one reads ${VERSION}): update the package`,
    );
  }
  const model = files.get(BYTES_FILE);
  return { card: head.card, reference: head.reference, ...(model !== undefined && { model }) };
}

function unreadableModel(why: string): ServiceError {
  return new ServiceError('file.unreadable', `The model cannot be imported from this file: ${why}.`);
}

function makeEntry(name: string, bytes: Uint8Array): ZipEntry {
  return { name, bytes: bytes.length, read: () => pieces(bytes) };
}

/** In pieces, so that making its checksum does not hold the event loop. */
async function* pieces(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE) {
    yield bytes.subarray(at, at + PIECE);
    await yieldToEventLoop();
  }
}

function fileName({ name, version }: ModelCard): string {
  const plain = name
    .normalize('NFKD')
    .replaceAll(/\p{M}+/gu, '')
    .replaceAll(/[^\w.-]+/g, '-')
    .replaceAll(/^[-.]+|[-.]+$/g, '');
  return `${plain.slice(0, 80) || 'model'}-${version}.tabular-model.zip`;
}

/**
 * A model as one file: the card, the reference of its train set and, from the embedded service, the model itself.
 *
 * @param name of the version in charge, or `name@version`
 * @throws ServiceError `model.unknown`; `config.invalid` where the model is train rows on this computer
 */
export async function exportModel(work: Work, name: string): Promise<ModelFile> {
  const { cards } = work;
  const card = cards.get(name);
  if (card === undefined) {
    throw unknownModel(name, cards);
  }
  return fetchModelFile(work, card);
}

/**
 * The model in charge of a name as a file for other computers, with the number of its publication, which is on disk by
 * then: no number is given twice.
 *
 * @throws ServiceError as `exportModel`
 */
export async function publishModel(work: Work, name: string): Promise<ModelFile> {
  const { cards } = work;
  const card = cards.publish(name);
  await cards.flush();
  return fetchModelFile(work, card);
}

async function fetchModelFile({ cards, service, signal }: Work, card: ModelCard): Promise<ModelFile> {
  const id = card.fitted_train_set_id;
  const release = cards.hold(id);
  try {
    const reference = await cards.references.get(id);
    const model = await service.exportModel(id, { signal, timeoutMs: EXPORT_MS });
    return modelFile({ card: cloneJson(card), reference, model });
  } finally {
    release();
  }
}

/**
 * Takes a model from the bytes of a file that `exportModel` made, here or elsewhere: the first version of its name. Nothing is
 * kept of a file that cannot be used; what the service has of it by then is noted for removal, as a former model. No
 * model is removed meanwhile: see `ModelCards.move`.
 *
 * @param name to keep it under; left out: the name that it had
 * @throws ServiceError `file.unreadable`, `limit.exceeded`; `validation.failed` for a name that is taken;
 *   `config.invalid` for a model of another service, or of an endpoint that keeps none
 */
export async function importModel(work: Work, file: Buffer, name: string | undefined): Promise<ModelCard> {
  const { cards } = work;
  const read = await readModelFile(file);
  const card = cardIn(read.card);
  card.name = name ?? card.name;
  cards.assertFree(card.name);
  const fitted = await broughtIn(work, card, read);
  // Another model may have taken the name by now.
  cards.assertFree(card.name);
  const kept = cards.put(fitted, undefined, { why: 'imported', published: card.published });
  await cards.flush();
  return cloneJson(kept);
}

/** What became of a model that came with a message. */
export interface TakenModel {
  /** The card in charge of its name. */
  card: ModelCard;
  /** It was not here before, and is in charge now. */
  isNew: boolean;
}

/**
 * Takes a published model in, under the name that it has: the newest version of it, in charge between two batches. One
 * that is not newer than the last of its publisher is left alone; one that was never published, if it is here. As with
 * an import, a file that cannot be used changes nothing.
 *
 * @throws ServiceError as `importModel`, but for names that are taken
 */
export async function takeModel(work: Work, file: Buffer): Promise<TakenModel> {
  const { cards } = work;
  const card = cardIn((await readModelFile(file, 'card')).card);
  const { name, published } = card;
  const inCharge = cards.get(name);
  if (inCharge === undefined) {
    if (!cards.has(name)) {
      cards.assertFree(name);
    }
  } else if (
    published === undefined
      ? inCharge.fitted_train_set_id === card.fitted_train_set_id
      : !cards.isNewer(name, published)
  ) {
    return { card: cloneJson(inCharge), isNew: false };
  }
  const fitted = await broughtIn(work, card, await readModelFile(file));
  const kept = cards.put(fitted, undefined, { why: 'taken', published });
  await cards.flush();
  return { card: cloneJson(kept), isNew: true };
}

/** The card of a model of a file, once the service has the model and the reference is kept. */
async function broughtIn(
  { cards, service, signal }: Work,
  card: ModelCard,
  { model, reference: givenReference }: ReadModel,
): Promise<ModelCard> {
  if (card.service !== service.key) {
    throw new ServiceError(
      'config.invalid',
      `This is a model of ${kindByKey(card.service).inWords(card.service)}: import it into a configuration of that service.`,
    );
  }
  const id = await takenId(service, card.fitted_train_set_id, model, signal);
  // Where there is no card in the end, or this process is killed before, the model goes again.
  await cards.discard({ fitted: id, upload: card.train_set_upload_id });
  const reference = readReference(givenReference);
  if (reference !== undefined) {
    await cards.references.put(id, reference);
  }
  return { ...card, fitted_train_set_id: id };
}

/** The id of the model here; the service says what is wrong with one that it cannot use. */
async function takenId(
  service: Service,
  fittedId: string,
  model: Buffer | undefined,
  signal: AbortSignal | undefined,
): Promise<string> {
  let id: string | undefined;
  try {
    id = await service.takeModel(fittedId, model, { signal, timeoutMs: IMPORT_MS });
  } catch (thrown) {
    const error = toServiceError(thrown);
    const [, said] = /\(422\): (.*?)\.?$/s.exec(error.message) ?? [];
    throw error.code === 'validation.failed' && said !== undefined ? unreadableModel(said) : error;
  }
  if (id === undefined) {
    throw unreadableModel('it holds the card of the model alone');
  }
  return id;
}

/**
 * Puts an earlier version of a model in charge, in one step between two batches: without a fit, and without losing a
 * prediction. The embedded service is asked first whether it still has the model.
 *
 * @param to `true` for the version that was in charge before, or the number of any that is kept
 * @returns the card that is in charge now
 * @throws ServiceError `model.unknown`, `rollback.impossible`, `validation.failed`
 */
export async function rollBack(work: Work, name: string, to: true | number): Promise<ModelCard> {
  const { cards } = work;
  let id: string;
  do {
    id = cards.rollBackTo(name, to);
  } while (!(await isStillThere(work, id)));
  const card = cloneJson(cards.rollBack(name, to));
  await cards.flush();
  return card;
}
