import { BoundedMap } from '../../util/collections';
import { Corrections, type CorrectionsState } from '../bands/corrections';
import type { LossNoise, PromisedLoss } from '../decay/decay';
import { TrainWindows } from '../decay/train-windows';
import { keyRatios } from '../models/key-ratios';
import { isNumber } from '../predictions/issued';
import type { OpenPrediction } from '../predictions/open-predictions';
import { WeeklyPattern, type WeeklyPatternState } from '../statistics/weekly-pattern';
import type { Coverage, KeyRatio, LiveLoss, LossMeasure, PromisedScores, WatchedModel } from '../types';
import type { WatchSettings } from '../watch-settings';
import type { TruthScores } from './live-scores';
import { Scope, type ScopeOptions, type ScopeState } from './scope';

/** Keys with scores of their own, and the truths that each keeps. */
const MOST_KEYS = 1000;
const KEPT_PER_KEY = 600;
/** First losses that it takes to compare a key with the others. */
const LEAST_ROWS = 100;

/** How the losses of a model scatter, per key and (null) for all together. */
type Scatter = [key: string | null, noise: LossNoise][];

export interface ScoredModelState {
  generation: number;
  model: WatchedModel;
  measure: LossMeasure;
  all: ScopeState;
  keys: [key: string, scope: ScopeState][];
  before: Scatter;
  corrections: CorrectionsState;
  weekly?: WeeklyPatternState;
  ratios?: readonly KeyRatio[] | undefined;
}

/** What the truths say about one model: everything that starts over with the next one. */
export class ScoredModel {
  readonly generation: number;
  readonly measure: LossMeasure;
  readonly all: Scope;
  readonly keys = new BoundedMap<string, Scope>(MOST_KEYS);
  readonly corrections: Corrections;
  /** Over all keys and earlier models, since it describes the rows rather than the model. */
  readonly weekly: WeeklyPattern;
  model: WatchedModel;
  /** From the previous model, until this one has its own. */
  private readonly before: Map<string | null, LossNoise>;
  private readonly windows: TrainWindows | undefined;
  /** Per key, from the losses of earlier models, for services whose fits do not give them. */
  private readonly ratiosBefore: readonly KeyRatio[];
  private readonly ownRatios: ReadonlyMap<string, KeyRatio>;

  constructor(
    private readonly settings: WatchSettings,
    state: Pick<ScoredModelState, 'generation' | 'model' | 'measure' | 'before'> & Partial<ScoredModelState>,
  ) {
    this.generation = state.generation;
    this.model = state.model;
    this.measure = state.measure;
    this.before = new Map(state.before);
    this.weekly = new WeeklyPattern(settings.timezone, state.weekly);
    this.ratiosBefore = state.ratios ?? [];
    // A fit gives no error rates per key.
    const told = this.measure === 'error' ? [] : (this.model.keys ?? []);
    this.ownRatios = new Map([...this.ratiosBefore, ...told].map((one) => [one.key, one]));
    this.windows = state.model.losses && new TrainWindows(state.model.losses);
    this.all = new Scope(this.scopeOptions(null), state.all);
    this.corrections = new Corrections(state.corrections);
    for (const [key, own] of state.keys ?? []) {
      this.keys.set(key, new Scope(this.scopeOptions(key), own));
    }
  }

  /** The scope that counts for a key. */
  scope(key: string | null): Scope | undefined {
    return this.settings.perKey ? this.keys.get(key ?? '') : this.all;
  }

  add(prediction: OpenPrediction, truth: unknown, scores: TruthScores): void {
    this.all.add(scores, prediction);
    if (!Number.isNaN(scores.loss)) {
      this.weekly.add(scores.loss / (promisedLoss(this.model.promised, this.measure) ?? 1), prediction.time);
    }
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

  /** What the next model starts with. */
  get forNext(): Pick<ScoredModelState, 'before' | 'corrections' | 'weekly' | 'ratios'> {
    const { corrections, weekly, ratios } = this;
    const scopes: [string | null, Scope][] = [[null, this.all], ...this.keys];
    const before = scopes.flatMap(([key, { decay }]): Scatter =>
      decay.scatter === undefined ? [] : [[key, decay.scatter]],
    );
    return { before, corrections: corrections.next.toJSON(), weekly: weekly.toJSON(), ratios };
  }

  /** Losses of each key relative to the mean of all, for the next model. */
  private get ratios(): KeyRatio[] {
    const first = Array.from(this.keys, ([key, { decay }]) => ({ key, ...decay.first }));
    const own = keyRatios(first.filter(({ rows }) => rows >= LEAST_ROWS));
    const known = new Set(own.map(({ key }) => key));
    return [...own, ...this.ratiosBefore.filter(({ key }) => !known.has(key))].slice(0, MOST_KEYS);
  }

  /** @param key null: all together */
  live(scope: Scope | undefined, key: string | null): LiveLoss {
    const { model, measure } = this;
    const promised = this.promised(key)?.loss;
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
      : // From 32-bit floats 0.8 comes back as 0.800000012.
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
      weekly: this.weekly.toJSON(),
      ratios: this.ratiosBefore,
    };
  }

  /** The promised loss of a key, or (null) of all together. */
  private promised(key: string | null): PromisedLoss | undefined {
    const { promised } = this.model;
    const loss = promisedLoss(promised, this.measure);
    const own = key === null ? undefined : this.ownRatios.get(key);
    return loss === undefined
      ? undefined
      : { loss: loss * (own?.ratio ?? 1), rows: own?.rows ?? promised?.rows ?? 0 };
  }

  private scopeOptions(key: string | null): ScopeOptions {
    const { model, settings, weekly, windows } = this;
    return {
      keep: key === null ? settings.keep : Math.min(settings.keep, KEPT_PER_KEY),
      reference: {
        rule: settings,
        promised: this.promised(key),
        noise: this.before.get(key),
        // A window over all keys spans the same time as one of a single key.
        own: windows && { windows, share: key === null ? 1 : 1 / Math.max(1, model.keys?.length ?? 1) },
        weekly,
      },
    };
  }
}

export function promisedLoss(scores: PromisedScores | undefined, measure: LossMeasure): number | undefined {
  if (measure === 'error') {
    return scores?.accuracy === undefined ? undefined : 1 - scores.accuracy;
  }
  return scores?.[measure];
}
