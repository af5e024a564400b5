import type { MessageReader, MessageReading } from '../../messages';
import type { TableInput } from '../../models/types';
import { SERIES } from '../../settings';
import { ServiceError } from '../../wire/service-error';
import { fromEnvironment, settingsReader } from '../fields/settings-reader';
import {
  addColumns,
  forgetReading,
  type LastReading,
  lastReading,
  rememberReading,
} from '../input/columns-seen';
import { emptyError, isEmpty, noColumn } from '../input/reading';
import { notSet } from '../input/table-input';
import { messagesLayer, table } from '../lazy';
import type { FlowNode, Message, Red } from '../node-red';
import { keyOfMessage } from './topic-key';
import type { SeriesDef, SeriesRequest } from './types';

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

  constructor(
    private readonly red: Red,
    private readonly node: FlowNode,
    private readonly def: SeriesDef,
  ) {}

  /** Whether messages are read by their shape: those of a flow of an earlier version are not. */
  get isAuto(): boolean {
    return (this.auto ??= settingsReader(this.red, this.node, SERIES, this.def)('shape') === 'auto');
  }

  /**
   * What a message brings: readings, or a table.
   * @throws ServiceError `config.invalid`, `table.empty`, `validation.failed` for a topic that the field Key does not fit,
   * and for values that no column is told of
   */
  request(msg: Message, input: TableInput, place: string): SeriesRequest {
    const key = keyOfMessage(this.red, this.node, this.def, msg);
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
      : lastReading(this.node.id);
  }

  /** Keeps a reading for the dialog, and its columns. */
  remember({ key, time, values }: MessageReading, shape: string | undefined, readings: number): void {
    addColumns(this.node.id, Object.keys(values));
    if (shape !== this.shape) {
      this.shape = shape;
      this.since = Date.now();
    }
    rememberReading(this.node.id, () => ({
      ...(shape !== undefined && { shape }),
      ...(key !== undefined && { key }),
      ...(time !== undefined && { time: shownTime(time) }),
      values: Object.fromEntries(Object.entries(values).slice(0, MAX_SHOWN)),
      readings,
    }));
  }

  /** Forgets what the dialog is shown. */
  forget(): void {
    forgetReading(this.node.id);
  }

  private make(): MessageReader {
    const read = settingsReader(this.red, this.node, SERIES, this.def);
    const key = fromEnvironment(this.red, this.node, this.def.key ?? '').trim();
    const where = this.def.keyType;
    const { MessageReader: Reader, TopicPattern } = messagesLayer();
    return new Reader(
      {
        ...(key !== '' && where === 'topic' && { keyTopic: TopicPattern.parse(key) }),
        ...(key !== '' && where === 'msg' && { keyProperty: key }),
        ...(key !== '' && where !== 'topic' && where !== 'msg' && { keyColumn: key }),
        time: read('time'),
        names: read('names') ?? [],
      },
      ({ text }) => this.node.warn(text),
    );
  }
}

function shownTime(time: unknown): string | undefined {
  return typeof time === 'number' && Math.abs(time) < 8.64e15
    ? new Date(time).toISOString()
    : time instanceof Date || typeof time === 'string'
      ? String(time)
      : undefined;
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
