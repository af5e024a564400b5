import type { GivenTable, Training } from './connect';
import {
  type BroughtOutcome,
  openSeries,
  type PackedList,
  parseSeriesSettings,
  type PushOptions,
  readingsOf,
  type Series,
  type SeriesNote,
  type SeriesOptions,
  type SeriesOutcome,
  type SeriesProgress,
  type SeriesReading,
  type SeriesRow,
  type SeriesStep,
  type SeriesTrainSet,
} from './series';
import { openTable, openTableFile } from './table';
import { Yielder } from './util/event-loop';

const UNPACKED_AT_ONCE = 100;

/** As the series node; its fields have the same names. */
export interface SeriesProgramOptions extends SeriesOptions {
  /** Folder that keeps readings and rows across restarts, of this series alone. Default: memory only. */
  folder?: string;
  /** Told what is no error, such as a reading from the future, once of a kind. */
  onNote?: (note: SeriesNote) => void;
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

/** Readings in; rows, outcomes and train sets out, as the series node makes them. */
export class SeriesRows {
  /** @internal Use `series`. */
  constructor(private readonly opened: Series) {}

  get progress(): SeriesProgress {
    return this.opened.progress;
  }

  /** Takes one reading. Errors: `time.invalid`, `table.invalid`, `columns.missing`, `limit.exceeded` */
  async push(reading: SeriesReading, options?: PushOptions): Promise<SeriesAnswer> {
    return answerOf(await this.opened.push(reading, options));
  }

  /** Takes a table of past readings, in any form that `train` takes; `key` where no column holds it. Errors as `push`. */
  async backfill(given: GivenTable & { key?: string; signal?: AbortSignal }): Promise<SeriesAnswer> {
    const { table, path, key, signal } = given;
    const source =
      path === undefined ? await openTable(table, { signal }) : await openTableFile(path, { signal });
    const readings = readingsOf(source, this.opened.settings, { signal });
    const { rows, outcomes, trainSet } = await this.opened.backfill(readings, { key, signal });
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
  const { folder, onNote, ...given } = options;
  return new SeriesRows(await openSeries(parseSeriesSettings(given), { folder, notify: onNote }));
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
