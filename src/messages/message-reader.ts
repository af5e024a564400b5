import { isSparse, openTable, ownNames, setCell, writtenNumber } from '../table';
import { Yielder } from '../util/concurrency';
import {
  flatten,
  type FlattenOptions,
  isBad,
  isBadBeside,
  isSensorValue,
  namedEntries,
  namedValueIn,
  valueIn,
} from './flatten';
import {
  based,
  carry,
  columnIn,
  type Found,
  keyIn,
  listEntries,
  Pivot,
  prefixed,
  readLabels,
  readName,
  readValue,
  readValues,
  timeIn,
  unlisted,
  untimed,
} from './items';
import { type MessageNote, Notes } from './notes';
import { at, isNamed, opened, plainValue } from './paths';
import { type Match, recognise, resolve, shapeOfColumns, shapeOfLine } from './recognise';
import { alignedRows, peek, rowsOfLists, rowsWithin, Turned, wideTable } from './rows';
import { asInstant, instant, isEpochIn, looksLikeTime, ofSpreadsheet, readOffset, timesIn } from './times';
import { lastLevels, type TopicParts, type TopicPattern } from './topic-pattern';
import { type MessageReading, type ReadMessage, type SourceMessage } from './types';
import { MAX_VALUE_CHARACTERS, parsePayload } from './written';

/** Where the key and the time of readings are, as far as people say it. */
export interface MessageSettings {
  /** A column, or a path to it. */
  keyColumn?: string;
  /** A property of the message, or a path to it. */
  keyProperty?: string;
  keyTopic?: TopicPattern;
  /** A column, or a path to it; `msg.` begins a property of the message. */
  time?: string;
  /** Names for the values of a list, in order. */
  names: readonly string[];
}

type Item = Match['items'][number];
type Row = Record<string, unknown>;

/** A longer text is no number with a unit. */
const MAX_NUMBER_CHARACTERS = 24;

/** Reads messages as their sources mean them: their shape, their columns, then key and time. */
export class MessageReader {
  private readonly notes: Notes;
  private readonly flat: FlattenOptions;

  constructor(
    private readonly settings: MessageSettings,
    tell: (note: MessageNote) => void,
  ) {
    this.notes = new Notes(tell);
    this.flat = {
      names: settings.names,
      onList: (column, unnamed, areObjects) => this.notes.list(column, unnamed, areObjects),
      onBad: (column) => this.notes.bad(column),
      onTwice: (column) => this.notes.twice(column),
    };
  }

  /**
   * The readings of a message. Undefined where it is a table that has no shape, whose rows are read by `table`, and where
   * no column is told of a single value.
   */
  read(message: SourceMessage): ReadMessage | undefined {
    const payload = parsePayload(message.payload);
    const whole = payload === message.payload ? message : { ...message, payload };
    if (isNamed(payload)) {
      // Refuses one of a million columns before it is gone through.
      ownNames(payload);
    } else if (Array.isArray(payload) && isSparse(payload)) {
      return undefined;
    }
    const match = recognise(whole);
    if (match !== undefined) {
      return this.shaped(match, whole);
    }
    const topic = this.topicParts(whole);
    const rows = this.findRows(payload, topic.column ?? topic.rest ?? lastLevels(whole.topic).column);
    if (rows !== undefined) {
      return { readings: [], table: this.table(rows, Object.keys(rows[0] ?? {})) };
    }
    const found = Array.isArray(payload)
      ? this.list(payload, !Array.isArray(message.payload))
      : this.plain(whole, payload, topic);
    return found === undefined ? undefined : { readings: [this.settle(found, whole, topic)] };
  }

  /**
   * The rows of a table as readings. Of rows that each have one value, as in a history, those of one key and time make one
   * reading; of a table with a column for each time, the cells of one.
   */
  async *table(
    rows: Iterable<Row> | AsyncIterable<Row>,
    names: readonly string[],
  ): AsyncGenerator<MessageReading> {
    const yielder = new Yielder();
    const ofColumns = shapeOfColumns(names);
    const wide = ofColumns === undefined && this.settings.time === undefined ? wideTable(names) : undefined;
    if (wide !== undefined) {
      const turned = new Turned(wide, this.settings.keyColumn);
      for await (const row of rows) {
        turned.add(row);
        await yielder.due();
      }
      for (const one of turned.readings) {
        yield this.settle(one, { payload: undefined }, {});
        await yielder.due();
      }
      return;
    }
    const { first, isOnly, all } = await peek(rows);
    const shape = ofColumns ?? (names.length === 1 ? shapeOfLine(first) : undefined);
    if (shape === undefined) {
      // JSON text too long to be opened at once is a table of its one object.
      const within = isOnly ? this.findRows(first, undefined) : undefined;
      if (within !== undefined) {
        yield* this.table(within, Object.keys(within[0] ?? {}));
        return;
      }
      for await (const row of all) {
        yield this.settle({ values: flatten(row, '', this.flat) }, { payload: row }, {});
        await yielder.due();
      }
      return;
    }
    const items: Item[] = [];
    for await (const item of all) {
      items.push({ item });
      await yielder.due();
    }
    yield* this.past({ shape, items }, { payload: undefined });
  }

  /** The rows of a table in an object, or in lists of times with their values. */
  private findRows(payload: unknown, column: string | undefined): Row[] | undefined {
    if (!isNamed(payload)) {
      return alignedRows(payload, column);
    }
    return Object.values(payload).every(isColumn)
      ? undefined
      : (rowsOfLists(payload) ?? rowsWithin(payload) ?? alignedRows(payload, column));
  }

  private shaped(match: Match, message: SourceMessage): ReadMessage {
    const { shape } = match;
    if (shape.message !== undefined) {
      return this.wrapped(match, shape.message, message);
    }
    if (shape.isTable === true) {
      return { shape: shape.name, readings: [], table: this.past(match, message) };
    }
    const areParts = shape.values !== undefined && shape.column !== undefined;
    const found: Found[] = [];
    for (const one of this.foundIn(match, message)) {
      if (one === undefined) {
        continue;
      }
      // Parts of a reading, each under its own columns, are one.
      const same = areParts
        ? found.find(({ key, time, labels }) => key === one.key && time === one.time && labels === one.labels)
        : undefined;
      if (same === undefined) {
        found.push(one);
      } else {
        Object.assign(same.values, one.values);
      }
    }
    const topic = this.topicParts(message);
    const readings = found.map((one) => this.settle(one, message, topic));
    return { shape: shape.name, readings, ...(this.isRaw(match, message, readings[0]) && { isRaw: true }) };
  }

  /** Whether a message has no values because nobody has decoded what its device sent; that is told. */
  private isRaw(
    { shape, items }: Match,
    message: SourceMessage,
    reading: MessageReading | undefined,
  ): boolean {
    const isRaw =
      shape.raw !== undefined &&
      Object.keys(reading?.values ?? {}).length === 0 &&
      resolve(shape.raw, items[0]!.item, message, 'text') !== undefined;
    if (isRaw) {
      this.notes.raw(shape.name, reading?.key ?? '');
    }
    return isRaw;
  }

  /** The readings of a table, which may be long, in turns of the event loop. */
  private async *past(match: Match, message: SourceMessage): AsyncGenerator<MessageReading> {
    const yielder = new Yielder();
    const topic = this.topicParts(message);
    for (const one of this.foundIn(match, message)) {
      if (one !== undefined) {
        yield this.settle(one, message, topic);
      }
      await yielder.due();
    }
  }

  /** What each item has: a reading, or undefined for a value of one that comes once all items are read. */
  private *foundIn(match: Match, message: SourceMessage): Generator<Found | undefined> {
    const topic = this.topicParts(message);
    const pivot = new Pivot(match);
    for (const item of listEntries(match)) {
      if (match.shape.values === undefined) {
        this.add(pivot, item, message, topic);
        yield undefined;
      } else {
        yield* this.objects(match, item, message, topic);
      }
    }
    yield* pivot.readings;
  }

  /** Messages within a message: what they do not tell of key and time, the outer one does. */
  private wrapped({ shape, items }: Match, inner: string, message: SourceMessage): ReadMessage {
    const readings: MessageReading[] = [];
    const tables: AsyncIterable<MessageReading>[] = [];
    let { name } = shape;
    for (const { item } of items) {
      const topic = at(item, 'topic') ?? message.topic;
      const payload = at(item, inner);
      const read = this.read({ topic, payload });
      name = read?.shape ?? name;
      const time = timeIn(shape, item, message);
      const key = keyIn(shape, item, message);
      const settled = (reading: MessageReading): MessageReading => ({
        ...reading,
        key: this.isKeySet ? (reading.key ?? key) : (key ?? reading.key),
        time: reading.time ?? time,
      });
      readings.push(...(read?.readings ?? []).map(settled));
      const table = read === undefined ? this.tableIn(payload) : read.table;
      if (table !== undefined) {
        tables.push(mapped(table, settled));
      }
    }
    return tables.length === 0
      ? { shape: name, readings }
      : { shape: name, readings: [], table: joined([readings, ...tables]) };
  }

  /** A table within a message: CSV, or a list of rows. */
  private tableIn(payload: unknown): AsyncIterable<MessageReading> | undefined {
    const rows = parsePayload(payload);
    const isList = Array.isArray(rows) && rows.length > 0 && rows.every(isNamed);
    return isList || isTableText(rows) ? this.ofTable(rows) : undefined;
  }

  private async *ofTable(given: unknown): AsyncGenerator<MessageReading> {
    const source = await openTable(given);
    yield* this.table(await source.readRows(), source.names);
  }

  /** An item that is a reading, or lists of several. */
  private objects(
    { shape, key, column }: Match,
    { item, key: under, column: over }: Item,
    message: SourceMessage,
    topic: TopicParts,
  ): Found[] {
    const options = { ...this.flat, omit: shape.omit, numbered: shape.numbered };
    const whole =
      shape.inLists === true ? unlisted(item) : shape.inTimes === true ? untimed(item, shape.omit) : [item];
    return whole.flatMap((one) => {
      const values = readValues(shape, one, message) ?? (shape.raw === undefined ? undefined : {});
      const before = columnIn(shape, one, message);
      return values === undefined
        ? []
        : {
            key: under ?? key ?? keyIn(shape, one, message),
            labels: readLabels(shape, one, message),
            time: timeIn(shape, one, message),
            values: prefixed(flatten(values, '', options), topic.column ?? over ?? before ?? column),
          };
    });
  }

  /** Adds an item that is one value of a column. */
  private add(pivot: Pivot, one: Item, message: SourceMessage, topic: TopicParts): void {
    const { item, key: under } = one;
    const { shape, key, column: topicColumn } = pivot.match;
    const { base, carries, quality } = shape;
    const { carried } = pivot;
    const whole = isNamed(item) && carries !== undefined ? carry(item, carries, carried) : item;
    // Where a person says what the topic tells, that is its column.
    const ofTopic = topicColumn === undefined ? undefined : (topic.column ?? topic.rest ?? topicColumn);
    const told = one.column ?? ofTopic ?? columnIn(shape, whole, message);
    const name = readName(based(told, base?.column, carried)) ?? topic.column ?? topic.rest;
    if (name === undefined || shape.omit?.includes(name) === true) {
      return;
    }
    const own = under ?? key ?? keyIn(shape, whole, message);
    const found = pivot.reading(
      own,
      readLabels(shape, whole, message),
      timeIn(shape, whole, message, carried),
    );
    const said = quality === undefined ? undefined : resolve(quality, whole, message);
    const isUnusable = said !== undefined && isBad(said, quality!);
    const column = pivot.apart(name, whole, message);
    if (isUnusable) {
      this.notes.bad(column);
    }
    const value = isUnusable ? null : readValue(shape, whole, message, carried);
    if (Object.hasOwn(found.values, column) && found.values[column] !== value) {
      this.notes.twice(column);
    }
    setCell(found.values, column, value);
  }

  /** A message without a shape: an object of columns, or a single value of the column that its topic names. */
  private plain(message: SourceMessage, payload: unknown, topic: TopicParts): Found | undefined {
    const levels = lastLevels(message.topic);
    const column = topic.column ?? topic.rest ?? levels.column;
    if (!isNamed(payload)) {
      const isValue = typeof payload !== 'object' || payload === null;
      return isValue && column !== undefined && !isTableText(payload)
        ? this.single({ status: message.statusCode }, column, payload, levels.key)
        : undefined;
    }
    const cells = Object.values(payload);
    if (cells.every(isColumn)) {
      // An object of columns, each a list, is a table.
      return undefined;
    }
    const named = namedValueIn(payload, column !== undefined);
    const ofName = named === undefined ? undefined : plainValue(opened(payload[named.value]));
    if (named !== undefined && ofName !== undefined && named.name !== this.settings.keyColumn) {
      return this.single(payload, payload[named.name] as string, ofName, undefined);
    }
    const single = column === undefined ? undefined : valueIn(payload);
    const value = single === undefined ? undefined : plainValue(opened(payload[single]));
    if (value === undefined || column === undefined) {
      return { values: prefixed(flatten(payload, '', this.flat), topic.column) };
    }
    return this.single(payload, column, value, levels.key);
  }

  /** A single value, with what stands beside it. */
  private single(beside: Row, column: string, value: unknown, key: string | undefined): Found {
    const isUnusable = isBadBeside(beside);
    if (isUnusable) {
      this.notes.bad(column);
    }
    const values = { [column]: isUnusable ? null : (value ?? null) };
    return { key, time: timesIn(beside)?.value, values };
  }

  /** A list of plain values that there are names for, or of values that are named beside each. */
  private list(list: readonly unknown[], isText: boolean): Found | undefined {
    const named = namedEntries(list);
    if (named !== undefined) {
      return { values: flatten(named, '', this.flat) };
    }
    const isPlain = list.length > 0 && list.every((entry) => plainValue(entry) !== undefined);
    return isPlain && (isText || this.settings.names.length > 0)
      ? { values: flatten(list, '', this.flat) }
      : undefined;
  }

  private topicParts({ topic }: SourceMessage): TopicParts {
    return (typeof topic === 'string' ? this.settings.keyTopic?.match(topic) : undefined) ?? {};
  }

  private get isKeySet(): boolean {
    const { keyColumn, keyProperty, keyTopic } = this.settings;
    return keyColumn !== undefined || keyProperty !== undefined || keyTopic !== undefined;
  }

  /** Settles key and time, and makes numbers of text with a unit. */
  private settle(found: Found, message: SourceMessage, topic: TopicParts): MessageReading {
    const taken: string[] = [];
    const { values } = found;
    const key = this.findKey(found, message, topic, taken);
    const time = asInstant(this.findTime(found, message, taken));
    const cells: Row = {};
    for (const column in values) {
      const value = values[column];
      if (!taken.includes(column) && isSensorValue(value) && !isEpochIn(column, value)) {
        setCell(cells, column, typeof value === 'string' ? this.withoutUnit(column, value) : value);
      }
    }
    return { key, time, values: cells };
  }

  /** @param taken columns that are no sensors: that of the key is added */
  private findKey(
    { key, labels, values }: Found,
    message: SourceMessage,
    topic: TopicParts,
    taken: string[],
  ): string | undefined {
    const { keyColumn, keyProperty, keyTopic } = this.settings;
    if (keyTopic !== undefined) {
      return topic.key;
    }
    if (keyProperty !== undefined && !(keyProperty === 'topic' && key !== undefined)) {
      return readName(at(message, keyProperty));
    }
    if (keyProperty !== undefined) {
      return key;
    }
    if (keyColumn !== undefined) {
      taken.push(keyColumn);
      return readName(values[keyColumn] ?? labels?.[keyColumn] ?? at(message.payload, keyColumn)) ?? key;
    }
    const all = Object.values(labels ?? {}).flatMap((label) => readName(label) ?? []);
    return key ?? (all.length === 0 ? undefined : all.join('/'));
  }

  /** @param taken columns that are no sensors: those of times are added */
  private findTime({ time, values }: Found, message: SourceMessage, taken: string[]): unknown {
    const { time: setting } = this.settings;
    if (setting?.startsWith('msg.') === true) {
      return instant(at(message, setting.slice(4)));
    }
    if (setting !== undefined) {
      taken.push(setting);
      const told = ofSpreadsheet(setting, values[setting] ?? at(message.payload, setting));
      this.notes.time(setting, told);
      return instant(told, readOffset(setting));
    }
    const named = timesIn(values);
    // An empty one stays: it tells that the reading should have a time.
    taken.push(
      ...(named?.columns ?? []).filter((column) => values[column] !== null && values[column] !== ''),
    );
    const told = time ?? named?.value;
    if (told !== undefined && told !== null) {
      const isNamedSo = (time === undefined || time === null) && named !== undefined;
      this.notes.time(named?.column ?? '', told);
      return instant(told, isNamedSo ? readOffset(named.column) : undefined);
    }
    const { sourceTimestamp } = message;
    return typeof sourceTimestamp === 'string' || looksLikeTime(sourceTimestamp)
      ? instant(sourceTimestamp)
      : undefined;
  }

  /** A number with a unit is a number; with another unit than before it is missing. */
  private withoutUnit(column: string, text: string): unknown {
    if (text.length > MAX_NUMBER_CHARACTERS || !/\d/.test(text)) {
      return text;
    }
    const written = writtenNumber(text);
    const number = Number(written?.text.replace(',', '.'));
    if (written === undefined || written.unit === '' || written.unit.includes(':') || Number.isNaN(number)) {
      return text;
    }
    return this.notes.isInUnit(column, written.unit, text) ? number : null;
  }
}

/** Whether a value is the column of a table: a list of cells. */
function isColumn(value: unknown): boolean {
  return ArrayBuffer.isView(value) || (Array.isArray(value) && !value.some(isNamed));
}

async function* mapped<T>(all: AsyncIterable<T>, map: (one: T) => T): AsyncGenerator<T> {
  for await (const one of all) {
    yield map(one);
  }
}

async function* joined<T>(all: readonly (Iterable<T> | AsyncIterable<T>)[]): AsyncGenerator<T> {
  for (const some of all) {
    yield* some;
  }
}

/** Whether a text has a header and rows, or is JSON that was not opened. */
function isTableText(payload: unknown): boolean {
  if (typeof payload !== 'string') {
    return false;
  }
  const text = payload.trim();
  return text.length > MAX_VALUE_CHARACTERS || /[\r\n]/.test(text) || /^[[{]/.test(text);
}
