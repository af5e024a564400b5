import { yieldToEventLoop } from '../../util/event-loop';
import { isObject, tryParseJson } from '../../util/json';
import { reasonOf } from '../../util/reason';
import { unzip } from '../../util/unzip';
import { zipBytes, type ZipEntry, zipOf } from '../../util/zip';
import { ServiceError } from '../../wire/service-error';
import type { Reference } from '../reference/types';
import type { ModelCard } from '../types';

/*
 * A model in one file: a zip archive of `model.json` {format, version, exported_at, card, reference}, and, of the
 * embedded service, `model.bin`, which is the service's own affair. It holds no secret.
 */
const FORMAT = 'tabular-model';
const VERSION = 1;
const CARD_FILE = 'model.json';
const BYTES_FILE = 'model.bin';
/** Parsed at once: a card of thousands of columns with its reference. */
const MAX_CARD_BYTES = 16 * 1024 * 1024;
/** Bytes of a file: it is held in memory. */
export const MAX_MODEL_FILE_BYTES = 288 * 1024 * 1024;

export interface ExportedModel {
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
}

export function modelFile({ card, reference, model }: ExportedModel): ModelFile {
  const head = { format: FORMAT, version: VERSION, exported_at: new Date().toISOString(), card, reference };
  const entries = [
    entryOf(CARD_FILE, Buffer.from(JSON.stringify(head))),
    ...(model === undefined ? [] : [entryOf(BYTES_FILE, model)]),
  ];
  return { name: fileName(card), bytes: zipBytes(entries), pieces: zipOf(entries) };
}

/** What a file holds, as far as it is this package's: the card and the reference are still to be looked at. */
export interface ReadModel {
  card: unknown;
  reference: unknown;
  model?: Buffer;
}

/** @throws ServiceError `file.unreadable` for a file that is damaged, something else, or of a later version */
export async function readModelFile(file: Buffer): Promise<ReadModel> {
  let files: Map<string, Buffer>;
  try {
    files = await unzip(file, MAX_MODEL_FILE_BYTES);
  } catch (error) {
    throw unreadableModel(`it is damaged, or no model: ${reasonOf(error)}`);
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

export function unreadableModel(why: string): ServiceError {
  return new ServiceError('file.unreadable', `The model cannot be imported from this file: ${why}.`);
}

function entryOf(name: string, bytes: Uint8Array): ZipEntry {
  return { name, bytes: bytes.length, read: () => pieces(bytes) };
}

const PIECE = 1024 * 1024;

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
