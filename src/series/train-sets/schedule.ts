import { DAY, HOUR } from '../settings/durations';
import type { TrainReason, TrainSchedule } from '../types';

/** Outcomes before the first train set of `auto`, and of these of the rarer class. */
export const FIRST_ROWS = 200;
export const FIRST_RARER = 20;
/** Of an outcome that is an event: with fewer, the rows to learn from and those to score tell of the same one. */
export const FIRST_EVENTS = 3;
/** `auto` after that: grown by this share, or a day later by so many rows. */
const GROWTH = 0.2;
const DAILY_ROWS = 50;

/** What decides whether it is time for a train set. */
export interface ScheduleFacts {
  /** Rows kept with their outcome, and outcomes ever. */
  kept: number;
  outcomes: number;
  /** Rows of the rarer class; undefined where outcomes are numbers. */
  rarer: number | undefined;
  /** Events that rows kept tell of, {@link FIRST_EVENTS} at most; undefined where the outcome is none. */
  events: number | undefined;
  now: number;
}

/**
 * When train sets go. By the wall clock, not the time of the readings: the rest of an hour is there for the service that
 * fits, and a week of readings that comes in a minute is one reason to fit, not seven.
 */
export class Schedule {
  trainSets = 0;
  trainedAt: number | undefined;
  /** Outcomes ever, and rows kept, at the last train set. */
  outcomesThen = 0;
  keptThen = 0;
  /** A decay was told sooner than it may bring a train set: it is told once a day, so the train set comes when it may. */
  decayWaits = false;

  constructor(private readonly schedule: TrainSchedule) {}

  /** How many outcomes the first train set waits for; 0 where none comes by itself. */
  get needed(): number {
    const { schedule } = this;
    return schedule.kind === 'never' ? 0 : schedule.kind === 'rows' ? schedule.rows : FIRST_ROWS;
  }

  due(facts: ScheduleFacts): TrainReason | undefined {
    const { schedule } = this;
    if (this.decayWaits && this.mayAnswerDecay(facts)) {
      return 'decay';
    }
    if (schedule.kind === 'never') {
      return undefined;
    }
    if (this.trainedAt === undefined) {
      const { kept, rarer = FIRST_RARER, events = FIRST_EVENTS } = facts;
      const hasBoth = rarer >= FIRST_RARER && events >= FIRST_EVENTS;
      return kept >= this.needed && (hasBoth || schedule.kind === 'rows') ? 'first' : undefined;
    }
    const fresh = facts.outcomes - this.outcomesThen;
    const passed = facts.now - this.trainedAt;
    switch (schedule.kind) {
      case 'rows':
        return fresh >= schedule.rows ? 'rows' : undefined;
      case 'interval':
        return passed >= schedule.ms && fresh > 0 ? 'schedule' : undefined;
      case 'auto':
        if (passed < HOUR) {
          return undefined;
        }
        if (fresh >= GROWTH * this.keptThen) {
          return 'rows';
        }
        return passed >= DAY && fresh >= DAILY_ROWS ? 'schedule' : undefined;
    }
  }

  /**
   * Whether decay may bring a train set: not without a new outcome, and not within an hour of the last one; where train
   * sets go by rows, not before a tenth of them is new.
   */
  mayAnswerDecay({ now, outcomes }: ScheduleFacts): boolean {
    const { schedule } = this;
    const fresh = outcomes - this.outcomesThen;
    if (this.trainedAt === undefined) {
      return true;
    }
    return schedule.kind === 'rows' ? fresh >= schedule.rows / 10 : fresh > 0 && now - this.trainedAt >= HOUR;
  }

  went({ now, outcomes, kept }: ScheduleFacts): void {
    this.trainSets++;
    this.trainedAt = now;
    this.outcomesThen = outcomes;
    this.keptThen = kept;
    this.decayWaits = false;
  }
}
