import type { Journal } from '../journal/journal';
import type { PastReading } from '../readings/held-readings';
import type { Machine } from '../readings/machine';
import { AHEAD_OF_US, nearOf } from '../readings/time-and-key';
import { ALWAYS } from '../rows/known-ahead';
import type { SeriesState } from '../state/state';
import type { SeriesReading } from '../types';

/** What a reading has of a plan. */
export type PlanPart = 'only' | 'among';

/** Takes what is known ahead: plans, and the values in those columns of a table of the past. */
export class PlanIntake {
  private readonly names: ReadonlySet<string>;
  private readonly outcome: string | undefined;

  constructor(
    private readonly state: SeriesState,
    private readonly journal: Journal,
  ) {
    const { knownAhead, outcome } = state.settings;
    this.names = new Set(knownAhead);
    this.outcome = 'column' in outcome ? outcome.column : undefined;
  }

  /**
   * What a reading has of a plan: `only` columns known ahead, or them `among` others. Undefined where it has none of them,
   * or the outcome's column: what is to be predicted is not known ahead.
   */
  partOf(reading: SeriesReading, skip: (name: string) => boolean): PlanPart | undefined {
    if (this.names.size === 0) {
      return undefined;
    }
    let [known, others] = [0, 0];
    for (const [name, cell] of Object.entries(reading)) {
      if (skip(name) || !isSaid(cell)) {
        continue;
      }
      if (name === this.outcome) {
        return undefined;
      }
      if (this.names.has(name)) {
        known++;
      } else {
        others++;
      }
    }
    return known === 0 ? undefined : others === 0 ? 'only' : 'among';
  }

  /** Which columns of a plan are not read: all but those known ahead. */
  skips(name: string): boolean {
    return !this.names.has(name);
  }

  /** Advice for readings in the future that were meant as a plan; empty where nothing is known ahead. */
  get hint(): string {
    const names = [...this.names].map((name) => `"${name}"`).join(', ');
    return names === '' ? '' : ` A plan has a value of ${names} and none of "${this.outcome}".`;
  }

  /** Checks that there is room for a plan. @throws ServiceError limit.exceeded */
  checkRoom(plan: readonly PastReading[]): void {
    this.state.knownAhead.checkRoom(plan.reduce((sum, { cells }) => sum + cells.length / 2, 0));
  }

  /** Takes a plan: it is known to rows after the newest reading. @throws ServiceError limit.exceeded */
  take(plan: readonly PastReading[]): void {
    const { state } = this;
    this.checkRoom(plan);
    const since = new Map([...new Set(plan.map(({ key }) => key))].map((key) => [key, state.newestOf(key)]));
    for (const row of plan) {
      this.put(row, since.get(row.key)!);
      state.counts.planned++;
    }
  }

  /** Takes the plan rows of a table, and the values that its readings have in columns known ahead. */
  takeOfTable(readings: readonly PastReading[], plan: readonly PastReading[]): void {
    if (this.names.size > 0) {
      readings.forEach((row) => this.put(row, ALWAYS));
    }
    plan.forEach((row) => this.put(row, ALWAYS));
    this.state.counts.planned += plan.length;
  }

  private put({ key, time, cells }: PastReading, since: number): void {
    const { sensors, knownAhead } = this.state;
    for (let i = 0; i < cells.length; i += 2) {
      if (this.names.has(sensors.list[cells[i]!]!.name)) {
        const told = { time, since, value: cells[i + 1]! };
        knownAhead.put(key, cells[i]!, told);
        this.journal.planned(key, cells[i]!, told);
      }
    }
  }
}

/**
 * Whether a time lies in the future: by our clock, or by that of the readings where they are of another time, such as in a
 * simulation.
 *
 * @param newest time of the newest reading, -Infinity where there is none
 */
export function isYetToCome(
  time: number,
  arrival: number,
  newest: number,
  machine: Machine | undefined,
): boolean {
  const isOfNow = newest === -Infinity || Math.abs(arrival - newest) <= nearOf(machine);
  return time > (isOfNow ? arrival + AHEAD_OF_US : newest);
}

/** Whether a cell holds anything. */
export function isSaid(cell: unknown): boolean {
  return cell !== null && cell !== undefined && cell !== '';
}
