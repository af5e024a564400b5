/** The last rows of a machine that are kept to learn from. */
export const HISTORY_ROWS = 6000;
/** Words of a column that are told apart; further ones are others. */
const MOST_WORDS = 200;
const OTHERS = -2;
const NONE = -1;
const FIRST_ROOM = 64;

/** What a row is to the next fit: 1 leaves it out of the expectations, 2 also out of what is called rare. */
export type Mark = 0 | 1 | 2;

export type HistoryCell = number | string;

/** Values of a column: numbers, and words by their place in a list. */
interface Column {
  numbers: Float64Array;
  words: Int16Array;
  known: string[];
}

/** What `History` is restored from. */
export interface KeptHistory {
  begun: number;
  taken: number;
  times: Float64Array;
  marks: Uint8Array;
  columns: Record<string, Column>;
}

/** The newest readings of one machine, of all columns, in the order in which they came. Bounded. */
export class History {
  private times = new Float64Array(FIRST_ROOM);
  private marks = new Uint8Array(FIRST_ROOM);
  private readonly columns = new Map<string, Column>();
  /** The number of the next row. */
  taken: number;

  /** @param begun the number of its first row: after a reset they go on from those before */
  constructor(
    readonly begun = 0,
    kept?: KeptHistory,
  ) {
    this.taken = begun;
    if (kept !== undefined) {
      // Kept in order: each row is placed by its number again.
      const { length } = kept.times;
      this.grow(Math.min(HISTORY_ROWS, roomFor(kept.taken - begun)));
      this.taken = kept.taken - length;
      for (const [name, { known }] of Object.entries(kept.columns)) {
        this.columns.set(name, { ...this.empty(), known: [...known] });
      }
      for (let i = 0; i < length; i++) {
        const at = this.placeOf(this.taken++);
        this.times[at] = kept.times[i];
        this.marks[at] = kept.marks[i];
        for (const [name, column] of this.columns) {
          column.numbers[at] = kept.columns[name].numbers[i];
          column.words[at] = kept.columns[name].words[i];
        }
      }
    }
  }

  get length(): number {
    return Math.min(this.taken - this.begun, HISTORY_ROWS);
  }

  /** The number of the oldest row that is kept. */
  get first(): number {
    return this.taken - this.length;
  }

  get names(): string[] {
    return [...this.columns.keys()];
  }

  /** @returns the number of the row */
  push(time: number, cells: ReadonlyMap<string, HistoryCell>): number {
    if (this.taken - this.begun >= this.room && this.room < HISTORY_ROWS) {
      this.grow(Math.min(HISTORY_ROWS, this.room * 2));
    }
    const at = this.placeOf(this.taken);
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
    return this.times[this.placeOf(row)];
  }

  mark(from: number, to: number, mark: Mark): void {
    for (let row = Math.max(from, this.first); row <= Math.min(to, this.taken - 1); row++) {
      this.marks[this.placeOf(row)] = mark;
    }
  }

  marked(row: number): Mark {
    return this.marks[this.placeOf(row)] as Mark;
  }

  /** The number in a cell; NaN where there is none. */
  number(name: string, row: number): number {
    return this.columns.get(name)?.numbers[this.placeOf(row)] ?? NaN;
  }

  /** The word in a cell: undefined where there is none, null for one of the words that are not told apart. */
  word(name: string, row: number): string | null | undefined {
    const column = this.columns.get(name);
    const place = column?.words[this.placeOf(row)] ?? NONE;
    return place === NONE ? undefined : place === OTHERS ? null : column?.known[place];
  }

  /** Lets go of a column that no kept row has. */
  forget(name: string): void {
    this.columns.delete(name);
  }

  /** In order of the rows. */
  keep(): KeptHistory {
    const rows = Array.from({ length: this.length }, (_, i) => this.placeOf(this.first + i));
    return {
      begun: this.begun,
      taken: this.taken,
      times: Float64Array.from(rows, (at) => this.times[at]),
      marks: Uint8Array.from(rows, (at) => this.marks[at]),
      columns: Object.fromEntries(
        [...this.columns].map(([name, { numbers, words, known }]) => [
          name,
          {
            numbers: Float64Array.from(rows, (at) => numbers[at]),
            words: Int16Array.from(rows, (at) => words[at]),
            known: [...known],
          },
        ]),
      ),
    };
  }

  private placeOf(row: number): number {
    return (row - this.begun) % this.room;
  }

  private get room(): number {
    return this.times.length;
  }

  private empty(): Column {
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
  return known.length < MOST_WORDS ? known.push(word) - 1 : OTHERS;
}
