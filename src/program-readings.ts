import {
  Anomalies,
  type AnomalyAnswer,
  type AnomalyChange,
  type AnomalyNote,
  type AnomalyOptions,
  type AnomalySurroundings,
} from './anomaly';
import type { GivenTable, Training } from './connect';
import { checkByRules } from './connection';
import {
  type MessageNote,
  MessageReader,
  type MessageReading,
  type ReadMessage,
  timeAmong,
  timeTexts,
  TopicPattern,
} from './messages';
import {
  type BackfillOptions,
  type BroughtOutcome,
  openSeries,
  type PackedList,
  parseSeriesSettings,
  PlacedReading,
  type PushOptions,
  readReadings,
  type Series,
  type SeriesNote,
  type SeriesOptions,
  type SeriesOutcome,
  type SeriesProgress,
  type SeriesReading,
  type SeriesRow,
  type SeriesSettings,
  type SeriesStep,
  type SeriesTable,
  type SeriesTrainSet,
} from './series';
import { choice, freeText } from './settings/kinds';
import { ANOMALY, FIT } from './settings/nodes';
import { openTable, openTableFile } from './table';
import { Yielder } from './util/concurrency';
import {
  ANY_TEXT,
  ANY_TEXTS,
  checkGiven,
  checkValue,
  FLAG,
  type Form,
  FUNCTION,
  numberFrom,
  optional,
  SIGNAL,
} from './wire/given';
import { ServiceError } from './wire/service-error';

/** How a program's readings are read. */
interface ProgramReadingOptions {
  /** Default `auto`: readings may be as their sources send them. `plain`: objects of columns. */
  shape?: 'auto' | 'plain';
  /** Whether `key` names a column, or is a pattern of topics such as `plant/+/#`. Default `column`. */
  keyType?: 'column' | 'topic';
  /** Names for the values of a list, in order. */
  names?: readonly string[];
}

/** A table of past readings in any form that `train` takes; `key` where no column holds it. */
type PastTable = GivenTable & { key?: string; signal?: AbortSignal };

/** What a program pushes: a reading as it stands, a message's readings, or a table of past ones. */
type PushedReadings =
  | { plain: SeriesReading }
  | { readings: ReadMessage['readings'] }
  | { past: SeriesTable };

function isPlainList(value: unknown): value is unknown[] {
  return Array.isArray(value) && value.length > 0 && value.every((cell) => typeof cell === 'number');
}

/** Reads what a program pushes as the nodes read messages. */
class ProgramReadings {
  /** The column of the key, where one holds it. */
  readonly keyColumn: string | undefined;
  private readonly messages: MessageReader | undefined;
  private isClosed = false;

  /** @throws ServiceError `config.invalid` for a pattern of topics that is none */
  constructor(
    key: string | undefined,
    private readonly settings: Pick<SeriesSettings, 'time' | 'missingWords' | 'unreadable'>,
    { shape = 'auto', keyType = 'column', names = [] }: ProgramReadingOptions,
    tell: (note: MessageNote) => void,
  ) {
    const named = key?.trim() === '' ? undefined : key?.trim();
    this.keyColumn = keyType === 'topic' ? undefined : named;
    const keyTopic = keyType === 'topic' && named !== undefined ? TopicPattern.parse(named) : undefined;
    const { time } = settings;
    this.messages =
      shape === 'auto'
        ? new MessageReader({ keyColumn: this.keyColumn, keyTopic, time, names }, tell)
        : undefined;
  }

  /** What comes from now on would be kept nowhere. */
  close(): void {
    this.isClosed = true;
  }

  /** @throws ServiceError `closed` */
  assertOpen(): void {
    if (this.isClosed) {
      throw new ServiceError('closed', 'It was closed: open it again to go on.');
    }
  }

  /** @throws ServiceError `closed`, `validation.failed`, `table.invalid`, `table.empty` */
  async pushed(reading: unknown, topic: string | undefined): Promise<PushedReadings> {
    this.assertOpen();
    const read = this.messages?.read({ payload: reading, topic });
    if (read !== undefined) {
      return read.table === undefined
        ? { readings: withoutEmpty(read.readings) }
        : { past: placed(read.table) };
    }
    if (this.messages !== undefined && isPlainList(reading)) {
      throw new ServiceError(
        'validation.failed',
        `The reading is a list of ${reading.length} values, which are not named. Give the option names, such as ['temperature', 'speed'], or push an object.`,
      );
    }
    if (this.messages !== undefined && (Array.isArray(reading) || ArrayBuffer.isView(reading))) {
      return { past: await this.table({ table: reading }) };
    }
    if (typeof reading !== 'object' || reading === null) {
      throw new ServiceError(
        'validation.failed',
        `The reading is ${reading === null ? 'null' : `a ${typeof reading}`}. Push an object with a value for each column, or a value with the topic that it came by.`,
      );
    }
    return { plain: reading as SeriesReading };
  }

  /** The rows of a table, in its order. @throws ServiceError `table.invalid`, `table.empty`, `file.unreadable` */
  async table({ table, path, signal }: PastTable): Promise<SeriesTable> {
    this.assertOpen();
    const source =
      path === undefined ? await openTable(table, { signal }) : await openTableFile(path, { signal });
    if (this.messages === undefined) {
      return readReadings(source, this.settings, { signal });
    }
    const { names } = source;
    const texts = timeTexts(names, this.settings.time ?? timeAmong(names));
    return placed(this.messages.table(readReadings(source, this.settings, { signal, texts }), names));
  }
}

async function* placed(rows: AsyncIterable<MessageReading>): AsyncGenerator<PlacedReading> {
  for await (const { values, key, time } of rows) {
    yield new PlacedReading(values, key, time);
  }
}

/** Of several readings those that say something. */
function withoutEmpty(readings: MessageReading[]): MessageReading[] {
  const saying = readings.filter(({ values }) => Object.keys(values).length > 0);
  return saying.length > 0 ? saying : readings;
}

/** What is not checked where it is read. */
const READINGS = {
  key: freeText(),
  keyType: choice(['column', 'topic']),
  names: ANOMALY.names,
  timezone: FIT.timezone,
};

/** What a dialog would have as a text. */
const WRITTEN: Form = {
  must: 'a text',
  fits: (value) => typeof value === 'string' || typeof value === 'number',
  isOptional: true,
};

const SERIES = {
  time: WRITTEN,
  column: WRITTEN,
  operator: WRITTEN,
  ahead: WRITTEN,
  windows: WRITTEN,
  train: WRITTEN,
  every: WRITTEN,
  late: WRITTEN,
  keep: WRITTEN,
  relative: optional(FLAG),
  knownAhead: {
    must: 'a text or an array of texts',
    fits: (value: unknown) => ANY_TEXT.fits(value) || ANY_TEXTS.fits(value),
    isOptional: true as const,
  },
  folder: optional(ANY_TEXT),
  onNote: optional(FUNCTION),
};

const NUMBER = optional(numberFrom(0, { integer: false }));

const ANOMALIES = {
  ...{
    time: optional(ANY_TEXT),
    every: optional(ANY_TEXT),
    alarms: NUMBER,
    per: optional(ANY_TEXT),
    learn: NUMBER,
  },
  folder: optional(ANY_TEXT),
  onNote: optional(FUNCTION),
  onChange: optional(FUNCTION),
};

const PAST = { path: optional(ANY_TEXT), signal: optional(SIGNAL) };

const UNPACKED_AT_ONCE = 100;

/** As the series node; its fields have the same names. */
export interface SeriesProgramOptions extends SeriesOptions, ProgramReadingOptions {
  /** Folder that keeps readings and rows across restarts, of this series alone. Default: memory only. */
  folder?: string;
  /** Told what is no error, such as a reading from the future, once of a kind. */
  onNote?: (note: SeriesNote | MessageNote) => void;
}

/** A train set as `train` of `connect` takes it. */
export type SeriesTraining = Pick<
  Training,
  | 'target'
  | 'ignore'
  | 'order'
  | 'embargo'
  | 'relativeTo'
  | 'group'
  | 'folds'
  | 'trainedUntil'
  | 'trainedKeys'
> & { table: SeriesRow['row'][] };

/** What one reading, or a table of them, brings about. */
export interface SeriesAnswer {
  /** Rows to predict from. */
  rows: SeriesRow[];
  /** Rows of before with what came of them. */
  outcomes: SeriesOutcome[];
  /** Why there is a train set, and of how many rows; undefined where there is none. */
  train?: SeriesTrainSet['train'];
  /** The train set, to be given to `train` of `connect`. */
  training?: SeriesTraining;
}

/** As {@link PushOptions}, with the topic that a message came by: it may tell key and column. */
export type SeriesPushOptions = PushOptions & { topic?: string };

/** Readings in; rows, outcomes and train sets out, as the series node makes them. */
export class SeriesRows {
  /** @internal Use `series`. */
  constructor(
    private readonly opened: Series,
    private readonly given: ProgramReadings,
  ) {}

  get progress(): SeriesProgress {
    return this.opened.progress;
  }

  /**
   * Takes one reading: an object of columns, or a message as its source sends it, which may hold several readings, a
   * plan or a history.
   * Errors: `time.invalid`, `table.invalid`, `columns.missing`, `limit.exceeded`, `validation.failed`
   */
  async push(reading: unknown, options: SeriesPushOptions = {}): Promise<SeriesAnswer> {
    checkGiven('push', options, { topic: optional(ANY_TEXT) });
    const { topic, ...told } = options;
    const pushed = await this.given.pushed(reading, topic);
    if ('past' in pushed) {
      return this.past(pushed.past, told);
    }
    return 'plain' in pushed
      ? makeAnswer(await this.opened.push(pushed.plain, told))
      : this.pushAll(pushed.readings, told);
  }

  /** Takes a table of past readings, in any form that `train` takes; `key` where no column holds it. Errors as `push`. */
  async backfill(past: PastTable): Promise<SeriesAnswer> {
    checkGiven('backfill', past, PAST);
    const { key, signal } = past;
    return this.past(await this.given.table(past), { key, signal });
  }

  private async pushAll(readings: readonly MessageReading[], options: PushOptions): Promise<SeriesAnswer> {
    const all: SeriesAnswer = { rows: [], outcomes: [] };
    for (const { key, time, values } of readings) {
      const step = await this.opened.push(values, { key, time, ...options });
      const { rows, outcomes, ...train } = await makeAnswer(step);
      all.rows.push(...rows);
      all.outcomes.push(...outcomes);
      Object.assign(all, train);
    }
    return all;
  }

  private async past(readings: SeriesTable, options: BackfillOptions): Promise<SeriesAnswer> {
    const { rows, outcomes, trainSet } = await this.opened.backfill(readings, options);
    return makeAnswer({ rows: await unpacked(rows), outcomes: await unpacked(outcomes), trainSet });
  }

  /** Says what came of a row, where `outcome` is `message`. Errors: `outcome.unknown`, `validation.failed` */
  async outcome(brought: BroughtOutcome): Promise<SeriesAnswer> {
    this.given.assertOpen();
    checkGiven('outcome', brought, { id: optional(ANY_TEXT) });
    return makeAnswer(await this.opened.outcome(brought));
  }

  /** A train set now. @throws ServiceError `table.empty` where no outcome is known */
  async train(): Promise<SeriesTraining> {
    this.given.assertOpen();
    return makeTraining((await this.opened.train('asked'))!);
  }

  /** Forgets all, or the readings of one key. */
  async reset(key?: string): Promise<void> {
    this.given.assertOpen();
    checkValue('reset: key', key, optional(ANY_TEXT));
    return this.opened.reset(key);
  }

  /** Writes what is not on disk yet. */
  close(): Promise<void> {
    this.given.close();
    return this.opened.close();
  }
}

/**
 * Opens a series: it makes rows for `predict` out of readings, and train sets for `train` out of what came of them.
 * @throws ServiceError `config.invalid`, `validation.failed`, `storage.failed`
 */
export async function series(options: SeriesProgramOptions = {}): Promise<SeriesRows> {
  checkGiven('series', options, SERIES, 'config.invalid');
  checkByRules('series', { ...READINGS, missingWords: FIT.missingWords }, options);
  const { folder, onNote, keyType, names, shape = 'auto', ...given } = options;
  const settings = parseSeriesSettings({ ...given, shape, ...(keyType === 'topic' && { key: undefined }) });
  const tell = (note: SeriesNote | MessageNote): void => onNote?.(note);
  const readings = new ProgramReadings(given.key, settings, { shape, keyType, names }, tell);
  return new SeriesRows(await openSeries(settings, { folder, notify: onNote }), readings);
}

/** All of a list, in slices, so that the event loop has its turns. */
async function unpacked<T>(list: PackedList<T>): Promise<T[]> {
  const yielder = new Yielder();
  const all: T[] = [];
  while (all.length < list.length) {
    all.push(...list.slice(all.length, all.length + UNPACKED_AT_ONCE));
    await yielder.due();
  }
  return all;
}

async function makeAnswer({ rows, outcomes, trainSet }: SeriesStep): Promise<SeriesAnswer> {
  return trainSet === undefined
    ? { rows, outcomes }
    : { rows, outcomes, train: trainSet.train, training: await makeTraining(trainSet) };
}

async function makeTraining(trainSet: SeriesTrainSet): Promise<SeriesTraining> {
  const { target, ignore, order, embargo, relative_to: relativeTo, group, folds } = trainSet;
  const { to, keys: trainedKeys } = trainSet.train;
  return {
    table: await trainSet.rows(),
    target,
    ignore,
    order,
    embargo,
    relativeTo,
    group,
    folds,
    trainedUntil: new Date(to).toISOString(),
    trainedKeys,
  };
}

/** As the anomaly node; its fields have the same names. */
export interface AnomalyProgramOptions extends AnomalyOptions, ProgramReadingOptions {
  /** Folder that keeps what is known across restarts, of these machines alone. Default: memory only. */
  folder?: string;
  /** Told what is no error, such as a disk that is full. */
  onNote?: (note: AnomalyNote | MessageNote) => void;
  /** Told what happens between readings: something was learned, or a question about the history has come up. */
  onChange?: (change: AnomalyChange) => void;
}

/** What is told of a reading beside it. */
export interface AnomalyPushOptions {
  /** The machine; overrides the column of `key`. */
  key?: string;
  /** The time, in any form; overrides the time column. */
  time?: unknown;
  /** The topic that a message came by: it may tell key and column. */
  topic?: string;
}

/** Readings in; what is unusual of them out, as the anomaly node says it. */
export class AnomalyMachines extends Anomalies {
  private constructor(
    options: AnomalyOptions,
    around: AnomalySurroundings,
    private readonly given: ProgramReadings,
  ) {
    super(options, around);
  }

  /** @internal Use `anomalies`. */
  static of(options: AnomalyProgramOptions): Promise<AnomalyMachines> {
    const { folder, onNote, onChange, shape = 'auto', keyType, names, ...settings } = options;
    const { key, time } = settings;
    const read = parseSeriesSettings({ time, shape, outcome: 'none' });
    const given = new ProgramReadings(key, read, { shape, keyType, names }, (note) => onNote?.(note));
    const around = { folder, notify: onNote, onChange };
    return new AnomalyMachines(
      { ...settings, key: given.keyColumn, time: read.time },
      around,
      given,
    ).opened();
  }

  /**
   * Takes a reading: an object of columns, or a message as its source sends it, which may hold several readings, or a table
   * of past ones, of which nothing is said. Single values on topics of their own are gathered into rows.
   * @returns what is told of each row
   * @throws ServiceError `time.invalid`, `table.invalid`, `columns.missing`, `limit.exceeded`, `validation.failed`
   */
  async push(reading: unknown, options: AnomalyPushOptions = {}): Promise<AnomalyAnswer[]> {
    checkGiven('push', options, { topic: optional(ANY_TEXT) });
    const { topic, ...told } = options;
    const pushed = await this.given.pushed(reading, topic);
    if ('past' in pushed) {
      await this.teach(taught(pushed.past, told));
      return [];
    }
    if ('plain' in pushed) {
      return this.takeJoined(pushed.plain, told);
    }
    const answers: AnomalyAnswer[] = [];
    for (const { key, time, values } of pushed.readings) {
      answers.push(...(await this.takePart(values, { key, time, ...told })));
    }
    return answers;
  }

  /**
   * Takes a table of past readings, each with its time, in any form that `train` takes: it teaches at once.
   * @returns how many rows it had, of how many keys
   * @throws ServiceError as `push`, and `file.unreadable`
   */
  async backfill(past: PastTable): Promise<{ rows: number; keys: number }> {
    checkGiven('backfill', past, PAST);
    return this.teach(taught(await this.given.table(past), { key: past.key }), past.signal);
  }

  /** Writes what is not on disk yet. */
  override close(): Promise<void> {
    this.given.close();
    return super.close();
  }
}

/**
 * Learns what is usual for each machine from its readings, and says what is not.
 * @throws ServiceError `config.invalid`, `validation.failed`, `storage.failed`
 */
export async function anomalies(options: AnomalyProgramOptions = {}): Promise<AnomalyMachines> {
  checkGiven('anomalies', options, ANOMALIES, 'config.invalid');
  checkByRules('anomalies', { ...READINGS, ignore: ANOMALY.ignore }, options);
  return AnomalyMachines.of(options);
}

/** Rows of a table as machines are taught by them. @param told of all rows that do not say it themselves */
async function* taught(
  rows: SeriesTable,
  told: Omit<AnomalyPushOptions, 'topic'>,
): Parameters<Anomalies['teach']>[0] {
  for await (const row of rows) {
    yield row instanceof PlacedReading
      ? { reading: row.cells, place: { key: told.key ?? row.key, time: row.time } }
      : { reading: row, place: { key: told.key } };
  }
}
