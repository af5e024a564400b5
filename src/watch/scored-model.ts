import { BoundedMap } from '../util/bounded-map';
import { Corrections, type CorrectionsState } from './corrections';
import type { LossNoise } from './decay';
import { isNumber } from './issued';
import type { TruthScores } from './live-scores';
import type { OpenPrediction } from './open-predictions';
import { Scope, type ScopeOptions, type ScopeState } from './scope';
import type { Coverage, LiveLoss, LossMeasure, PromisedScores, WatchedModel } from './types';
import type { WatchSettings } from './watch-settings';

/** Keys with numbers of their own, and the truths that each keeps. */
const MOST_KEYS = 1000;
const KEPT_PER_KEY = 600;

/** How the losses of a model scatter: of each key, and (null) of all together. */
export type Scatter = [key: string | null, noise: LossNoise][];

export interface ScoredModelState {
  generation: number;
  model: WatchedModel;
  measure: LossMeasure;
  all: ScopeState;
  keys: [key: string, scope: ScopeState][];
  before: Scatter;
  corrections: CorrectionsState;
}

/** What the truths say of one model: all that starts again with the next one. */
export class ScoredModel {
  readonly generation: number;
  readonly measure: LossMeasure;
  readonly all: Scope;
  readonly keys = new BoundedMap<string, Scope>(MOST_KEYS);
  readonly corrections: Corrections;
  model: WatchedModel;
  /** Of the model before this one: it holds for this one too, until that has its own. */
  private readonly before: Map<string | null, LossNoise>;

  constructor(
    private readonly settings: WatchSettings,
    state: Pick<ScoredModelState, 'generation' | 'model' | 'measure' | 'before'> & Partial<ScoredModelState>,
  ) {
    this.generation = state.generation;
    this.model = state.model;
    this.measure = state.measure;
    this.before = new Map(state.before);
    this.all = new Scope(this.scopeOptions(null), state.all);
    this.corrections = new Corrections(state.corrections);
    for (const [key, own] of state.keys ?? []) {
      this.keys.set(key, new Scope(this.scopeOptions(key), own));
    }
  }

  /** The numbers and the decay that count for a key. */
  scope(key: string | null): Scope | undefined {
    return this.settings.perKey ? this.keys.get(key ?? '') : this.all;
  }

  add(prediction: OpenPrediction, truth: unknown, scores: TruthScores): void {
    this.all.add(scores, prediction);
    if (this.settings.perKey) {
      const key = prediction.key ?? '';
      let own = this.keys.get(key);
      if (own === undefined) {
        own = new Scope(this.scopeOptions(key));
        this.keys.set(key, own);
      }
      own.add(scores, prediction);
    }
    const { issued, key, ahead, scale, left } = prediction;
    if (issued.kind === 'band' && scale !== undefined && left !== undefined && isNumber(truth)) {
      this.corrections.add(
        { key, ahead, level: issued.level },
        {
          error: (truth - issued.middle) / scale,
          below: (issued.low - truth) / scale,
          above: (truth - issued.high) / scale,
          missed: scores.held === 0,
          shift: (left.middle - issued.middle) / scale,
        },
      );
    }
  }

  /** For the model after this one. */
  get scatter(): Scatter {
    const scopes: [string | null, Scope][] = [[null, this.all], ...this.keys];
    return scopes.flatMap(([key, { decay }]): Scatter =>
      decay.scatter === undefined ? [] : [[key, decay.scatter]],
    );
  }

  live(scope: Scope | undefined): LiveLoss {
    const { model, measure } = this;
    const promised = promisedLoss(model.promised, measure);
    const numbers: LiveLoss = { measure, rows: scope?.live.rows ?? 0 };
    const put = (
      name: 'loss' | 'corrected' | 'promised' | 'now' | 'pinball',
      value: number | undefined,
    ): void => {
      if (value !== undefined) {
        numbers[name] = value;
      }
    };
    put('loss', scope?.live.mean('loss'));
    put('corrected', this.settings.honest ? scope?.live.mean('corrected') : undefined);
    put('promised', promised);
    put('now', scope?.live.mean('now'));
    put('pinball', scope?.live.mean('pinball'));
    if (numbers.pinball !== undefined && model.promised?.pinball !== undefined) {
      numbers.pinball_promised = model.promised.pinball;
    }
    return numbers;
  }

  coverage(scope: Scope | undefined): Coverage | undefined {
    const [told, held] = [scope?.live.mean('told'), scope?.live.mean('held')];
    return scope === undefined || told === undefined || held === undefined
      ? undefined
      : // Held as 32-bit floats, 0.8 would come back as 0.800000012.
        { told: Math.round(told * 1e6) / 1e6, held, rows: scope.live.rowsWith('held') };
  }

  toJSON(): ScoredModelState {
    const { generation, model, measure, all, keys, before, corrections } = this;
    return {
      generation,
      model,
      measure,
      all: all.toJSON(),
      keys: Array.from(keys, ([key, scope]) => [key, scope.toJSON()]),
      before: [...before],
      corrections: corrections.toJSON(),
    };
  }

  private scopeOptions(key: string | null): ScopeOptions {
    const { model, measure, settings } = this;
    const loss = promisedLoss(model.promised, measure);
    return {
      keep: key === null ? settings.keep : Math.min(settings.keep, KEPT_PER_KEY),
      rule: settings,
      promised: loss === undefined ? undefined : { loss, rows: model.promised?.rows ?? 0 },
      noise: this.before.get(key),
    };
  }
}

export function promisedLoss(scores: PromisedScores | undefined, measure: LossMeasure): number | undefined {
  if (measure === 'error') {
    return scores?.accuracy === undefined ? undefined : 1 - scores.accuracy;
  }
  return scores?.[measure];
}
