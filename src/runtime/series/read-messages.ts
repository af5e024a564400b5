import type { MessageReader, MessageReading } from '../../messages';
import type { TableInput } from '../../models/types';
import type {
  BroughtOutcome,
  PlacedReading,
  Series,
  SeriesPast,
  SeriesReading,
  SeriesSettings,
} from '../../series';
import type { FlowProperties } from '../../settings/kinds';
import { SERIES } from '../../settings/nodes';
import { asBytes } from '../../util/values';
import { ServiceError } from '../../wire/service-error';
import { fromEnvironment } from '../fields/settings-reader';
import { addColumns, type LastReading, lastReading, rememberReading } from '../input/columns-seen';
import { notSet, type TableReader } from '../input/table-input';
import { messagesLayer, seriesLayer, table } from '../lazy';
import type { MessageWork } from '../messages/message-handler';
import { Follower } from '../messages/progress';
import type { FlowNodeDef, Message } from '../node-red';
import type { NodeRuntime } from '../node-runtime';

/** The series node as it stands in a flow file. */
export type SeriesDef = FlowNodeDef & FlowProperties<typeof SERIES>;

/** What a message asks of the series node. */
export type SeriesRequest =
  | { kind: 'nothing' }
  | { kind: 'train'; reason: 'asked' | 'decay' }
  | { kind: 'reset'; key?: string }
  | { kind: 'outcome'; brought: BroughtOutcome }
  | { kind: 'reading'; reading: Reading; key?: string }
  /** Readings of a message that was read by its shape. */
  | { kind: 'readings'; readings: MessageReading[]; shape?: string }
  /** A table; its rows, where the message was read by its shape. */
  | { kind: 'table'; table: TableInput; key?: string; rows?: AsyncIterable<MessageReading>; shape?: string };

/** For so long a status says what was recognised, in milliseconds. */
const NEWS_MS = 10_000;
/** Columns of a reading that the dialog shows at most. */
const MAX_SHOWN = 40;

/** Reads the messages of a series node whose field Messages is auto. */
export class ReadMessages {
  private reader: MessageReader | undefined;
  private shape: string | undefined;
  private since = -Infinity;
  private auto: boolean | undefined;

  /** @param table where the node finds what a message brings */
  constructor(
    private readonly runtime: NodeRuntime<SeriesDef>,
    readonly table: TableReader,
  ) {}

  /** Whether messages are read by their shape: those of a flow of an earlier version are not. */
  get isAuto(): boolean {
    return (this.auto ??= this.runtime.settings(SERIES)('shape') === 'auto');
  }

  /**
   * What a message brings: readings, or a table.
   * @throws ServiceError `config.invalid`, `table.empty`, `validation.failed` for a topic that the field Key does not fit,
   * and for values that no column is told of
   */
  request(msg: Message, input: TableInput, place: string): SeriesRequest {
    const key = keyOfMessage(this.runtime, msg);
    if ('path' in input || !('value' in input)) {
      return { kind: 'table', table: input, key };
    }
    const { value } = input;
    const hasTopic = typeof msg.topic === 'string' && msg.topic !== '';
    if (isEmpty(value) && !hasTopic) {
      throw emptyError(place);
    }
    const read = this.opened.read({ ...msg, payload: value });
    if (value === null && read === undefined) {
      throw notSet(place);
    }
    if (read !== undefined) {
      const { shape, readings, table: rows } = read;
      if (read.isRaw === true) {
        // Its device and its time are all that it tells.
        this.remember(readings[0]!, shape, 1);
      }
      return rows === undefined
        ? { kind: 'readings', readings: readings.filter(isSaying), shape }
        : { kind: 'table', table: input, rows, shape };
    }
    if (isSingle(value)) {
      throw noColumn(place);
    }
    if (Array.isArray(value) && value.length > 0 && !table().isSparse(value) && value.every(isPlain)) {
      throw new ServiceError(
        'validation.failed',
        `${place} is a list of ${value.length} values, which are not named. Write their columns into the field Names of list values, such as temperature, speed.`,
      );
    }
    return { kind: 'table', table: input, key };
  }

  /** The reader of messages, made with the first of them. @throws ServiceError `config.invalid` */
  get opened(): MessageReader {
    return (this.reader ??= this.make());
  }

  /** What was recognised, while that is news: `as Tasmota: pump1, 9 values`. */
  get news(): LastReading | undefined {
    return this.shape === undefined || Date.now() - this.since > NEWS_MS
      ? undefined
      : lastReading(this.runtime.id);
  }

  /** Keeps a reading for the dialog, and its columns. */
  remember({ key, time, values }: MessageReading, shape: string | undefined, readings: number): void {
    addColumns(this.runtime.id, Object.keys(values));
    if (shape !== this.shape) {
      this.shape = shape;
      this.since = Date.now();
    }
    rememberReading(this.runtime.id, () => ({
      ...(shape !== undefined && { shape }),
      ...(key !== undefined && { key }),
      ...(time !== undefined && { time: shownTime(time) }),
      values: Object.fromEntries(Object.entries(values).slice(0, MAX_SHOWN)),
      readings,
    }));
  }

  private make(): MessageReader {
    const read = this.runtime.settings(SERIES);
    const key = fromEnvironment(this.runtime, this.runtime.def.key ?? '').trim();
    const where = this.runtime.def.keyType;
    const { MessageReader: Reader, TopicPattern } = messagesLayer();
    return new Reader(
      {
        ...(key !== '' && where === 'topic' && { keyTopic: TopicPattern.parse(key) }),
        ...(key !== '' && where === 'msg' && { keyProperty: key }),
        ...(key !== '' && where !== 'topic' && where !== 'msg' && { keyColumn: key }),
        time: read('time'),
        names: read('names') ?? [],
      },
      ({ text }) => this.runtime.node.warn(text),
    );
  }
}

function shownTime(time: unknown): string | undefined {
  const date = typeof time === 'number' || time instanceof Date ? new Date(time) : undefined;
  if (date !== undefined && !Number.isNaN(date.getTime())) {
    return date.toISOString();
  }
  return typeof time === 'string' ? time : undefined;
}

/** Whether a reading has a value, or says that one is missing. */
function isSaying({ values }: MessageReading): boolean {
  return Object.keys(values).length > 0;
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}

/** Whether a value is one, rather than a table. */
function isSingle(value: unknown): boolean {
  return (
    typeof value === 'number' ||
    typeof value === 'boolean' ||
    typeof value === 'bigint' ||
    (typeof value === 'string' && !/[\r\n[{]/.test(value.trim()))
  );
}

/**
 * The key of a message by its topic.
 * @param filter as a subscription of MQTT, with one `+` where the key is: `plant/+/#`
 * @throws ServiceError `config.invalid` for another filter, `validation.failed` for a topic that it does not fit
 */
export function keyOfTopic(filter: string, topic: unknown): string {
  const pattern = messagesLayer().TopicPattern.parse(filter);
  const key = typeof topic === 'string' ? pattern.match(topic)?.key : undefined;
  if (key === undefined && !(typeof topic === 'string' && pattern.match(topic) !== undefined)) {
    const which = typeof topic === 'string' ? `The topic "${topic.slice(0, 200)}"` : 'msg.topic';
    throw new ServiceError(
      'validation.failed',
      `${which} does not fit "${filter}", by which the field Key tells machines apart: subscribe to less, or change the field.`,
    );
  }
  return key ?? '';
}

/** The key that a property of the message or its topic holds; undefined where the dialog names a column, or nothing. */
export function keyOfMessage(runtime: NodeRuntime<SeriesDef>, msg: Message): string | undefined {
  const { red, def } = runtime;
  if (def.keyType === 'topic') {
    const filter = fromEnvironment(runtime, def.key).trim();
    return filter === '' ? undefined : keyOfTopic(filter, msg.topic) || undefined;
  }
  if (def.keyType !== 'msg') {
    return undefined;
  }
  const property = fromEnvironment(runtime, def.key).trim();
  if (property === '') {
    return undefined;
  }
  const key: unknown = red.util.getMessageProperty(msg, property);
  if (typeof key === 'string' || typeof key === 'number') {
    return String(key);
  }
  throw new ServiceError(
    'validation.failed',
    `There is no key: msg.${property}, which the field Key names, is ${key === undefined ? 'not set' : 'no text'}.`,
  );
}

/** Columns whose topic is remembered at most. */
const MAX_COLUMNS = 1000;

/**
 * Warns once where a column of one key gets numbers by several topics: where no key is told, machines are mixed up that
 * each publish under a topic of their own; otherwise two sensors are.
 */
export class MixedTopics {
  /** The topic that a column came by first, by key and column. */
  private readonly topics = new Map<string | undefined, Map<string, string>>();
  private columns = 0;
  private isOver = false;

  constructor(private readonly runtime: NodeRuntime<FlowNodeDef & Pick<SeriesDef, 'key' | 'time'>>) {}

  look(request: SeriesRequest, { topic }: Message): void {
    if (this.isOver || typeof topic !== 'string' || topic === '') {
      return;
    }
    if (request.kind === 'reading') {
      this.lookAt(request.key, request.reading.cells, topic);
    } else if (request.kind === 'readings') {
      for (const { key, values } of request.readings) {
        this.lookAt(key, values, topic);
      }
    }
  }

  private lookAt(key: string | undefined, cells: Record<string, unknown>, topic: string): void {
    let known = this.topics.get(key);
    if (known === undefined) {
      known = new Map();
      this.topics.set(key, known);
    }
    const names = Object.keys(cells);
    const time = seriesLayer().findTimeColumn(names, this.runtime.def.time || undefined);
    for (const column of names) {
      if (this.isOver || column === time || typeof cells[column] !== 'number') {
        continue;
      }
      const first = known.get(column);
      if (first === undefined && this.columns < MAX_COLUMNS) {
        known.set(column, topic);
        this.columns++;
      } else if (first !== undefined && first !== topic) {
        this.tell(key, column, first, topic);
      }
    }
  }

  private tell(key: string | undefined, column: string, first: string, topic: string): void {
    this.isOver = true;
    this.topics.clear();
    if ((this.runtime.def.key ?? '') === '') {
      const filter = commonFilter(first.split('/'), topic.split('/'));
      this.runtime.warn('topics', { column, first, topic, filter });
    } else {
      this.runtime.warn('topicsOfKey', { column, first, topic, key: key ?? '' });
    }
  }
}

/** What tells two topics apart by the first level in which they differ. */
function commonFilter(one: readonly string[], other: readonly string[]): string {
  const at = one.findIndex((level, i) => level !== other[i]);
  const differing = at < 0 ? one.length : at;
  const isLast = differing === Math.max(one.length, other.length) - 1;
  return [...one.slice(0, differing), '+', ...(isLast ? [] : ['#'])].join('/');
}

/**
 * Takes a table of past readings. Of its rows and outcomes the newest are given, as many as the series keeps.
 * @throws ServiceError
 */
export async function takeTable(
  opened: Series,
  request: Extract<SeriesRequest, { kind: 'table' }>,
  messages: ReadMessages,
  work: MessageWork,
): Promise<SeriesPast> {
  const rows = await pastRows(request, opened.settings, messages, work);
  return opened.backfill(rows, { key: request.key, signal: work.signal, most: opened.settings.keep });
}

/**
 * The rows of a table of past readings, in the order of the table.
 *
 * @param settings how its cells are read, and the column of the time, where the dialog names one
 * @throws ServiceError
 */
export async function pastRows(
  { table: input, rows, shape }: Pick<Extract<SeriesRequest, { kind: 'table' }>, 'table' | 'rows' | 'shape'>,
  settings: SeriesSettings,
  messages: ReadMessages,
  { signal, status }: MessageWork,
): Promise<AsyncIterable<SeriesReading | PlacedReading>> {
  const follower = new Follower(status);
  follower.show({ key: 'reading' });
  if (rows !== undefined) {
    return placed(rows, messages, shape);
  }
  if (messages.isAuto && 'value' in input && isListOfObjects(input.value)) {
    const { value } = input;
    return placed(messages.opened.table(value, Object.keys(value[0]!)), messages, shape);
  }
  const source =
    'path' in input
      ? await table().openTableFile(input.path, { signal })
      : await table().openTable(input.value, { signal });
  const reading = { signal, onRead: (fraction: number) => follower.show({ key: 'reading', fraction }) };
  if (!messages.isAuto) {
    return seriesLayer().readReadings(source, settings, reading);
  }
  const { timeAmong, timeTexts } = messagesLayer();
  const texts = timeTexts(source.names, settings.time ?? timeAmong(source.names));
  const cells = seriesLayer().readReadings(source, settings, { ...reading, texts });
  const unfolded = messagesLayer().shapeOfColumns(source.names)?.name;
  return placed(messages.opened.table(cells, source.names), messages, unfolded);
}

/** Rows as the series takes them; the last one is kept for the dialog. */
async function* placed(
  rows: AsyncIterable<MessageReading>,
  messages: ReadMessages,
  shape: string | undefined,
): AsyncGenerator<PlacedReading> {
  const { PlacedReading: Placed } = seriesLayer();
  let last: MessageReading | undefined;
  let count = 0;
  for await (const row of rows) {
    count++;
    last = row;
    yield new Placed(row.values, row.key, row.time);
  }
  if (last !== undefined) {
    messages.remember(last, shape, count);
  }
}

function isListOfObjects(value: unknown): value is Record<string, unknown>[] {
  return (
    Array.isArray(value) && typeof value[0] === 'object' && value[0] !== null && !Array.isArray(value[0])
  );
}

/** One reading: columns with their values, and the key if the topic names it. */
interface Reading {
  cells: Record<string, unknown>;
  key?: string;
}

/** A longer text or Buffer is a table. */
const MAX_VALUE_BYTES = 4096;
/** So is longer JSON text: that of a table is read in parts. */
const MAX_JSON_CHARACTERS = 2 ** 20;

/**
 * The reading that a value is: an object of plain values, JSON text of one, or one value whose column (and key) are the
 * last parts of the topic. Undefined where it is a table.
 * @param place where the value stands, for errors: `msg.payload`
 * @throws ServiceError `validation.failed` for a value whose topic names no column, `limit.exceeded` for an object of
 * too many columns
 */
export function findReading(value: unknown, topic: unknown, place: string): Reading | undefined {
  if (typeof value === 'number' || typeof value === 'boolean' || typeof value === 'bigint') {
    return single(value, topic, place);
  }
  if (typeof value === 'string') {
    return readingOfText(value, topic, place);
  }
  const bytes = asBytes(value);
  if (bytes !== undefined) {
    return bytes.length > MAX_VALUE_BYTES || bytes.length === 0 || bytes.includes(0)
      ? undefined
      : readingOfText(Buffer.from(bytes).toString('utf8'), topic, place);
  }
  return isReading(value) ? { cells: value } : undefined;
}

function readingOfText(text: string, topic: unknown, place: string): Reading | undefined {
  if (text.length > MAX_JSON_CHARACTERS) {
    return undefined;
  }
  const trimmed = text.trim();
  if (trimmed.startsWith('{')) {
    const parsed = parsedJson(trimmed);
    return isReading(parsed) ? { cells: parsed } : undefined;
  }
  // Of a table there are a header and rows.
  return trimmed.length > MAX_VALUE_BYTES ||
    trimmed.startsWith('[') ||
    /[\r\n]/.test(trimmed) ||
    trimmed === ''
    ? undefined
    : single(trimmed, topic, place);
}

/** An object of columns, each of which is an array, is a table; so is one of Arrow. */
function isReading(value: unknown): value is Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return false;
  }
  const names = table().ownNames(value);
  for (const name of names) {
    const cell = (value as Record<string, unknown>)[name];
    if (Array.isArray(cell) || ArrayBuffer.isView(cell)) {
      return false;
    }
  }
  return names.length > 0 && !('schema' in value && 'batches' in value);
}

function parsedJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Whether a value holds nothing at all. */
export function isEmpty(value: unknown): boolean {
  return value === '' || asBytes(value)?.length === 0;
}

/** @param place where the value stands: `msg.payload` */
export function emptyError(place: string): ServiceError {
  return new ServiceError(
    'table.empty',
    `${place} is empty: neither a reading nor a table. A value that is missing is null, or left out.`,
  );
}

function single(value: unknown, topic: unknown, place: string): Reading {
  const parts = typeof topic === 'string' ? topic.split('/').filter((part) => part !== '') : [];
  const column = parts.at(-1);
  if (column === undefined) {
    throw noColumn(place);
  }
  return { cells: { [column]: value }, key: parts.at(-2) };
}

/** The error of a single value of which no topic says the column. @param place where it stands: `msg.payload` */
function noColumn(place: string): ServiceError {
  return new ServiceError(
    'validation.failed',
    `${place} is one value, and msg.topic does not say of which column: send an object such as ` +
      '{"temperature": 21}, or a topic such as plant/pump1/temperature.',
  );
}
