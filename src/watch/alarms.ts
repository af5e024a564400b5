import { BoundedMap } from '../util/collections';
import { DAY } from '../util/durations';
import type { Issued, MovedBand } from './predictions';
import type { AlarmOptions, WatchChange, WatchedModel } from './types';

/** Changes kept for display. Alarms are dropped first, so that they do not crowd out changes of the model. */
const KEPT = 20;
const KEPT_OF_MODEL = 10;
/** Kinds and keys whose last report is remembered. */
const MOST_TOLD = 4000;
const LIMITED: ReadonlySet<WatchChange['what']> = new Set(['decay', 'recovered', 'drift', 'no_truth']);

export interface ChangesState {
  newest: WatchChange[];
  told: [place: string, time: number][];
}

/** The changes reported: at most one a day per kind and key, in event time, except for alarms and new models. */
export class Changes {
  newest: WatchChange[];
  private readonly told = new BoundedMap<string, number>(MOST_TOLD);

  constructor(state?: ChangesState) {
    this.newest = state?.newest.slice() ?? [];
    for (const [place, time] of state?.told ?? []) {
      this.told.set(place, time);
    }
  }

  mayReport(what: WatchChange['what'], key: string | undefined, time: number): boolean {
    const last = this.told.get(makePlace(what, key));
    return last === undefined || !LIMITED.has(what) || Math.abs(time - last) >= DAY;
  }

  tell(change: WatchChange, time: number): WatchChange {
    this.told.set(makePlace(change.what, change.key), time);
    this.newest = findNewest([...this.newest, change]);
    return change;
  }

  toJSON(): ChangesState {
    return { newest: [...this.newest], told: [...this.told] };
  }
}

function findNewest(changes: WatchChange[]): WatchChange[] {
  if (changes.length <= KEPT) {
    return changes;
  }
  const isOfModel = ({ what }: WatchChange): boolean => what !== 'alarm' && what !== 'cleared';
  const alarms = changes.length - changes.filter(isOfModel).length;
  const isTooMany = alarms > KEPT - KEPT_OF_MODEL ? (one: WatchChange) => !isOfModel(one) : isOfModel;
  const oldest = changes.findIndex(isTooMany);
  return changes.filter((_, at) => at !== oldest);
}

function makePlace(what: string, key: string | undefined): string {
  return key === undefined ? what : `${what} ${key}`;
}

/** Keys and aheads with a state. */
const MOST_ALARMS = 10_000;
/** Without a threshold, the answered class of two has at least this probability. */
const MORE_PROBABLE = 0.5;

interface AlarmState {
  raised: boolean;
  /** Consecutive readings in favour of a change, and the time of the first of them. */
  count: number;
  since: number;
  /** Time of the newest reading. */
  time: number;
}

export type AlarmsState = [place: string, state: AlarmState][];

interface AlarmTurn {
  what: 'alarm' | 'cleared';
  since: number;
  value: number;
  limit: number;
  /** Set where rows have several aheads. */
  ahead?: number;
}

/** What a prediction is of: a machine, how far ahead, and when. */
interface PredictedAt {
  key: string | null;
  ahead: number | null;
  time: number;
}

/** An alarm with hysteresis: raised after some consecutive readings at or beyond one limit, cleared at another. */
export class Alarms {
  private readonly states = new BoundedMap<string, AlarmState>(MOST_ALARMS);
  /** Up to two aheads seen, to know whether there are several. */
  private readonly steps = new Set<string>();

  constructor(
    private readonly options: AlarmOptions,
    states: AlarmsState = [],
  ) {
    for (const [place, state] of states) {
      this.states.set(place, { ...state });
      this.note(place.slice(place.lastIndexOf(' ') + 1));
    }
  }

  add(
    { key, ahead, time }: PredictedAt,
    issued: Issued,
    left: MovedBand | undefined,
    threshold?: WatchedModel['threshold'],
  ): AlarmTurn | undefined {
    const { for: readings = 3 } = this.options;
    const raise = this.options.raise ?? this.answeredFrom(threshold);
    const value = this.findValue(issued, left);
    if (raise === undefined || value === undefined) {
      return undefined;
    }
    const place = `${key ?? ''} ${ahead ?? ''}`;
    this.note(String(ahead ?? ''));
    const state = this.states.get(place) ?? { raised: false, count: 0, since: time, time: -Infinity };
    if (time <= state.time) {
      // A late row, or one predicted again, says nothing about now.
      return undefined;
    }
    state.time = time;
    const clear = this.clearFrom(raise);
    const isFalling = clear > raise;
    const limit = state.raised ? clear : raise;
    const isBeyond = isFalling !== state.raised ? value <= limit : value >= limit;
    state.count = isBeyond ? state.count + 1 : 0;
    state.since = state.count === 1 ? time : state.since;
    this.states.set(place, state);
    if (state.count < Math.max(1, readings)) {
      return undefined;
    }
    state.raised = !state.raised;
    state.count = 0;
    const turn: AlarmTurn = { what: state.raised ? 'alarm' : 'cleared', since: state.since, value, limit };
    return ahead !== null && this.steps.size > 1 ? { ...turn, ahead } : turn;
  }

  private note(step: string): void {
    if (this.steps.size < 2) {
      this.steps.add(step);
    }
  }

  toJSON(): AlarmsState {
    return Array.from(this.states, ([place, state]) => [place, { ...state }]);
  }

  /** Where the model decides when to raise, a clear limit above that would invert the alarm, so it is capped. */
  private clearFrom(raise: number): number {
    const { raise: own, clear = this.usualClear(raise) } = this.options;
    return own === undefined ? Math.min(clear, raise) : clear;
  }

  /**
   * A tenth below. Probabilities vary by their odds, and around 0.5 a tenth is too little to stop an alarm from flapping:
   * there it clears at half the odds, or a tenth below if that is lower.
   */
  private usualClear(raise: number): number {
    const below = raise - 0.1 * Math.abs(raise);
    return this.options.on === 'probability' ? Math.min(below, raise / (2 - Math.min(raise, 1))) : below;
  }

  /** The probability from which the model answers the alarm's label. */
  private answeredFrom(threshold: WatchedModel['threshold']): number | undefined {
    const { on, label } = this.options;
    if (on !== 'probability') {
      return undefined;
    }
    if (threshold === undefined) {
      return MORE_PROBABLE;
    }
    return String(threshold.label) === String(label) ? threshold.at : 1 - threshold.at;
  }

  private findValue(issued: Issued, left: MovedBand | undefined): number | undefined {
    const { on = 'off', label } = this.options;
    switch (on) {
      case 'off':
        return undefined;
      case 'probability':
        return issued.kind === 'classes'
          ? issued.probabilities.find(([name]) => name === String(label))?.[1]
          : undefined;
      case 'value':
        return left?.middle ?? (issued.kind === 'number' ? issued.middle : undefined);
      case 'upper':
        return left?.high;
      case 'lower':
        return left?.low;
    }
  }
}
