import { Decay, type DecayReference, type DecayState } from '../decay/decay';
import type { OpenPrediction } from '../predictions/open-predictions';
import { LiveScores, type LiveScoresState, type TruthScores } from './live-scores';

export interface ScopeState {
  live: LiveScoresState;
  decay: DecayState;
  told: boolean;
  aheads: (number | null)[];
  step?: TruthStep;
}

/** Truths of one key at one time, with several aheads: their losses are much alike. */
interface TruthStep {
  place: string;
  time: number;
  sum: number;
  count: number;
}

export interface ScopeOptions {
  keep: number;
  reference: DecayReference;
}

/** Live scores and decay of one model, for one key or all keys together. */
export class Scope {
  readonly live: LiveScores;
  readonly decay: Decay;
  /** The verdict on decay that was reported last. */
  told: boolean;
  private readonly aheads: Set<number | null>;
  private step: TruthStep | undefined;

  constructor({ keep, reference }: ScopeOptions, state?: ScopeState) {
    this.live = new LiveScores(keep, state?.live);
    this.decay = new Decay(reference, state?.decay);
    this.told = state?.told ?? false;
    this.aheads = new Set(state?.aheads);
    this.step = state?.step && { ...state.step };
  }

  add(scores: TruthScores, { key, time, ahead }: OpenPrediction): void {
    this.live.add(scores);
    if (Number.isNaN(scores.loss)) {
      return;
    }
    if (this.aheads.size < 2) {
      this.aheads.add(ahead);
    }
    if (this.aheads.size < 2) {
      this.decay.add(scores.loss, time);
      return;
    }
    // Losses of several aheads at one time count as one for the decay: their mean.
    const place = `${time + (ahead ?? 0)} ${key ?? ''}`;
    if (this.step?.place === place) {
      this.step.sum += scores.loss;
      this.step.count++;
      return;
    }
    if (this.step !== undefined) {
      const { sum, count, time: then } = this.step;
      this.decay.add(sum / count, then, count);
    }
    this.step = { place, time, sum: scores.loss, count: 1 };
  }

  toJSON(): ScopeState {
    const { live, decay, told, aheads, step } = this;
    return {
      live: live.toJSON(),
      decay: decay.toJSON(),
      told,
      aheads: [...aheads],
      ...(step && { step: { ...step } }),
    };
  }
}
