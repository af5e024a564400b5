export const DAY_MS = 86_400_000;
export const WEEK_MS = 7 * DAY_MS;
/** The last rows of a machine that are kept to learn from. */
export const HISTORY_ROWS = 6000;
/** Words of a column that are told apart; further ones are others. */
const MOST_WORDS = 200;
export const OTHER_WORDS = -2;
const NONE = -1;
const FIRST_ROOM = 64;

/** What a row is to the next fit: 1 leaves it out of the expectations, 2 also out of what is called rare. */
type Mark = 0 | 1 | 2;

/** Rows that people said something of. */
export interface MarkedRows {
  from: number;
  to: number;
  mark: Mark;
  /** By the answer to the question about odd periods. */
  isOddAnswered?: boolean;
}

export type HistoryCell = number | string;

/** Values of a column: numbers, and words by their place in a list; below 0 for none, and for words that are not told apart. */
export interface HistoryColumn {
  numbers: Float64Array;
  words: Int16Array;
  known: string[];
}

/** A row, whose cells are put together when they are asked for: those of all rows at once would hold the event loop. */
export interface HistoryRow {
  time: number;
  cells: () => ReadonlyMap<string, HistoryCell>;
}

/** Which readings become rows, where they come too often for all of them. */
export interface RowPace {
  /** A row is so long after the one before, in milliseconds. */
  every: number;
  /** The usual time between readings. */
  reading: number;
}

/** What `History` is restored from. */
export interface KeptHistory {
  begun: number;
  taken: number;
  /** Left out while each reading is a row. */
  pace?: RowPace | undefined;
  times: Float64Array;
  marks: Uint8Array;
  columns: Record<string, HistoryColumn>;
}

/** The newest readings of one machine, of all columns, in the order in which they came. Bounded. */
export class History {
  private times = new Float64Array(FIRST_ROOM);
  private marks = new Uint8Array(FIRST_ROOM);
  private readonly columns = new Map<string, HistoryColumn>();
  /** The newest cells of readings since the last row. */
  private readonly since = new Map<string, HistoryCell>();
  /** The number of the next row. */
  taken: number;
  /** undefined: each reading is a row. */
  pace: RowPace | undefined;

  /** @param begun the number of its first row: after a reset they go on from those before */
  constructor(
    readonly begun = 0,
    kept?: KeptHistory,
  ) {
    this.taken = begun;
    if (kept !== undefined) {
      // Kept in order: each row is placed by its number again.
      this.grow(Math.min(HISTORY_ROWS, roomFor(kept.taken - begun)));
      this.taken = kept.taken;
      this.pace = kept.pace;
      this.fill(this.times, kept.times);
      this.fill(this.marks, kept.marks);
      for (const [name, { numbers, words, known }] of Object.entries(kept.columns)) {
        const column = { ...this.empty(), known: [...known] };
        this.fill(column.numbers, numbers);
        this.fill(column.words, words);
        this.columns.set(name, column);
      }
    }
  }

  get length(): number {
    return Math.min(this.taken - this.begun, HISTORY_ROWS);
  }

  /** The time of the newest row that is kept; -Infinity where there is none. */
  get lastTime(): number {
    return this.length === 0 ? -Infinity : this.time(this.taken - 1);
  }

  /** The number of the oldest row that is kept. */
  get first(): number {
    return this.taken - this.length;
  }

  get names(): string[] {
    return [...this.columns.keys()];
  }

  /** The columns, and whether they have numbers. */
  get kinds(): Map<string, boolean> {
    const hasNumbers = ({ numbers }: HistoryColumn): boolean =>
      numbers.some((number) => !Number.isNaN(number));
    return new Map([...this.columns].map(([name, column]) => [name, hasNumbers(column)]));
  }

  /**
   * Takes a reading: one that comes sooner than its pace leaves its cells to the next row.
   * @returns the number of its row; undefined where it is none
   */
  offer(time: number, cells: ReadonlyMap<string, HistoryCell>): number | undefined {
    const { since, pace } = this;
    const after = this.length === 0 ? Infinity : time - this.time(this.taken - 1);
    if (pace === undefined) {
      return this.push(time, cells);
    }
    cells.forEach((cell, name) => since.set(name, cell));
    if (after >= 0 && after < pace.every - pace.reading / 2) {
      return undefined;
    }
    const row = this.push(time, since);
    since.clear();
    return row;
  }

  /** @returns the number of the row */
  push(time: number, cells: ReadonlyMap<string, HistoryCell>): number {
    if (this.taken - this.begun >= this.room && this.room < HISTORY_ROWS) {
      this.grow(Math.min(HISTORY_ROWS, this.room * 2));
    }
    const at = this.ringPlace(this.taken);
    this.times[at] = time;
    this.marks[at] = 0;
    for (const column of this.columns.values()) {
      column.numbers[at] = NaN;
      column.words[at] = NONE;
    }
    for (const [name, cell] of cells) {
      let column = this.columns.get(name);
      if (column === undefined) {
        column = this.empty();
        this.columns.set(name, column);
      }
      if (typeof cell === 'number') {
        column.numbers[at] = cell;
      } else {
        column.words[at] = wordPlace(column.known, cell);
      }
    }
    return this.taken++;
  }

  time(row: number): number {
    return this.times[this.ringPlace(row)];
  }

  mark(from: number, to: number, mark: Mark): void {
    for (let row = Math.max(from, this.first); row <= Math.min(to, this.taken - 1); row++) {
      this.marks[this.ringPlace(row)] = mark;
    }
  }

  marked(row: number): Mark {
    return this.marks[this.ringPlace(row)] as Mark;
  }

  /** The number in a cell; NaN where there is none. */
  private number(name: string, row: number): number {
    return this.columns.get(name)?.numbers[this.ringPlace(row)] ?? NaN;
  }

  /** The word in a cell: undefined where there is none, null for one of the words that are not told apart. */
  private word(name: string, row: number): string | null | undefined {
    const column = this.columns.get(name);
    const place = column?.words[this.ringPlace(row)] ?? NONE;
    return place === NONE ? undefined : place === OTHER_WORDS ? null : column?.known[place];
  }

  /** A number or a word; null for a word that is not told apart, undefined for none. */
  cell(name: string, row: number): HistoryCell | null | undefined {
    const word = this.word(name, row);
    const number = this.number(name, row);
    return word === undefined && !Number.isNaN(number) ? number : word;
  }

  /** The cells of a row. */
  cells(row: number): Map<string, HistoryCell> {
    const cells = new Map<string, HistoryCell>();
    for (const name of this.columns.keys()) {
      const cell = this.cell(name, row);
      if (cell !== undefined && cell !== null) {
        cells.set(name, cell);
      }
    }
    return cells;
  }

  /** The rows that are kept, the oldest first. */
  get rows(): HistoryRow[] {
    return Array.from({ length: this.length }, (_, i) => {
      const row = this.first + i;
      return { time: this.time(row), cells: () => this.cells(row) };
    });
  }

  /** So many rows are to become one for those kept to span weeks. */
  get thinning(): number {
    return this.length === 0
      ? 1
      : neededThinning(this.length, this.time(this.taken - 1) - this.time(this.first));
  }

  /** The same with so many rows before `end` as one; further readings become rows at that pace. */
  fewer(by: number, end: number): History {
    const kept = thinned(this.keep(), by, end);
    return new History(kept.begun, kept);
  }

  /** Lets go of a column that no kept row has. */
  forget(name: string): void {
    this.columns.delete(name);
  }

  /** A column in order of the rows: copies. */
  column(name: string): HistoryColumn {
    const { numbers, words, known } = this.columns.get(name) ?? this.empty();
    return { numbers: this.inOrder(numbers), words: this.inOrder(words), known: [...known] };
  }

  /** The times of the rows, in order: a copy. */
  get allTimes(): Float64Array {
    return this.inOrder(this.times);
  }

  get allMarks(): Uint8Array {
    return this.inOrder(this.marks);
  }

  keep(): KeptHistory {
    return {
      begun: this.begun,
      taken: this.taken,
      ...(this.pace !== undefined && { pace: this.pace }),
      times: this.allTimes,
      marks: this.allMarks,
      columns: Object.fromEntries(this.names.map((name) => [name, this.column(name)])),
    };
  }

  /** One without any row, at the same pace. */
  none(begun: number): KeptHistory {
    const [times, marks] = [new Float64Array(0), new Uint8Array(0)];
    return { begun, taken: begun, pace: this.pace, times, marks, columns: {} };
  }

  private inOrder<Values extends Float64Array | Int16Array | Uint8Array>(ring: Values): Values {
    const { length } = this;
    const from = length === 0 ? 0 : this.ringPlace(this.first);
    const out = ring.slice(from, from + length) as Values;
    if (out.length === length) {
      return out;
    }
    const all = new (ring.constructor as new (length: number) => Values)(length);
    all.set(out);
    all.set(ring.subarray(0, length - out.length), out.length);
    return all;
  }

  /** Puts values that are in order of the newest rows into their places. */
  private fill<Values extends Float64Array | Int16Array | Uint8Array>(ring: Values, values: Values): void {
    const from = values.length === 0 ? 0 : this.ringPlace(this.taken - values.length);
    const atEnd = Math.min(values.length, ring.length - from);
    ring.set(values.subarray(0, atEnd), from);
    ring.set(values.subarray(atEnd), 0);
  }

  private ringPlace(row: number): number {
    return (row - this.begun) % this.room;
  }

  private get room(): number {
    return this.times.length;
  }

  private empty(): HistoryColumn {
    return {
      numbers: new Float64Array(this.room).fill(NaN),
      words: new Int16Array(this.room).fill(NONE),
      known: [],
    };
  }

  /** Only while no row has left: their places do not change then. */
  private grow(room: number): void {
    this.times = grown(this.times, new Float64Array(room));
    this.marks = grown(this.marks, new Uint8Array(room));
    for (const column of this.columns.values()) {
      column.numbers = grown(column.numbers, new Float64Array(room).fill(NaN));
      column.words = grown(column.words, new Int16Array(room).fill(NONE));
    }
  }
}

/** The median of the times between rows. */
export function usualStep(times: Float64Array): number {
  const steps = times.subarray(1).map((time, i) => time - times[i]);
  // Readings that came at one stroke, without a time of their own, are a millisecond apart.
  const forward = steps.filter((step) => step > 1).sort();
  return forward[forward.length >> 1] ?? 1000;
}

/** The kept rows are to span so much, or more where their readings come at a pace that gives it. */
const LEAST_SPAN_MS = 2 * WEEK_MS;
/** Readings that come more often are thinned until the kept rows span so much: a calendar knows weekends then. */
const SPAN_MS = 20 * DAY_MS;
/** So many rows become one at once at most. */
const MOST_AT_ONCE = 5;

/** How many rows are to become one, so that as many as are kept span weeks; 1 where they do, or are not so many yet. */
function neededThinning(rows: number, span: number): number {
  return rows < HISTORY_ROWS || span >= LEAST_SPAN_MS
    ? 1
    : Math.min(MOST_AT_ONCE, Math.ceil(SPAN_MS / Math.max(1, span)));
}

/** The number of the row that this row becomes part of, where those before `end` are thinned. */
export function thinnedRow(row: number, by: number, end: number): number {
  return row >= end ? row : end - 1 - Math.floor((end - 1 - row) / by);
}

/**
 * Rows of a history, so many of which become one: with the newest cells of each column.
 *
 * @param end the number of the first row that stays as it is
 */
export function thinned(history: KeptHistory, by: number, end: number): KeptHistory {
  const first = history.taken - history.times.length;
  const begun = thinnedRow(first, by, end);
  const length = history.taken - begun;
  const to = history.times.map((_, i) => thinnedRow(first + i, by, end) - begun);
  const times = new Float64Array(length);
  const marks = new Uint8Array(length);
  to.forEach((place, i) => {
    times[place] = history.times[i];
    marks[place] = Math.max(marks[place], history.marks[i]);
  });
  const columns: KeptHistory['columns'] = {};
  for (const [name, { numbers, words, known }] of Object.entries(history.columns)) {
    const column = {
      numbers: new Float64Array(length).fill(NaN),
      words: new Int16Array(length).fill(NONE),
      known,
    };
    to.forEach((place, i) => {
      if (!Number.isNaN(numbers[i]) || words[i] !== NONE) {
        column.numbers[place] = numbers[i];
        column.words[place] = words[i];
      }
    });
    columns[name] = column;
  }
  const step = history.pace === undefined ? usualStep(history.times) : 0;
  const { every, reading } = history.pace ?? { every: step, reading: step };
  return { begun, taken: history.taken, pace: { every: every * by, reading }, times, marks, columns };
}

function roomFor(rows: number): number {
  let room = FIRST_ROOM;
  while (room < rows) {
    room *= 2;
  }
  return room;
}

function grown<Values extends { set: (values: Values) => void }>(from: Values, to: Values): Values {
  to.set(from);
  return to;
}

function wordPlace(known: string[], word: string): number {
  const place = known.indexOf(word);
  if (place >= 0) {
    return place;
  }
  return known.length < MOST_WORDS ? known.push(word) - 1 : OTHER_WORDS;
}

/** So many readings in a row before the newest one: the clock was set back, and they are not late. */
const CLOCK_ROWS = 5;
/** Of a longer time without a reading nothing is known. */
const LONGEST_MS = WEEK_MS;

export interface KeptClock {
  /** What was known of the time at first, moved on with a clock that was set; and the time of the newest row. */
  started: number | undefined;
  latest: number | undefined;
}

/** The time of a machine's readings, whose clock may be set forward and back. */
export class MachineClock {
  private started: number | undefined;
  private newest: number | undefined;
  private late = 0;

  constructor(kept?: KeptClock) {
    this.started = kept?.started;
    this.newest = kept?.latest;
  }

  /** Takes the time of a row. */
  take(time: number): void {
    const step = time - (this.newest ?? time);
    this.started = (this.started ?? time) + (step < 0 || step > LONGEST_MS ? step : 0);
    this.newest = time;
  }

  /** Whether a reading is left out because it comes after newer ones. @param before the time of the newest row that is kept */
  isLate(time: number, before: number | undefined): boolean {
    this.late = before !== undefined && time < before ? (this.late + 1) % CLOCK_ROWS : 0;
    return this.late > 0;
  }

  /** The time of the newest row. */
  get latest(): number | undefined {
    return this.newest;
  }

  /** Milliseconds of readings so far. */
  get knows(): number {
    return (this.newest ?? 0) - (this.started ?? 0);
  }

  keep(): KeptClock {
    return { started: this.started, latest: this.newest };
  }
}
