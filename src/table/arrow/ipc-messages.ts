import { readReason } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { invalidTable } from '../cells/types';
import type { Bytes } from '../storage/blob';

/*
 * Arrow's IPC format ("Serialization and Interprocess Communication" of its specification). A message is
 * 0xFFFFFFFF, the length of its metadata, the metadata (a flatbuffer) and a body; writers before 0.15 left the first
 * word out. A stream is a schema and then dictionaries and record batches; a length of 0, or the end of the bytes, ends
 * it. A file has the same between its magic words, and a footer that tells the schema and the place of each message.
 */

const MESSAGE = { version: 0, headerType: 1, header: 2, bodyLength: 3, customMetadata: 4 };
export const RECORD_BATCH = { length: 0, nodes: 1, buffers: 2, compression: 3 };
const DICTIONARY_BATCH = { id: 0, isDelta: 2 };
const FOOTER = { version: 0, schema: 1, dictionaries: 2, recordBatches: 3 };

/** Kinds of messages, by the number of their header. */
const KINDS = [undefined, 'schema', 'dictionary', 'batch'] as const;
const NAMES = { schema: 'the schema', dictionary: 'dictionary', batch: 'record batch' };

const MAGIC = 'ARROW1';
/** The magic word at the beginning, padded. */
const HEAD_BYTES = 8;
/** The length of the footer, and the magic word. */
const TAIL_BYTES = 10;
/** A block of the footer: offset (64 bits), length of the metadata (32, padded to 64), length of the body (64). */
const BLOCK_BYTES = 24;
const CONTINUATION = -1;
/** Writers pad the magic word to as much. */
const MAX_PADDING = 64;

/** A message whose place and lengths are right. */
export interface IpcMessage {
  kind: 'schema' | 'dictionary' | 'batch';
  /** In words: `record batch 2 of 3`. */
  name: string;
  metadata: Uint8Array;
  header: FlatTable;
  body: Uint8Array;
}

interface Frame {
  /** Undefined for a message of another kind. */
  kind: IpcMessage['kind'] | undefined;
  metadata: Uint8Array;
  header: FlatTable;
  /** Where the metadata ends, the body begins, unless a footer says more. */
  bodyAt: number;
  bodyBytes: number;
}

interface Block {
  kind: 'dictionary' | 'batch';
  name: string;
  at: number;
  bodyAt: number;
  end: number;
}

/** How the messages of a stream ended. */
export interface IpcEnd {
  /** The stream was closed without its end mark, as it may be; or it was cut between two messages. */
  unmarked?: boolean;
}

/**
 * The messages of a table in Arrow's IPC format, the schema first, then in the order in which they are to be decoded.
 * Each is checked against the bytes before it is handed out, and every record batch that the footer tells of is there.
 * Throws an Error that says what is wrong; errors of reading: `file.unreadable`.
 */
export async function* ipcMessages(bytes: Bytes, end: IpcEnd = {}): AsyncGenerator<IpcMessage> {
  const start = Buffer.from(await bytes.bytes(0, Math.min(bytes.size, HEAD_BYTES)));
  yield* start.toString('latin1', 0, MAGIC.length) === MAGIC
    ? fileMessages(bytes)
    : streamMessages(bytes, end);
}

/** What is wrong with a table, as `table.invalid`. */
export function damagedIpc(error: unknown): ServiceError {
  return error instanceof ServiceError
    ? error
    : invalidTable(
        `The Arrow table is damaged or of a kind that cannot be read: ${readReason(error).replace(/\.$/, '')}.`,
      );
}

async function* fileMessages(bytes: Bytes): AsyncGenerator<IpcMessage> {
  const { footer, footerAt } = await readFooter(bytes);
  const blocks = [
    ...readBlocks(footer, FOOTER.dictionaries, 'dictionary'),
    ...readBlocks(footer, FOOTER.recordBatches, 'batch'),
  ];
  const sorted = blocks.toSorted((a, b) => a.at - b.at);
  assertPlaces(sorted, footerAt);
  await assertAllTold(bytes, sorted, footerAt);
  yield readSchema(footer);
  const whole = new Set<number>();
  for (const block of blocks) {
    const { kind, name, at, bodyAt, end } = block;
    const frame = await frameAt(bytes, at, footerAt, name);
    if (frame?.kind !== kind) {
      throw new Error(`${name} is not at byte ${at}, where the footer says`);
    }
    if (frame.bodyAt > bodyAt || frame.bodyBytes !== end - bodyAt) {
      throw new Error(`the lengths of ${name} are not those that the footer says`);
    }
    const { header, metadata } = frame;
    if (kind === 'dictionary' && header.byte(DICTIONARY_BATCH.isDelta) === 0) {
      const id = header.long(DICTIONARY_BATCH.id);
      if (whole.has(id)) {
        throw new Error(`${name} replaces one before it, which no file may`);
      }
      whole.add(id);
    }
    yield { kind, name, metadata, header, body: await bytes.bytes(bodyAt, end) };
  }
}

async function readFooter(bytes: Bytes): Promise<{ footer: FlatTable; footerAt: number }> {
  const { size } = bytes;
  const tail = Buffer.from(await bytes.bytes(Math.max(0, size - TAIL_BYTES), size));
  const length = tail.length < TAIL_BYTES ? 0 : tail.readInt32LE(0);
  if (size < HEAD_BYTES + TAIL_BYTES || tail.toString('latin1', 4) !== MAGIC) {
    throw new Error('the end of the file is missing');
  }
  const footerAt = size - TAIL_BYTES - length;
  if (length <= 0 || footerAt < HEAD_BYTES) {
    throw new Error(`a footer of ${length} bytes in a file of ${size}`);
  }
  return { footer: FlatTable.root(await bytes.bytes(footerAt, size - TAIL_BYTES)), footerAt };
}

function readBlocks(footer: FlatTable, field: number, kind: Block['kind']): Block[] {
  const { at, length } = footer.list(field, BLOCK_BYTES);
  return Array.from({ length }, (_, index) => {
    const place = at + index * BLOCK_BYTES;
    const start = longAt(footer.bytes, place);
    const bodyAt = start + footer.bytes.readInt32LE(place + 8);
    const end = bodyAt + longAt(footer.bytes, place + 16);
    return { kind, name: `${NAMES[kind]} ${index + 1} of ${length}`, at: start, bodyAt, end };
  });
}

/** Blocks lie before the footer, each at a multiple of 8 bytes, and none in another. */
function assertPlaces(sorted: readonly Block[], footerAt: number): void {
  let before = HEAD_BYTES;
  for (const { name, at, bodyAt, end } of sorted) {
    const isAligned = [at, bodyAt, end].every((place) => Number.isSafeInteger(place) && place % 8 === 0);
    if (!isAligned || at < HEAD_BYTES || bodyAt <= at || end < bodyAt || end > footerAt) {
      throw new Error(`the footer says that ${name} is at bytes ${at} to ${end}, where it cannot be`);
    }
    if (at < before) {
      throw new Error(`the footer says that ${name} begins at byte ${at}, inside of another`);
    }
    before = end;
  }
}

/** Refuses a file with a record batch that its footer does not tell of: its rows would be lost without a word. */
async function assertAllTold(bytes: Bytes, sorted: readonly Block[], footerAt: number): Promise<void> {
  let at = HEAD_BYTES;
  for (const next of [...sorted, { at: footerAt, end: footerAt }]) {
    while (at < next.at) {
      at = await afterZeros(bytes, at, Math.min(next.at, at + MAX_PADDING));
      const frame = await frameAt(bytes, at, next.at, 'a message').catch(() => undefined);
      if (frame?.kind === undefined) {
        break;
      }
      if (frame.kind === 'batch') {
        throw new Error(`the footer does not tell of the record batch at byte ${at}`);
      }
      at = frame.bodyAt + frame.bodyBytes;
    }
    at = next.end;
  }
}

/** Where the first word of 8 bytes lies that is not zero, or `end`. */
async function afterZeros(bytes: Bytes, start: number, end: number): Promise<number> {
  const read = await bytes.bytes(start, end);
  const first = read.findIndex((byte) => byte !== 0);
  return first < 0 ? end : start + first - (first % 8);
}

/** The schema of a footer as a message of its own: a table in front of the footer whose header is the schema in it. */
function readSchema(footer: FlatTable): IpcMessage {
  const header = footer.table(FOOTER.schema);
  if (header === undefined) {
    throw new Error('its footer has no schema');
  }
  const front = Buffer.alloc(32);
  front.writeUInt32LE(16, 0);
  // The places of version, kind and header in the table, behind the lengths of this list and of the table.
  [10, 12, 4, 6, 8].forEach((value, index) => front.writeUInt16LE(value, 4 + 2 * index));
  front.writeInt32LE(12, 16);
  front.writeInt16LE(footer.short(FOOTER.version), 20);
  front.writeUInt8(KINDS.indexOf('schema'), 22);
  front.writeUInt32LE(front.length + header.at - 24, 24);
  assertBoundedMetadata(header);
  const metadata = Buffer.concat([front, footer.bytes]);
  return { kind: 'schema', name: NAMES.schema, metadata, header, body: new Uint8Array(0) };
}

async function* streamMessages(bytes: Bytes, end: IpcEnd): AsyncGenerator<IpcMessage> {
  const { size } = bytes;
  let batches = 0;
  let at = 0;
  while (at < size) {
    const name = at === 0 ? NAMES.schema : `the message behind record batch ${batches}`;
    const frame = await frameAt(bytes, at, size, name);
    if (frame === undefined) {
      await assertEnded(bytes, at, batches);
      return;
    }
    const { kind, metadata, header, bodyAt, bodyBytes } = frame;
    if (kind === undefined || (kind === 'schema') !== (at === 0)) {
      throw new Error(`${name} is none that may be there`);
    }
    batches += kind === 'batch' ? 1 : 0;
    at = bodyAt + bodyBytes;
    yield {
      kind,
      name: kind === 'batch' ? `${NAMES.batch} ${batches}` : name,
      metadata,
      header,
      body: await bytes.bytes(bodyAt, at),
    };
  }
  end.unmarked = true;
}

/** What follows the end mark at `at` may be padding, but no other message: a mark may be zeros in place of a batch. */
async function assertEnded(bytes: Bytes, at: number, batches: number): Promise<void> {
  const mark = Buffer.from(await bytes.bytes(at, Math.min(bytes.size, at + 8)));
  const isWhole = mark.length === 8 && mark.readInt32LE(0) === CONTINUATION;
  const rest = at + mark.length;
  if (rest < bytes.size && (!isWhole || !(await isZero(bytes, rest)))) {
    throw new Error(
      `the stream ends behind record batch ${batches} at byte ${at}, but ${bytes.size - rest} bytes follow`,
    );
  }
}

const LOOK_BYTES = 64 * 1024;

async function isZero(bytes: Bytes, start: number): Promise<boolean> {
  for (let at = start; at < bytes.size; at += LOOK_BYTES) {
    const read = await bytes.bytes(at, Math.min(bytes.size, at + LOOK_BYTES));
    if (read.some((byte) => byte !== 0)) {
      return false;
    }
  }
  return true;
}

/**
 * The message at a place, which has to lie before `end`; undefined where its length is 0.
 * @param name of the message, for an error
 */
async function frameAt(bytes: Bytes, at: number, end: number, name: string): Promise<Frame | undefined> {
  const head = Buffer.from(await bytes.bytes(at, Math.min(end, at + 8)));
  const isCurrent = head.length >= 4 && head.readInt32LE(0) === CONTINUATION;
  const prefix = isCurrent ? 8 : 4;
  if (head.length < prefix) {
    throw new Error(`${name} is cut off: ${head.length} bytes of it are there`);
  }
  const length = head.readInt32LE(prefix - 4);
  if (length === 0) {
    return undefined;
  }
  const metadataAt = at + prefix;
  if (length < 0 || length > end - metadataAt) {
    throw new Error(`${name} has metadata of ${length} bytes, but ${end - metadataAt} are there`);
  }
  const metadata = await bytes.bytes(metadataAt, metadataAt + length);
  const message = FlatTable.root(metadata);
  const kind = KINDS[message.byte(MESSAGE.headerType)];
  const header = message.table(MESSAGE.header);
  if (header === undefined) {
    throw new Error(`${name} is empty`);
  }
  const bodyBytes = message.long(MESSAGE.bodyLength);
  const bodyAt = metadataAt + length;
  if (bodyBytes < 0 || bodyBytes > end - bodyAt) {
    throw new Error(`${name} has ${bodyBytes} bytes, but ${end - bodyAt} are there`);
  }
  assertBoundedMetadata(kind === 'schema' ? header : undefined, message);
  return { kind, metadata, header, bodyAt, bodyBytes };
}

const MESSAGE_CUSTOM_METADATA = 4;
const SCHEMA = { fields: 1, customMetadata: 2 };
const FIELD = { name: 0, typeType: 2, type: 3, children: 5, customMetadata: 6 };
const UNION = { kind: 14, typeIds: 1 };
const KEY_VALUE = { key: 0, value: 1 };

/** Levels of nested fields. */
const MAX_DEPTH = 64;
/** How often a text may be shared, on the average over all bytes. */
const SHARED = 16;

/**
 * Refuses metadata that tells of more than its bytes hold: parts of a flatbuffer may be shared, so that a few hundred
 * bytes can tell of billions of fields, which the library would follow one by one.
 *
 * @param schema where the metadata is of a schema
 * @param message where it is a message
 */
function assertBoundedMetadata(schema: FlatTable | undefined, message?: FlatTable): void {
  let left = SHARED * ((schema ?? message)?.bytes.length ?? 0);

  function spend(bytes: number): void {
    left -= bytes;
    if (left < 0) {
      throw new RangeError('its metadata tells of more than its bytes hold');
    }
  }

  function spendPairs(table: FlatTable, field: number): void {
    for (const pair of table.tables(field)) {
      spend(4 + pair.list(KEY_VALUE.key, 1).length + pair.list(KEY_VALUE.value, 1).length);
    }
  }

  function spendFields(parent: FlatTable, children: number, depth: number): void {
    if (depth > MAX_DEPTH) {
      throw new RangeError(`its columns are nested more than ${MAX_DEPTH} levels deep`);
    }
    for (const field of parent.tables(children)) {
      spend(4 + field.list(FIELD.name, 1).length);
      if (field.byte(FIELD.typeType) === UNION.kind) {
        spend(4 * (field.table(FIELD.type)?.list(UNION.typeIds, 4).length ?? 0));
      }
      spendPairs(field, FIELD.customMetadata);
      spendFields(field, FIELD.children, depth + 1);
    }
  }

  if (message !== undefined) {
    spendPairs(message, MESSAGE_CUSTOM_METADATA);
  }
  if (schema !== undefined) {
    spendPairs(schema, SCHEMA.customMetadata);
    spendFields(schema, SCHEMA.fields, 1);
  }
}

/** Where the items of a list lie. */
interface FlatList {
  at: number;
  length: number;
}

/**
 * A table of a flatbuffer, the format of Arrow's metadata: fields by their number in the schema file (Footer, Message,
 * Schema in apache/arrow's format/*.fbs). What lies beyond the bytes throws a RangeError.
 */
export class FlatTable {
  private readonly fields: number;
  private readonly fieldsBytes: number;

  /** @param at where the table begins */
  constructor(
    readonly bytes: Buffer,
    readonly at: number,
  ) {
    this.fields = at - bytes.readInt32LE(at);
    this.fieldsBytes = bytes.readUInt16LE(this.fields);
  }

  static root(bytes: Uint8Array): FlatTable {
    const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    return new FlatTable(buffer, buffer.readUInt32LE(0));
  }

  /** A number of 8 bits; 0 where it is absent. */
  byte(field: number): number {
    const at = this.place(field);
    return at === 0 ? 0 : this.bytes.readUInt8(at);
  }

  /** A number of 16 bits; 0 where it is absent. */
  short(field: number): number {
    const at = this.place(field);
    return at === 0 ? 0 : this.bytes.readInt16LE(at);
  }

  /** A number of 64 bits; 0 where it is absent. */
  long(field: number): number {
    const at = this.place(field);
    return at === 0 ? 0 : longAt(this.bytes, at);
  }

  table(field: number): FlatTable | undefined {
    const at = this.place(field);
    return at === 0 ? undefined : new FlatTable(this.bytes, at + this.bytes.readUInt32LE(at));
  }

  /** A list of items of so many bytes, or a text; empty where it is absent. */
  list(field: number, itemBytes: number): FlatList {
    const place = this.place(field);
    if (place === 0) {
      return { at: 0, length: 0 };
    }
    const start = place + this.bytes.readUInt32LE(place);
    const length = this.bytes.readUInt32LE(start);
    const at = start + 4;
    if (length * itemBytes > this.bytes.length - at) {
      throw new RangeError(`a list of ${length} in metadata of ${this.bytes.length} bytes`);
    }
    return { at, length };
  }

  /** The tables of a list. */
  *tables(field: number): Iterable<FlatTable> {
    const { at, length } = this.list(field, 4);
    for (let place = at; place < at + length * 4; place += 4) {
      yield new FlatTable(this.bytes, place + this.bytes.readUInt32LE(place));
    }
  }

  /** Where a field lies; 0: it is absent. */
  private place(field: number): number {
    const slot = 4 + 2 * field;
    const offset = slot < this.fieldsBytes ? this.bytes.readUInt16LE(this.fields + slot) : 0;
    return offset === 0 ? 0 : this.at + offset;
  }
}

export function longAt(bytes: Buffer, at: number): number {
  return Number(bytes.readBigInt64LE(at));
}
