import type { GivenTable } from './connect';
import {
  type MessageNote,
  MessageReader,
  type MessageReading,
  type ReadMessage,
  timeAmong,
  TopicPattern,
} from './messages';
import {
  PlacedReading,
  readingsOf,
  type SeriesReading,
  type SeriesSettings,
  type SeriesTable,
} from './series';
import { openTable, openTableFile } from './table';
import { ServiceError } from './wire/service-error';

/** How a program's readings are read. */
export interface ProgramReadingOptions {
  /** Default `auto`: readings may be as their sources send them. `plain`: objects of columns. */
  shape?: 'auto' | 'plain';
  /** Whether `key` names a column, or is a pattern of topics such as `plant/+/#`. Default `column`. */
  keyType?: 'column' | 'topic';
  /** Names for the values of a list, in order. */
  names?: readonly string[];
}

/** A table of past readings in any form that `train` takes; `key` where no column holds it. */
export type PastTable = GivenTable & { key?: string; signal?: AbortSignal };

/** What a program pushes: a reading as it stands, a message's readings, or a table of past ones. */
type PushedReadings =
  { plain: SeriesReading } | { readings: ReadMessage['readings'] } | { past: SeriesTable };

/** Reads what a program pushes as the nodes read messages. */
export class ProgramReadings {
  /** The column of the key, where one holds it. */
  readonly keyColumn: string | undefined;
  private readonly messages: MessageReader | undefined;

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

  /** @throws ServiceError `validation.failed`, `table.invalid`, `table.empty` */
  async pushed(reading: unknown, topic: string | undefined): Promise<PushedReadings> {
    const read = this.messages?.read({ payload: reading, topic });
    if (read !== undefined) {
      return read.table === undefined
        ? { readings: withoutEmpty(read.readings) }
        : { past: placed(read.table) };
    }
    if (this.messages !== undefined && Array.isArray(reading)) {
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
    const source =
      path === undefined ? await openTable(table, { signal }) : await openTableFile(path, { signal });
    if (this.messages === undefined) {
      return readingsOf(source, this.settings, { signal });
    }
    const time = this.settings.time ?? timeAmong(source.names);
    return placed(
      this.messages.table(readingsOf(source, { ...this.settings, time }, { signal }), source.names),
    );
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
