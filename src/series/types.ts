/** One reading: columns with their values. Columns may be left out, so a message may carry a single sensor. */
export type SeriesReading = Readonly<Record<string, unknown>>;

/** Settings as people write them, in a dialog or a program. Defaults are those of the dialog. */
export interface SeriesOptions {
  /** The column that identifies the machine. Empty: one machine, unless `push` is given a key. */
  key?: string;
  /** The column with the time. Empty: a column named time, timestamp, ts or date, in any case; without one, the time of arrival. */
  time?: string;
  /** How cells are read: `auto` takes words such as `unavailable` as missing. Default `plain`. */
  shape?: 'auto' | 'plain';
  outcome?: 'column' | 'event' | 'message' | 'none';
  /** The column whose later value, or the condition on it, is the outcome. */
  column?: string;
  /** For events: one of {@link EVENT_OPERATORS}. */
  operator?: string;
  /** For events: what the column is compared with. Text such as `5` or `true` counts as a number or a truth value. */
  value?: unknown;
  /** A duration, a list or a range: `10m`, `1h, 6h, 24h`, `1h..24h`. Default `10m`. */
  ahead?: string;
  /**
   * Columns whose value at the predicted time is known in advance, such as a holiday or a tariff: a list of names, or
   * one text with commas. Plans supply them: readings with a time in the future and without the outcome's column.
   */
  knownAhead?: string | readonly string[];
  /** Durations such as `10m, 1h`. Empty or `auto`: ahead and 6 × ahead, and a day. */
  windows?: string;
  /** `auto` (also empty), `never`, a duration such as `1d`, or a number of rows such as `500 rows`. */
  train?: string;
  /** Empty: a row for every reading. A duration: one row per interval. */
  every?: string;
  /** Allowed lateness in event time. Empty or `auto`: 3 × the median step of the machine. */
  late?: string;
  /**
   * Which rows a table of past readings gives: the newest of each key, or all. Its outcomes are those of rows that were
   * given. Train sets have all rows in either case. Default `all`.
   */
  send?: 'newest' | 'all';
  /** How many rows with an outcome are kept for train sets. Default 20,000. */
  keep?: number | string;
  /** Calendar columns. `auto`: those that the rows kept span enough time for. */
  calendar?: 'auto' | 'on' | 'off';
  /** Learn the change from the current value: the train set names the column as `relative_to`. Default true. */
  relative?: boolean;
  /** Words that mean "no value", in addition to empty text, NA and the like. */
  missingWords?: readonly string[];
  /** What to do with a value that does not fit its column, such as text among numbers. Default `error`. */
  unreadable?: 'error' | 'missing';
  /** IANA zone of the calendar and of times that name none. Empty: the zone of this computer. */
  timezone?: string;
}

/** How an event compares its column. */
export const EVENT_OPERATORS = ['=', '!=', '<', '<=', '>', '>='] as const;

export type EventOperator = (typeof EVENT_OPERATORS)[number];

export type SeriesOutcomeKind =
  | { kind: 'column'; column: string }
  | { kind: 'event'; column: string; operator: EventOperator; value: number | string | boolean }
  | { kind: 'message' }
  | { kind: 'none' };

export type TrainSchedule =
  | { kind: 'auto' }
  | { kind: 'never' }
  | { kind: 'interval'; ms: number }
  | { kind: 'rows'; rows: number };

/** Checked settings: durations in milliseconds, lists sorted. */
export interface SeriesSettings {
  key: string | undefined;
  time: string | undefined;
  shape: 'auto' | 'plain';
  outcome: SeriesOutcomeKind;
  /** Ascending, without repeats; at least one. */
  aheads: readonly number[];
  /** Without repeats; empty where outcomes do not come from the readings. */
  knownAhead: readonly string[];
  /** Ascending, without repeats; at least one. */
  windows: readonly number[];
  train: TrainSchedule;
  every: number | undefined;
  /** undefined: 3 × the median step of each key. */
  late: number | undefined;
  send: 'newest' | 'all';
  keep: number;
  calendar: 'auto' | 'on' | 'off';
  relative: boolean;
  missingWords: readonly string[];
  unreadable: 'error' | 'missing';
  /** IANA name. */
  timezone: string;
}

/** `msg.series`: which row this is. The same readings give the same ids, live, after a restart and from a table. */
export interface RowAddress {
  /** null where there are no keys. */
  key: string | null;
  /** Time of the reading, milliseconds since 1970. */
  time: number;
  /** Milliseconds from the reading to the predicted time; null where a message brings the outcome or there is none. */
  ahead: number | null;
  id: string;
}

/** A row: a cell is a number, text, a truth value, or null where it is missing. */
export type SeriesCells = Record<string, number | string | boolean | null>;

export interface SeriesRow {
  series: RowAddress;
  row: SeriesCells;
}

/** A row with its outcome, released once the readings up to the outcome are in. */
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
  /** Columns of the rows that are not features. */
  ignore: string[];
  order: 'time';
  /** In rows: how many rows after a row overlap the time up to its outcome. */
  embargo: number;
  relative_to?: string;
  /** The column of keys. */
  group?: string;
  /** With `group`: hold out whole keys, since the model will meet new ones, or blocks of time, since the known ones go on. */
  folds?: 'groups' | 'blocks';
  replace: 'better';
  train: {
    reason: TrainReason;
    rows: number;
    /** Time of the first and of the last row, milliseconds since 1970. */
    from: number;
    to: number;
    /** Newest row of each machine, where there are several: one may lag behind the others. */
    keys?: { key: string; to: number }[];
  };
  /** The rows in order of time, built on demand without blocking; every call gives the same rows. */
  rows(): Promise<SeriesCells[]>;
}

/** Rows, or outcomes, that are held packed and unpacked when they are asked for: a year of hours has 200,000. */
export interface PackedList<T> {
  readonly length: number;
  /** How many there were before the oldest were left out. */
  readonly total: number;
  /** Cells of one at most. */
  readonly width: number;
  /** Those from one index up to another, which is not included. */
  slice(from: number, to: number): T[];
}

/** What a table of past readings produces, in the order in which it should leave. */
export interface SeriesPast {
  trainSet?: SeriesTrainSet;
  rows: PackedList<SeriesRow>;
  outcomes: PackedList<SeriesOutcome>;
}

/** What a reading produces, in the order in which it should leave: the train set, then rows, then outcomes. */
export interface SeriesStep {
  /** Rows to predict: one for each `ahead`; none before the first train set, and none for late readings. */
  rows: SeriesRow[];
  outcomes: SeriesOutcome[];
  trainSet?: SeriesTrainSet;
}

export interface PushOptions {
  /** The machine; overrides the column of settings.key. */
  key?: string;
  /** The time, in any form; overrides the time column. */
  time?: unknown;
  /** Milliseconds since 1970. Left out: now. */
  arrival?: number;
}

/** A reading of a table whose key and time are not among its columns. */
export class PlacedReading {
  constructor(
    readonly cells: SeriesReading,
    readonly key: string | undefined,
    /** In any form; undefined where it has none, or a column has it. */
    readonly time: unknown,
  ) {}
}

/** Rows of a table of past readings. */
export type SeriesTable =
  | Iterable<SeriesReading | PlacedReading>
  | AsyncIterable<SeriesReading | PlacedReading>;

export interface BackfillOptions extends PushOptions {
  signal?: AbortSignal;
  /** Rows, and outcomes, that are given at most: the newest. Left out: all. */
  most?: number;
}

/** An outcome that a message brings. It names its row by id, or by key (left out where there is none) and time. */
export interface BroughtOutcome {
  id?: string;
  key?: string;
  /** In any form: the row at that time, or else the last one before it. */
  time?: unknown;
  value: unknown;
}

/** A notice for the user, given once; never an error of a single reading. */
export interface SeriesNote {
  kind:
    | 'future'
    | 'late'
    | 'clock'
    | 'no time'
    | 'same time'
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
  /** Counters start with the folder, or with `openSeries` where there is none. */
  readings: number;
  rows: number;
  outcomes: number;
  late: number;
  future: number;
  duplicates: number;
  cellsMissing: number;
  /** Plan rows taken, and rows to predict that left without a value for some column known ahead. */
  planned: number;
  unknownAhead: number;
  /** Rows kept with their outcome, and how many the first train set waits for; 0 where none is sent unasked. */
  kept: number;
  needed: number;
  /** For classes: how many rows of the rarer class are kept; 20 are needed. */
  rarer?: number;
  /** For events: how many separate events the rows kept cover, counted up to the 3 that are needed. */
  events?: number;
  /** Whether rows leave: the first train set has been sent, or none is waited for. */
  started: boolean;
  /** Train sets so far, and when the last one was sent, milliseconds since 1970. */
  trainSets: number;
  trainedAt?: number;
  /** Decay was reported too soon after the last train set: the next one is sent as soon as it may be. */
  decayWaits: boolean;
  /** Columns of the readings, in the order of their first appearance. */
  columns: string[];
  /** The column that outcomes are taken from, while no reading has had it. */
  unseenOutcome?: string;
  storage: 'none' | 'ok' | 'failed';
}

/** Readings in; rows, outcomes and train sets out. Calls take effect strictly in order. */
export interface Series {
  readonly settings: SeriesSettings;
  readonly progress: SeriesProgress;
  /** A write has taken very long, and everything waits for it. */
  readonly waitsForDisk: boolean;
  /**
   * Takes one reading. Errors: `time.invalid`, `table.invalid` (an unreadable cell; the reading is not taken),
   * `columns.missing` (no key), `limit.exceeded` (keys, columns, numbers). A reading with a future time and columns
   * known ahead, but not the outcome's, is part of the plan of its key, or without a key of all keys: it makes no row.
   * One whose time is empty, where others have one, is `time.invalid`.
   */
  push(reading: SeriesReading, options?: PushOptions): Promise<SeriesStep>;
  /**
   * Takes a table of past readings in any order, and gives the same rows as the readings would one by one, or the newest
   * of each key alone (`send`). Earlier readings stay; for the same key and time the table wins. The train set comes where
   * there are outcomes. Errors as for `push`, with the row number; a table that has one is not taken at all. Only the
   * bound on numbers held (`limit.exceeded`) may be met midway. Its values in columns known ahead count as known to all
   * earlier rows. A table of such columns alone is a plan, and so are its rows of such columns, without the outcome's,
   * that follow all other readings of their key.
   */
  backfill(readings: SeriesTable, options?: BackfillOptions): Promise<SeriesPast>;
  /** Outcomes of kind `message`. Errors: `outcome.unknown`, `limit.exceeded` (labels), `validation.failed` (no such kind). */
  outcome(brought: BroughtOutcome): Promise<SeriesStep>;
  /**
   * A train set now. `asked`: error `table.empty` where no outcome is known. `decay`: undefined within an hour of the
   * last train set, or without a new outcome; it then comes with the first outcome after that hour.
   */
  train(reason: 'asked' | 'decay'): Promise<SeriesTrainSet | undefined>;
  /** Forgets everything, including columns and counters; or the readings, rows and plan of one key. */
  reset(key?: string): Promise<void>;
  /** Writes whatever is not on disk yet. */
  flush(): Promise<void>;
  /** Writes whatever is not on disk yet and frees everything. */
  close(): Promise<void>;
}

export interface SeriesSurroundings {
  /** Where the state is kept; created if need be. Left out: in memory only. One series per folder. */
  folder?: string;
  /** Wall clock, milliseconds since 1970: for arrivals and for the schedule of train sets. */
  now?: () => number;
  notify?: (note: SeriesNote) => void;
  /** Milliseconds between two writes. Default 5000. */
  writeEvery?: number;
}
