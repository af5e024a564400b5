/** One reading as it comes: columns with their values now. Columns may be left out, so one sensor may speak alone. */
export type SeriesReading = Readonly<Record<string, unknown>>;

/** Settings as people write them, in a dialog or a program. What is left out has the default of the dialog. */
export interface SeriesOptions {
  /** The column that says which machine a reading is from. Empty: one machine, unless `push` is given a key. */
  key?: string;
  /** The column with the time. Empty: one named time, timestamp, ts or date, in any case; else the time of arrival. */
  time?: string;
  outcome?: 'column' | 'event' | 'message' | 'none';
  /** The column whose value later, or whose condition, is the outcome. */
  column?: string;
  /** Of an event: one of {@link EVENT_OPERATORS}. */
  operator?: string;
  /** Of an event: what the column is compared with. Text that reads as a number, or as true or false, is taken as one. */
  value?: unknown;
  /** A duration, a list or a range: `10m`, `1h, 6h, 24h`, `1h..24h`. Default `10m`. */
  ahead?: string;
  /**
   * Columns whose value at the time predicted for is known before, such as a holiday or a tariff: names, with commas
   * between where they are one text. Plans tell them: readings that come before their time with these columns alone.
   */
  knownAhead?: string | readonly string[];
  /** Durations such as `10m, 1h`. Empty or `auto`: ahead and 6 × ahead, and a day. */
  windows?: string;
  /** `auto` (also empty), `never`, a duration such as `1d`, or a number of rows such as `500 rows`. */
  train?: string;
  /** Empty: a row for every reading. A duration: one row in each of these. */
  every?: string;
  /** How late a reading may come, by the clock of its machine. Empty or `auto`: 3 × the median step of its machine. */
  late?: string;
  /** Rows with their outcome that are kept for train sets. Default 20,000. */
  keep?: number | string;
  /** Columns of the calendar. `auto`: those that the rows kept are long enough for. */
  calendar?: 'auto' | 'on' | 'off';
  /** Learn the change from now: the train set names the column as `relative_to`. Default true. */
  relative?: boolean;
  /** Words that mean "no value", beside empty text, NA and its like. */
  missingWords?: readonly string[];
  /** What a value is that does not fit its column, such as text among numbers. Default `error`. */
  unreadable?: 'error' | 'missing';
  /** Zone of the calendar and of times without one (IANA name). Empty: this computer's. */
  timezone?: string;
}

/** What is compared by an event. */
export const EVENT_OPERATORS = ['=', '!=', '<', '<=', '>', '>='] as const;

export type EventOperator = (typeof EVENT_OPERATORS)[number];

export type SeriesOutcomeKind =
  | { kind: 'column'; column: string }
  | { kind: 'event'; column: string; operator: EventOperator; value: number | string | boolean }
  | { kind: 'message' }
  | { kind: 'none' };

export type TrainSchedule =
  { kind: 'auto' } | { kind: 'never' } | { kind: 'interval'; ms: number } | { kind: 'rows'; rows: number };

/** Checked settings: durations in milliseconds, lists sorted. */
export interface SeriesSettings {
  key: string | undefined;
  time: string | undefined;
  outcome: SeriesOutcomeKind;
  /** Ascending, without repeats; at least one. */
  aheads: readonly number[];
  /** Without repeats; none where the outcome is not of the readings. */
  knownAhead: readonly string[];
  /** Ascending, without repeats; at least one. */
  windows: readonly number[];
  train: TrainSchedule;
  every: number | undefined;
  /** undefined: 3 × the median step of each key. */
  late: number | undefined;
  keep: number;
  calendar: 'auto' | 'on' | 'off';
  relative: boolean;
  missingWords: readonly string[];
  unreadable: 'error' | 'missing';
  /** IANA name. */
  timezone: string;
}

/** `msg.series`: which row this is. The same readings give the same ids, also after a restart and from a table. */
export interface RowAddress {
  /** null where there are no keys. */
  key: string | null;
  /** Time of the reading, milliseconds since 1970. */
  time: number;
  /** Milliseconds from the reading to what is predicted; null where the outcome is brought by a message or is none. */
  ahead: number | null;
  id: string;
}

/** A row: a cell is a number, text, a truth value, or null where it is missing. */
export type SeriesCells = Record<string, number | string | boolean | null>;

export interface SeriesRow {
  series: RowAddress;
  row: SeriesCells;
}

/** A row whose outcome is known and will not become another one by waiting. */
export interface SeriesOutcome {
  series: RowAddress;
  /** With the target in its column. */
  row: SeriesCells;
  truth: number | string | boolean;
}

export type TrainReason = 'first' | 'rows' | 'schedule' | 'decay' | 'asked';

/** What a fit needs to know of a train set; names are those of a message's properties. */
export interface SeriesTrainSet {
  target: string;
  /** Columns of the rows that are no features. */
  ignore: string[];
  order: 'time';
  /** In rows: how many begin before the outcome of a row is known, and share a part of it. */
  embargo: number;
  relative_to?: string;
  /** The column of keys. */
  group?: string;
  /** With `group`: whole keys are to be held out, since new ones will come, or blocks of time, since those known go on. */
  folds?: 'groups' | 'blocks';
  replace: 'better';
  train: {
    reason: TrainReason;
    rows: number;
    /** Time of the first and of the last row, milliseconds since 1970. */
    from: number;
    to: number;
    /** The same of each machine, where there are several: one may be behind the others. */
    keys?: { key: string; to: number }[];
  };
  /** The rows in order of time. Made on asking, in slices; the same whenever it is asked. */
  rows(): Promise<SeriesCells[]>;
}

/** What a reading brings about, in the order in which it should leave: the train set, then rows, then outcomes. */
export interface SeriesStep {
  /** Rows to predict: one for each `ahead`; none until the first train set has gone, and for late readings. */
  rows: SeriesRow[];
  outcomes: SeriesOutcome[];
  trainSet?: SeriesTrainSet;
}

export interface PushOptions {
  /** The machine; given, the column of settings.key is not looked at. */
  key?: string;
  /** The time, in any form; given, no column is looked for. */
  time?: unknown;
  /** Milliseconds since 1970. Left out: now. */
  arrival?: number;
}

/** Which row an outcome belongs to: its id, or its key (left out where there is none) and time. */
export interface BroughtOutcome {
  id?: string;
  key?: string;
  /** In any form. The row at that time, else the last one before. */
  time?: unknown;
  value: unknown;
}

/** Something to tell the user once: never an error of one reading. */
export interface SeriesNote {
  kind:
    | 'future'
    | 'late'
    | 'unknown ahead'
    | 'text'
    | 'unreadable'
    | 'few events'
    | 'keys'
    | 'rows dropped'
    | 'storage.failed'
    | 'storage.ok';
  text: string;
}

export interface SeriesProgress {
  keys: number;
  /** Counts since the folder was made, or since `openSeries` without one. */
  readings: number;
  rows: number;
  outcomes: number;
  late: number;
  future: number;
  duplicates: number;
  cellsMissing: number;
  /** Rows of plans taken; and rows to predict that left without something that is to be known ahead. */
  planned: number;
  unknownAhead: number;
  /** Rows kept with their outcome, and how many the first train set waits for; 0 where none is to come by itself. */
  kept: number;
  needed: number;
  /** Of outcomes with classes: rows of the rarer class kept, of the 20 that are needed. */
  rarer?: number;
  /** Where the outcome is an event: how many of them the rows kept tell of, of the 3 that are needed; 3 at most. */
  events?: number;
  /** Whether the first train set has gone (or none is to be waited for): rows leave. */
  started: boolean;
  /** Train sets so far, and when the last one went, milliseconds since 1970. */
  trainSets: number;
  trainedAt?: number;
  /** A decay was told too soon after the last train set: the next one waits for its time. */
  decayWaits: boolean;
  /** Columns of the readings, in the order in which they were seen first. */
  columns: string[];
  storage: 'none' | 'ok' | 'failed';
}

/** Readings in; rows, outcomes and train sets out. Calls take effect one after the other, in their order. */
export interface Series {
  readonly settings: SeriesSettings;
  readonly progress: SeriesProgress;
  /**
   * Takes one reading. Errors: `time.invalid`, `table.invalid` (a cell that cannot be read; the reading is not taken),
   * `columns.missing` (no key), `limit.exceeded` (keys, columns, numbers). One whose time has not come yet, with columns
   * known ahead alone, is a part of the plan of its key, or without one of all keys: it makes no row.
   */
  push(reading: SeriesReading, options?: PushOptions): Promise<SeriesStep>;
  /**
   * Takes a table of past readings, in any order: the rows are those that the same readings give one by one. Readings
   * that were there before stay; the same key and time: the table's. Steps come in parts; the last one has the train
   * set, where there are outcomes. Errors as `push`, with the row's number; nothing is taken of a table with an error.
   * What its rows say in columns known ahead was known before to the rows before them. A table of such columns alone is
   * a plan, and so are the rows of such columns alone that come after all other readings of their key.
   */
  backfill(
    readings: Iterable<SeriesReading> | AsyncIterable<SeriesReading>,
    options?: PushOptions,
  ): AsyncGenerator<SeriesStep>;
  /** Outcomes of kind `message`. Errors: `outcome.unknown`; `validation.failed` where outcomes are not brought by messages. */
  outcome(brought: BroughtOutcome): Promise<SeriesStep>;
  /**
   * A train set now. `asked`: error `table.empty` where no outcome is known; `decay`: undefined within an hour of the
   * last train set, and where no outcome came since; it then comes with the first outcome after that.
   */
  train(reason: 'asked' | 'decay'): Promise<SeriesTrainSet | undefined>;
  /** Forgets all, or one key: readings, rows and counts. */
  reset(key?: string): Promise<void>;
  /** Writes what is not on disk yet. */
  flush(): Promise<void>;
  /** Writes what is not on disk yet and frees all. */
  close(): Promise<void>;
}

export interface SeriesSurroundings {
  /** Where the state is kept; made where it is not there. Left out: in memory alone. One series per folder. */
  folder?: string;
  /** Milliseconds since 1970: of arrivals, and of the schedule of train sets. */
  now?: () => number;
  notify?: (note: SeriesNote) => void;
  /** Milliseconds between two writes. Default 5000. */
  writeEvery?: number;
}
