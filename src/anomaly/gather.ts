/** Machines whose single values are gathered at most. */
const MAX_KEYS = 10_000;
/** A sensor that has not come for so many rounds is not waited for. */
const ROUNDS = 3;

type Values = Readonly<Record<string, unknown>>;

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

  /** @returns the rows that are whole by this value */
  add(key: string | undefined, values: Values): Values[] {
    const round = this.rounds.get(key) ?? { now: new Map(), number: 0, seen: new Map() };
    const rows: Values[] = [];
    const entries = Object.entries(values);
    if (entries.some(([column]) => round.now.has(column))) {
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
