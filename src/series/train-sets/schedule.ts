import { DAY, HOUR } from '../settings/durations';
import type { TrainReason, TrainSchedule } from '../types';

/** Outcomes before the first train set of `auto`, and how many of them must be of the rarer class. */
const FIRST_ROWS = 200;
const FIRST_RARER = 20;
/** Separate events: with fewer, a model is scored on the very event that it has learned from. */
export const FIRST_EVENTS = 3;
/** `auto` after that: grown by this share, or a day later by this many rows. */
const GROWTH = 0.2;
const DAILY_ROWS = 50;
/** A table of fewer rows than this share of the last train set is like live readings. */
const FEW = 0.05;

/** What decides whether a train set is due. */
export interface ScheduleFacts {
  /** Rows kept with their outcome, and outcomes in total. */
  kept: number;
  outcomes: number;
  /** Rows of the rarest class; undefined where outcomes are numbers. */
  rarer: number | undefined;
  /** Separate events in the rows kept, {@link FIRST_EVENTS} at most; undefined where the outcome is not an event. */
  events: number | undefined;
  now: number;
}

/**
 * When train sets are sent. By the wall clock rather than event time: the hour between two is there to spare the service,
 * and a week of readings that arrives in a minute is one reason to fit, not seven.
 */
export class Schedule {
  trainSets = 0;
  trainedAt: number | undefined;
  /** Outcomes in total, and rows kept, at the last train set. */
  outcomesThen = 0;
  keptThen = 0;
  /** Decay was reported too soon for a train set. It is reported once a day only, so the train set follows when it may. */
  decayWaits = false;

  constructor(private readonly schedule: TrainSchedule) {}

  /** How many outcomes the first train set waits for; 0 where none is sent unasked. */
  get needed(): number {
    const { schedule } = this;
    return schedule.kind === 'never' ? 0 : schedule.kind === 'rows' ? schedule.rows : FIRST_ROWS;
  }

  /** Whether the rows of a table are few beside those of the last train set. */
  areFew(rows: number): boolean {
    return rows < FEW * this.keptThen;
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
   * Whether decay may trigger a train set: not without a new outcome, and not within an hour of the last train set; with
   * a schedule in rows, once a tenth of them is new.
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
