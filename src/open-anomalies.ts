import {
  Anomalies,
  type AnomalyAnswer,
  type AnomalyChange,
  type AnomalyNote,
  type AnomalyOptions,
  type AnomalySurroundings,
} from './anomaly';
import type { MessageNote } from './messages';
import { type PastTable, type ProgramReadingOptions, ProgramReadings } from './program-readings';
import { parseSeriesSettings, PlacedReading, type SeriesTable } from './series';

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
    return this.teach(taught(await this.given.table(past), { key: past.key }), past.signal);
  }
}

/**
 * Learns what is usual for each machine from its readings, and says what is not.
 * @throws ServiceError `config.invalid`, `storage.failed`
 */
export async function anomalies(options: AnomalyProgramOptions = {}): Promise<AnomalyMachines> {
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
