import { BoundedMap } from '../../util/bounded-map';
import type { Issued, MovedBand } from '../predictions/issued';
import type { AlarmOptions, WatchedModel } from '../types';

/** Keys, with their steps ahead, whose readings are counted. */
const MOST = 10_000;
/** Of two classes the one that is answered has at least this probability, where no threshold was chosen. */
const MORE_PROBABLE = 0.5;

interface AlarmState {
  raised: boolean;
  /** Readings in a row that speak for a turn, and the time of the first of them. */
  count: number;
  since: number;
  /** Of the newest reading. */
  time: number;
}

export type AlarmsState = [place: string, state: AlarmState][];

export interface AlarmTurn {
  what: 'alarm' | 'cleared';
  since: number;
  value: number;
  limit: number;
  /** How far it looks ahead, where rows look several steps ahead. */
  ahead?: number;
}

/** Raises an alarm after some readings in a row at or beyond a limit, and clears it after as many back at another. */
export class Alarms {
  private readonly states = new BoundedMap<string, AlarmState>(MOST);
  /** Two of the steps ahead that rows look: whether there are several. */
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
    { key, ahead }: { key: string | null; ahead: number | null },
    time: number,
    issued: Issued,
    left: MovedBand | undefined,
    threshold?: WatchedModel['threshold'],
  ): AlarmTurn | undefined {
    const { for: readings = 3 } = this.options;
    const raise = this.options.raise ?? this.answeredFrom(threshold);
    const value = this.valueOf(issued, left);
    if (raise === undefined || value === undefined) {
      return undefined;
    }
    const place = `${key ?? ''} ${ahead ?? ''}`;
    this.note(String(ahead ?? ''));
    const state = this.states.get(place) ?? { raised: false, count: 0, since: time, time: -Infinity };
    if (time <= state.time) {
      // A row of before, come late or predicted again: it says nothing of now.
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

  /** Where the model says when to raise, what is cleared later than raised would turn the alarm round. */
  private clearFrom(raise: number): number {
    const { raise: own, clear = this.usualClear(raise) } = this.options;
    return own === undefined ? Math.min(clear, raise) : clear;
  }

  /**
   * A tenth below. Probabilities wander by their odds: a tenth below 0.5 an alarm comes and goes, so it is over where the
   * odds are half of what they were, or a tenth below where that is lower.
   */
  private usualClear(raise: number): number {
    const below = raise - 0.1 * Math.abs(raise);
    return this.options.on === 'probability' ? Math.min(below, raise / (2 - Math.min(raise, 1))) : below;
  }

  /** The probability from which on the model answers the label of the alarm. */
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

  private valueOf(issued: Issued, left: MovedBand | undefined): number | undefined {
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
