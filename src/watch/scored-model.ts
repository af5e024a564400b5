import { BoundedMap } from '../util/collections';
import { Corrections, type CorrectionsState } from './bands';
import {
  Decay,
  type DecayReference,
  type DecayState,
  type LossNoise,
  type PromisedLoss,
  TrainWindows,
} from './decay';
import { LiveScores, type LiveScoresState, type TruthScores } from './live-scores';
import { isNumber, type Issued, type OpenPrediction } from './predictions';
import { Ring, WeeklyPattern, type WeeklyPatternState } from './statistics';
import type {
  Coverage,
  KeyRatio,
  LiveLoss,
  LossMeasure,
  PromisedScores,
  WatchedModel,
  WatchNumbers,
  WatchReport,
  WatchSettings,
} from './types';
import { keyRatios } from './watched-model';

interface ScopeState {
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

interface ScopeOptions {
  keep: number;
  reference: DecayReference;
}

/** Live scores and decay of one model, for one key or all keys together. */
class Scope {
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

function promisedLoss(scores: PromisedScores | undefined, measure: LossMeasure): number | undefined {
  if (measure === 'error') {
    return scores?.accuracy === undefined ? undefined : 1 - scores.accuracy;
  }
  return scores?.[measure];
}

/** How many first predictions give the usual width of a band, and how many newest ones an estimate. */
const CALM = 200;
const NEWEST = 200;
/** Smallest scale of a band, as a share of the usual width. */
const LEAST_SHARE = 0.05;

export interface ExpectedLossState {
  sum: number;
  count: number;
  newest: string;
}

/** What a model's predictions imply by themselves: the usual width of its bands, and the expected loss. */
export class ExpectedLoss {
  private sum: number;
  private count: number;
  private readonly newest: Ring;

  constructor(state?: ExpectedLossState) {
    this.sum = state?.sum ?? 0;
    this.count = state?.count ?? 0;
    this.newest = state === undefined ? new Ring(1, NEWEST) : Ring.fromText(1, NEWEST, state.newest);
  }

  add(issued: Issued): void {
    if (issued.kind === 'band') {
      const width = issued.high - issued.low;
      if (this.count < CALM) {
        this.sum += width;
        this.count++;
      }
      this.newest.push([width]);
    } else if (issued.kind === 'classes') {
      // The expectation of −ln p(truth) if the probabilities are calibrated.
      const entropy = issued.probabilities.reduce((sum, [, p]) => (p > 0 ? sum - p * Math.log(p) : sum), 0);
      this.newest.push([entropy]);
    }
  }

  /** The unit of distances from a band: its width, or a share of the usual width where it has almost none. */
  chooseScale(width: number): number {
    return Math.max(width, this.count === 0 ? 0 : (LEAST_SHARE * this.sum) / this.count);
  }

  /** The expected loss of the newest predictions, where it can be estimated. */
  estimate(promised: number | undefined, isRegression: boolean): number | undefined {
    if (this.newest.size === 0) {
      return undefined;
    }
    const mean = this.newest.field().reduce((sum, value) => sum + value, 0) / this.newest.size;
    if (!isRegression) {
      return mean;
    }
    const calm = this.sum / this.count;
    return promised === undefined || !(calm > 0) ? undefined : (promised * mean) / calm;
  }

  toJSON(): ExpectedLossState {
    return { sum: this.sum, count: this.count, newest: this.newest.toText() };
  }
}

/** With fewer truths the expected loss is given too. */
const FEW_TRUTHS = 20;
const MOST_KEYS_TOLD = 100;

interface LiveView {
  current: WatchedModel;
  scored: ScoredModel | undefined;
  expected: ExpectedLoss;
  /** No truth comes any more. */
  silent: boolean;
}

/** @param key undefined: all keys together */
export function liveNumbers(
  { current, scored, expected, silent }: LiveView,
  key: string | null | undefined,
): Pick<WatchNumbers, 'live' | 'coverage'> {
  const isRegression = current.task === 'regression';
  if (scored === undefined) {
    const measure = isRegression ? 'mae' : 'log_loss';
    const promised = promisedLoss(current.promised, measure);
    const estimated = expected.estimate(promised, isRegression);
    return {
      live: {
        measure,
        rows: 0,
        ...(promised !== undefined && { promised }),
        ...(estimated !== undefined && { estimated }),
      },
    };
  }
  const scope = key === undefined ? scored.all : scored.scope(key);
  const live = scored.live(scope, scope === scored.all ? null : (key ?? ''));
  const isUnsure = (silent || live.rows < FEW_TRUTHS) && scored.measure !== 'error';
  const estimated = isUnsure ? expected.estimate(live.promised, isRegression) : undefined;
  const coverage = scored.coverage(scope);
  return {
    live: { ...live, ...(estimated !== undefined && { estimated }) },
    ...(coverage && { coverage }),
  };
}

/** Numbers per key: decayed keys first, then by loss. */
export function keysTold(scored: ScoredModel | undefined): NonNullable<WatchReport['keys']> {
  if (scored === undefined) {
    return [];
  }
  const keys = Array.from(scored.keys, ([key, scope]) => {
    const coverage = scored.coverage(scope);
    return {
      key,
      live: scored.live(scope, key),
      ...(coverage && { coverage }),
      decayed: scope.decay.isDecayed,
    };
  });
  const order = (a: (typeof keys)[number], b: (typeof keys)[number]): number =>
    Number(b.decayed) - Number(a.decayed) || (b.live.loss ?? 0) - (a.live.loss ?? 0);
  return keys.sort(order).slice(0, MOST_KEYS_TOLD);
}
