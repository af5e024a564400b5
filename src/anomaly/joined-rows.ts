import { parseDuration } from '../util/durations';
import { ServiceError } from '../wire/service-error';
import type { HistoryCell } from './method/history';

interface JoinedRow {
  time: number;
  cells: Map<string, HistoryCell>;
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
    const whole = span === undefined || span.number === number ? undefined : rowOf(span);
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

  /** The row that waits, which is let go; undefined where none does. */
  take(key: string | null): JoinedRow | undefined {
    const span = this.spans.get(key);
    this.spans.delete(key);
    return span === undefined ? undefined : rowOf(span);
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

function rowOf({ time, sums, words }: Span): JoinedRow {
  const cells = new Map<string, HistoryCell>(words);
  for (const [name, { sum, count }] of sums) {
    cells.set(name, sum / count);
  }
  return { time, cells };
}
