/** Machines whose single values are gathered at most. */
const MAX_KEYS = 10_000;

type Values = Record<string, unknown>;

/**
 * Gathers messages of a single value into rows, one for each round of the sensors: a row is whole when all columns of the
 * round before are there, or when one of them comes again.
 */
export class Gather {
  private readonly rounds = new Map<string | undefined, { now: Values; columns: number }>();

  /** @returns the rows that are whole by this value */
  add(key: string | undefined, values: Values): Values[] {
    const round = this.rounds.get(key) ?? { now: {}, columns: Infinity };
    const rows: Values[] = [];
    if (Object.keys(values).some((column) => column in round.now)) {
      rows.push(round.now);
      round.columns = Object.keys(round.now).length;
      round.now = {};
    }
    Object.assign(round.now, values);
    if (Object.keys(round.now).length >= round.columns) {
      rows.push(round.now);
      round.now = {};
    }
    if (this.rounds.size >= MAX_KEYS && !this.rounds.has(key)) {
      this.rounds.clear();
    }
    this.rounds.set(key, round);
    return rows;
  }
}
