import type { Yielder } from '../util/concurrency';
import { parseDuration } from '../util/durations';
import { ServiceError } from '../wire/service-error';
import { History, HISTORY_ROWS, type HistoryCell, type HistoryRow, type RowPace } from './method/history';
import { checkCells, type MachineColumns, MOST_COLUMNS, type ReadingReader } from './reading';
import type { AnomalyReading, ReadingPlace } from './types';

/** What waits of rows that are not whole, as it is kept across a restart. */
export interface KeptRowsUnderWay {
  joined: KeptSpan[];
  rounds: KeptRound[];
  /** When it was kept, and whether the node was closed then: nothing has come after it. */
  at: number;
  isClosed: boolean;
}

/** A round that was left longer ago is not gone on with: its values say nothing of those to come. */
const ROUND_MS = 600_000;

/** The readings of each machine that wait until their row is whole. */
export class RowsUnderWay {
  readonly gathered = new Gather();
  readonly joined: JoinedRows | undefined;

  /** @param every empty: each reading is a row. @throws ServiceError `config.invalid` */
  constructor(every: string | undefined) {
    this.joined = JoinedRows.parse(every);
  }

  /** Forgets what waits, of all keys or of one. */
  clear(key?: string): void {
    this.gathered.clear(key);
    this.joined?.clear(key);
  }

  /** @param takenBy how many rows a machine has taken */
  keep(takenBy: (of: string | null) => number, isClosed: boolean): KeptRowsUnderWay {
    const joined = this.joined?.keep(takenBy) ?? [];
    return { joined, rounds: this.gathered.keep(), at: Date.now(), isClosed };
  }

  /**
   * Goes on with what waited. What became a row after it was kept, before a kill, is not taken again.
   * @returns rows that are whole now, because each reading is a row
   */
  restore(
    kept: KeptRowsUnderWay | undefined,
    takenBy: (of: string | null) => number,
  ): ({ of: string | null } & JoinedRow)[] {
    if (kept === undefined) {
      return [];
    }
    const isRecent = kept.isClosed && Date.now() - kept.at < ROUND_MS;
    kept.rounds.forEach((round) => this.gathered.restore(round, isRecent));
    const spans = kept.joined.filter(({ of, taken }) => taken >= takenBy(of));
    if (this.joined === undefined) {
      return spans.map((span) => ({ of: span.of, ...averageSpan(restoreSpan(span, 1)) }));
    }
    spans.forEach((span) => this.joined?.restore(span));
    return [];
  }
}

/** Machines whose single values are gathered at most. */
const MAX_KEYS = 10_000;
/** A sensor that has not come for so many rounds is not waited for. */
const ROUNDS = 3;

type Values = Readonly<Record<string, unknown>>;

/** A round under way, as it is kept. */
interface KeptRound {
  of: string | null;
  now: Values;
  number: number;
  seen: Record<string, number>;
}

interface Round {
  now: Map<string, unknown>;
  number: number;
  /** The round in which each column came last. */
  seen: Map<string, number>;
}

/**
 * Gathers messages of a single value into rows, one for each round of the sensors: a row is whole when all columns of the
 * last rounds are there, or when one of them comes again.
 */
export class Gather {
  private readonly rounds = new Map<string | undefined, Round>();

  /** Forgets the values that wait, of all keys or of one. */
  clear(key?: string): void {
    if (key === undefined) {
      this.rounds.clear();
    } else {
      this.rounds.delete(key);
    }
  }

  /** What waits. A value that is no cell is kept as none. */
  keep(): KeptRound[] {
    return [...this.rounds].map(([of, { now, number, seen }]) => ({
      of: of ?? null,
      now: Object.fromEntries([...now].map(([column, value]) => [column, plain(value)])),
      number,
      seen: Object.fromEntries(seen),
    }));
  }

  /** @param withValues else only which sensors there are is taken over */
  restore({ of, now, number, seen }: KeptRound, withValues: boolean): void {
    this.rounds.set(of ?? undefined, {
      now: new Map(withValues ? Object.entries(now) : []),
      number,
      seen: new Map(Object.entries(seen)),
    });
  }

  /** @returns the rows that are whole by this value */
  add(key: string | undefined, values: Values): Values[] {
    const round = this.rounds.get(key) ?? { now: new Map(), number: 0, seen: new Map() };
    const rows: Values[] = [];
    const entries = Object.entries(values);
    if (entries.some(([column]) => round.now.has(column)) || round.now.size >= MOST_COLUMNS) {
      rows.push(finish(round));
    }
    for (const [column, value] of entries) {
      round.now.set(column, value);
      round.seen.set(column, round.number);
    }
    // Which sensors there are is known after the first round.
    if (round.number > 0 && [...round.seen.keys()].every((column) => round.now.has(column))) {
      rows.push(finish(round));
    }
    if (this.rounds.size >= MAX_KEYS && !this.rounds.has(key)) {
      this.rounds.clear();
    }
    this.rounds.set(key, round);
    return rows;
  }
}

function finish(round: Round): Values {
  const row = Object.fromEntries(round.now);
  round.now.clear();
  round.number++;
  for (const [column, last] of round.seen) {
    if (round.number - last > ROUNDS) {
      round.seen.delete(column);
    }
  }
  return row;
}

export interface JoinedRow {
  time: number;
  cells: Map<string, HistoryCell>;
}

/** A row that is not whole, as it is kept. */
interface KeptSpan {
  of: string | null;
  /** The rows that its machine had taken by then. */
  taken: number;
  time: number;
  sums: Record<string, { sum: number; count: number }>;
  words: Record<string, string>;
}

interface Span {
  /** Its number: spans of this length since 1970. */
  number: number;
  /** The time of its newest reading. */
  time: number;
  sums: Map<string, { sum: number; count: number }>;
  words: Map<string, string>;
}

/**
 * Joins the readings of a machine that come within a span of time into one row: the means of numbers, and the last words. A
 * row is whole when a reading of another span comes, so the last one is not known yet.
 */
export class JoinedRows {
  private readonly spans = new Map<string | null, Span>();

  /** @param every how long a span is, in milliseconds */
  constructor(private readonly every: number) {}

  /** @param text `5m`; empty: undefined, each reading is a row. @throws ServiceError `config.invalid` */
  static parse(text: string | undefined): JoinedRows | undefined {
    if (text === undefined || text.trim() === '') {
      return undefined;
    }
    const every = parseDuration(text);
    if (every === undefined) {
      throw new ServiceError(
        'config.invalid',
        `The field One row every must be a duration such as 30s or 5m, not "${text}".`,
      );
    }
    return new JoinedRows(every);
  }

  /** An empty one, for rows of a table. */
  again(): JoinedRows {
    return new JoinedRows(this.every);
  }

  /** @returns the row of the span before, where this reading is the first of another one */
  add(key: string | null, time: number, cells: ReadonlyMap<string, HistoryCell>): JoinedRow | undefined {
    const number = Math.floor(time / this.every);
    let span = this.spans.get(key);
    const whole = span === undefined || span.number === number ? undefined : averageSpan(span);
    if (span?.number !== number) {
      span = { number, time, sums: new Map(), words: new Map() };
      this.spans.set(key, span);
    }
    span.time = Math.max(span.time, time);
    for (const [name, cell] of cells) {
      if (typeof cell === 'number') {
        const { sum, count } = span.sums.get(name) ?? { sum: 0, count: 0 };
        span.sums.set(name, { sum: sum + cell, count: count + 1 });
      } else {
        span.words.set(name, cell);
      }
    }
    return whole;
  }

  /** Whether a reading is of a span before the one that waits: it is late. */
  isPast(key: string | null, time: number): boolean {
    return Math.floor(time / this.every) < (this.spans.get(key)?.number ?? -Infinity);
  }

  /** The time of the newest reading that waits. */
  newest(key: string | null): number | undefined {
    return this.spans.get(key)?.time;
  }

  /** The rows that wait. @param takenBy how many rows a machine has taken */
  keep(takenBy: (of: string | null) => number): KeptSpan[] {
    return [...this.spans].map(([of, { time, sums, words }]) => ({
      of,
      taken: takenBy(of),
      time,
      sums: Object.fromEntries(sums),
      words: Object.fromEntries(words),
    }));
  }

  /** Goes on with a row that waited. */
  restore(kept: KeptSpan): void {
    this.spans.set(kept.of, restoreSpan(kept, this.every));
  }

  /** The row that waits, which is let go; undefined where none does. */
  take(key: string | null): JoinedRow | undefined {
    const span = this.spans.get(key);
    this.spans.delete(key);
    return span === undefined ? undefined : averageSpan(span);
  }

  /** Forgets what waits, of all keys or of one. */
  clear(key?: string): void {
    if (key === undefined) {
      this.spans.clear();
    } else {
      this.spans.delete(key);
    }
  }
}

/** What JSON can hold of a value. */
function plain(value: unknown): unknown {
  if (typeof value === 'bigint') {
    return Number(value);
  }
  return ['string', 'number', 'boolean'].includes(typeof value) ? value : null;
}

function restoreSpan({ time, sums, words }: KeptSpan, every: number): Span {
  return {
    number: Math.floor(time / every),
    time,
    sums: new Map(Object.entries(sums)),
    words: new Map(Object.entries(words)),
  };
}

function averageSpan({ time, sums, words }: Span): JoinedRow {
  const cells = new Map<string, HistoryCell>(words);
  for (const [name, { sum, count }] of sums) {
    cells.set(name, sum / count);
  }
  return { time, cells };
}

/**
 * The newest rows of a table for one machine, in whichever order the table has them. Bounded: as a machine keeps them, at
 * the pace that has them span weeks, and as many at most beside them that came out of order.
 */
export class TaughtRows {
  private kept = new History();
  private others = new History();

  /** Takes a row. Full once it is: `makeRoom` comes before the next. */
  add(time: number, cells: ReadonlyMap<string, HistoryCell>): void {
    const { kept } = this;
    if (kept.length === 0 || time >= kept.time(kept.taken - 1)) {
      this.keep(time, cells);
    } else {
      this.others.push(time, cells);
    }
  }

  get isFull(): boolean {
    return this.others.length === HISTORY_ROWS;
  }

  /** The pace of the rows: undefined where all of the table are there, or its newest. */
  get pace(): RowPace | undefined {
    return this.kept.pace;
  }

  /** Lets go of rows that are older than the newest. */
  async makeRoom(yielder: Yielder): Promise<void> {
    const { pace } = this;
    const rows = this.inOrder();
    this.others = new History();
    this.kept = new History();
    this.kept.pace = pace;
    for (const { time, cells } of rows) {
      this.keep(time, cells());
      await yielder.due();
    }
  }

  /** The oldest first. */
  inOrder(): HistoryRow[] {
    const { kept, others } = this;
    return others.length === 0 ? kept.rows : inOrder([...kept.rows, ...others.rows]);
  }

  private keep(time: number, cells: ReadonlyMap<string, HistoryCell>): void {
    const isRow = this.kept.offer(time, cells) !== undefined;
    const by = isRow ? this.kept.thinning : 1;
    this.kept = by === 1 ? this.kept : this.kept.fewer(by, this.kept.taken);
  }
}

/** The oldest first; those of one time as they came. */
export function inOrder(rows: readonly HistoryRow[]): HistoryRow[] {
  return [...rows].sort((a, b) => a.time - b.time);
}

/**
 * A table of past readings, machine by machine: their rows, and the columns of all machines with those of the table. A
 * table that is refused leaves nothing behind.
 *
 * @param around the columns so far, and what joins readings to rows
 * @throws ServiceError as `Anomalies.take`
 */
export async function taughtTable(
  rows: AsyncIterable<{ reading: AnomalyReading; place?: ReadingPlace }>,
  reader: ReadingReader,
  around: {
    columns: MachineColumns;
    joined: JoinedRows | undefined;
    yielder: Yielder;
    signal: AbortSignal | undefined;
  },
): Promise<{ count: number; columns: MachineColumns; machines: Map<string | null, TaughtRows> }> {
  const { joined, yielder, signal } = around;
  const columns = new Map(around.columns);
  const machines = new Map<string | null, TaughtRows>();
  let count = 0;
  for await (const { reading, place } of rows) {
    signal?.throwIfAborted();
    count++;
    const placed = reader.readPast(reading, place, count);
    if (placed !== undefined) {
      const { key, time, cells } = placed;
      checkCells(key, cells, columns);
      const kept = machines.get(key) ?? new TaughtRows();
      machines.set(key, kept);
      const row = joined === undefined ? { time, cells } : joined.add(key, time, cells);
      if (row !== undefined) {
        kept.add(row.time, row.cells);
      }
      if (kept.isFull) {
        await kept.makeRoom(yielder);
      }
    }
    await yielder.due();
  }
  for (const [key, kept] of machines) {
    const last = joined?.take(key);
    if (last !== undefined) {
      kept.add(last.time, last.cells);
    }
  }
  return { count, columns, machines };
}
