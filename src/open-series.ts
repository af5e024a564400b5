import type { Training } from './connect';
import type { MessageNote, MessageReading } from './messages';
import { type PastTable, type ProgramReadingOptions, ProgramReadings } from './program-readings';
import {
  type BackfillOptions,
  type BroughtOutcome,
  openSeries,
  type PackedList,
  parseSeriesSettings,
  type PushOptions,
  type Series,
  type SeriesNote,
  type SeriesOptions,
  type SeriesOutcome,
  type SeriesProgress,
  type SeriesRow,
  type SeriesStep,
  type SeriesTable,
  type SeriesTrainSet,
} from './series';
import { Yielder } from './util/concurrency';

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
    const { topic, ...told } = options;
    const pushed = await this.given.pushed(reading, topic);
    if ('past' in pushed) {
      return this.past(pushed.past, told);
    }
    return 'plain' in pushed
      ? answerOf(await this.opened.push(pushed.plain, told))
      : this.pushAll(pushed.readings, told);
  }

  /** Takes a table of past readings, in any form that `train` takes; `key` where no column holds it. Errors as `push`. */
  async backfill(past: PastTable): Promise<SeriesAnswer> {
    const { key, signal } = past;
    return this.past(await this.given.table(past), { key, signal });
  }

  private async pushAll(readings: readonly MessageReading[], options: PushOptions): Promise<SeriesAnswer> {
    const all: SeriesAnswer = { rows: [], outcomes: [] };
    for (const { key, time, values } of readings) {
      const step = await this.opened.push(values, { key, time, ...options });
      const { rows, outcomes, ...train } = await answerOf(step);
      all.rows.push(...rows);
      all.outcomes.push(...outcomes);
      Object.assign(all, train);
    }
    return all;
  }

  private async past(readings: SeriesTable, options: BackfillOptions): Promise<SeriesAnswer> {
    const { rows, outcomes, trainSet } = await this.opened.backfill(readings, options);
    return answerOf({ rows: await unpacked(rows), outcomes: await unpacked(outcomes), trainSet });
  }

  /** Says what came of a row, where `outcome` is `message`. Errors: `outcome.unknown`, `validation.failed` */
  async outcome(brought: BroughtOutcome): Promise<SeriesAnswer> {
    return answerOf(await this.opened.outcome(brought));
  }

  /** A train set now. @throws ServiceError `table.empty` where no outcome is known */
  async train(): Promise<SeriesTraining> {
    return trainingOf((await this.opened.train('asked'))!);
  }

  /** Forgets all, or the readings of one key. */
  reset(key?: string): Promise<void> {
    return this.opened.reset(key);
  }

  /** Writes what is not on disk yet. */
  close(): Promise<void> {
    return this.opened.close();
  }
}

/**
 * Opens a series: it makes rows for `predict` out of readings, and train sets for `train` out of what came of them.
 * @throws ServiceError `config.invalid`, `storage.failed`
 */
export async function series(options: SeriesProgramOptions = {}): Promise<SeriesRows> {
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

async function answerOf({ rows, outcomes, trainSet }: SeriesStep): Promise<SeriesAnswer> {
  return trainSet === undefined
    ? { rows, outcomes }
    : { rows, outcomes, train: trainSet.train, training: await trainingOf(trainSet) };
}

async function trainingOf(trainSet: SeriesTrainSet): Promise<SeriesTraining> {
  const { target, ignore, order, embargo, relative_to: relativeTo, group, folds } = trainSet;
  const { to, keys: trainedKeys } = trainSet.train;
  return {
    ...{ table: await trainSet.rows(), target, ignore, order, embargo, relativeTo, group, folds },
    ...{ trainedUntil: new Date(to).toISOString(), trainedKeys },
  };
}
