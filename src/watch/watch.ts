import { isObject, readReason, tryParseJson } from '../util/values';
import { checkGiven, checkValue, OBJECT } from '../wire/given';
import { ServiceError } from '../wire/service-error';
import { Alarms, type AlarmsState, Changes, type ChangesState } from './alarms';
import { outgoingCorrected, type OutgoingPrediction, outgoingUnchanged } from './bands';
import { WithoutTruth, type WithoutTruthState } from './drift';
import { chooseMeasure, scoreTruth, VersionScores, type VersionScoresState } from './live-scores';
import {
  isLabel,
  isNumber,
  type Issued,
  listPlaces,
  type OpenPrediction,
  OpenPredictions,
  type OpenState,
  readIssued,
  SettledPredictions,
} from './predictions';
import {
  ExpectedLoss,
  type ExpectedLossState,
  keysTold,
  liveNumbers,
  ScoredModel,
  type ScoredModelState,
} from './scored-model';
import {
  type PredictionSeen,
  type SettledPrediction,
  type TruthAnswer,
  type TruthSeen,
  type WatchAnswer,
  type WatchChange,
  type WatchCounts,
  WATCHED_MODEL,
  type WatchedModel,
  type WatchNumbers,
  type WatchOptions,
  type WatchReport,
  type WatchSettings,
  watchSettings,
} from './types';
import { Generations, type GenerationsState } from './watched-model';

const SEEN = { series: OBJECT };

/**
 * Watches the predictions of one model: corrects their bands by the truths that come later, keeps live scores, and reports
 * when it has become worse than promised. Time is event time. Everything held is bounded.
 */
export class Watch {
  private readonly settings: WatchSettings;
  private readonly now: () => number;
  private readonly generations: Generations;
  private scored: ScoredModel | undefined;
  private readonly versions: VersionScores;
  private latest: number | undefined;
  private expected: ExpectedLoss;
  private readonly open: OpenPredictions;
  private readonly alarms: Alarms;
  private readonly changes: Changes;
  private readonly withoutTruth: WithoutTruth;
  private readonly recent: SettledPredictions;
  private readonly counts: KeptCounts;

  /**
   * @param now milliseconds since 1970, for rows without a time
   * @throws ServiceError `validation.failed`, `config.invalid`
   */
  constructor(model: WatchedModel, options: WatchOptions = {}, now = Date.now, state?: WatchState) {
    checkValue('Watch: model', state?.model ?? model, WATCHED_MODEL);
    this.settings = watchSettings(options);
    this.now = now;
    this.generations = new Generations(state?.model ?? model, state);
    this.latest = state?.latest;
    this.open = new OpenPredictions(state?.open);
    this.expected = new ExpectedLoss(state?.expected);
    this.scored = state?.scored && new ScoredModel(this.settings, state.scored);
    this.versions = new VersionScores(state?.versions);
    this.alarms = new Alarms(this.settings.alarm, state?.alarms);
    this.changes = new Changes(state?.changes);
    this.withoutTruth = new WithoutTruth(this.changes, this.model, state);
    this.recent = new SettledPredictions(state?.recent);
    this.counts =
      state === undefined
        ? { predictions: 0, truths: 0, again: 0, former: 0, unreadable: 0 }
        : { ...state.counts };
  }

  /**
   * Continues from a saved state, with the model that it watched then: call `modelChanged` next.
   * @throws ServiceError `validation.failed`, `config.invalid`
   */
  static from(state: WatchState, options: WatchOptions = {}, now = Date.now): Watch {
    checkValue('Watch.from: state', state, OBJECT);
    try {
      return new Watch(state.model, options, now, state);
    } catch (error) {
      throw error instanceof ServiceError
        ? error
        : new ServiceError(
            'validation.failed',
            `The saved state of the watch is damaged (${readReason(error)}): begin with a new one.`,
          );
    }
  }

  get model(): WatchedModel {
    return this.generations.current;
  }

  /** Whether the model with this id was in charge before the present one. */
  wasInCharge(id: string): boolean {
    return id !== this.model.id && this.generations.of(id) !== undefined;
  }

  /** Takes a prediction, and returns the form in which it leaves. */
  predicted(seen: PredictionSeen): WatchAnswer {
    checkGiven('predicted', seen, SEEN);
    const { series, prediction, probabilities, row, model, continues } = seen;
    this.counts.predictions++;
    const key = series.key ?? null;
    const time = isNumber(series.time) ? series.time : this.now();
    const ahead = isNumber(series.ahead) ? series.ahead : null;
    const issued = readIssued(this.model.task, prediction, probabilities);
    this.latest = Math.max(this.latest ?? time, time);
    if (issued === undefined) {
      return { prediction, numbers: this.numbers(key), changes: [] };
    }
    const generation = this.generations.of(model ?? this.model.id) ?? this.generations.number;
    if (generation === this.generations.number) {
      this.expected.add(issued);
    }
    const place = { key, ahead, generation };
    const { waiting, leaves, shift, widen } = this.leaving(issued, prediction, place);
    const changes = [
      ...this.alarm({ key, ahead, time }, issued, waiting.left),
      ...this.withoutTruth.row({ key, time, ahead, row, continues }),
    ];
    const names = listPlaces(series);
    const [id] = names;
    if (id !== undefined) {
      const { relativeTo } = this.model;
      const now = relativeTo === undefined ? undefined : row?.[relativeTo];
      const isNew = this.open.add({ id, time, ...place, issued, ...waiting, ...(isLabel(now) && { now }) });
      const early = isNew ? this.open.takeEarly(names, series.time) : undefined;
      if (early !== undefined) {
        changes.push(...this.truth({ series, truth: early.truth }).changes);
      }
    }
    const numbers = this.numbers(key);
    return {
      prediction: leaves,
      numbers: { ...numbers, ...(shift !== undefined && { shift }), ...(widen !== undefined && { widen }) },
      changes,
    };
  }

  /** Takes the truth of a row, before or after its prediction. */
  truth(seen: TruthSeen): TruthAnswer {
    checkGiven('truth', seen, SEEN);
    const { series, truth } = seen;
    const names = listPlaces(series);
    if (names.length === 0 || !isLabel(truth)) {
      this.counts.unreadable++;
      return { counted: 'unreadable', changes: [] };
    }
    const prediction = this.open.settle(names, truth, series.time);
    if (prediction === 'early' || prediction === 'again') {
      this.counts.again += prediction === 'again' ? 1 : 0;
      return { counted: prediction, changes: [] };
    }
    this.withoutTruth.truth(this.settings.perKey ? (prediction.key ?? '') : undefined);
    const scores = scoreTruth(prediction, truth);
    if (scores === undefined) {
      this.counts.unreadable++;
      return { counted: 'unreadable', changes: [] };
    }
    const model = this.generations.model(prediction.generation);
    if (model !== undefined) {
      this.versions.add(model, prediction, scores);
    }
    const scored = this.scoredFor(prediction);
    if (scored === undefined) {
      this.counts.former++;
      return { counted: 'former', changes: [] };
    }
    this.counts.truths++;
    scored.add(prediction, truth, scores);
    this.recent.add(prediction, truth);
    return { counted: 'yes', changes: this.judge(prediction) };
  }

  /** Another model is in charge, or the card of this one has changed. */
  modelChanged(model: WatchedModel): WatchChange[] {
    checkValue('modelChanged: model', model, WATCHED_MODEL);
    const { generations } = this;
    const isSame = model.id === this.model.id;
    this.withoutTruth.modelChanged(model);
    this.versions.modelChanged(model);
    if (isSame) {
      generations.current = model;
      if (this.scored?.generation === generations.number) {
        this.scored.model = model;
      }
      return [];
    }
    generations.next(model);
    this.expected = new ExpectedLoss();
    const time = this.latest ?? this.now();
    const value = model.version ?? model.id;
    return [this.changes.tell({ what: 'model', model: model.name, since: time, value }, time)];
  }

  report(): WatchReport {
    const { scored, model: current, counts, open, changes, recent } = this;
    const all = scored?.all;
    const numbers = this.numbers(undefined);
    const calibration = scored?.measure === 'log_loss' ? all?.live.calibration() : undefined;
    const widen = all?.live.mean('widen');
    const keys = this.settings.perKey ? keysTold(scored) : undefined;
    // As reported by changes: with numbers per key, each key decays on its own.
    const isDecayed = keys?.some(({ decayed }) => decayed) ?? all?.decay.isDecayed === true;
    return {
      model: current.name,
      ...(current.version !== undefined && { version: current.version }),
      ...numbers,
      ...(widen !== undefined && { widen }),
      drift: this.withoutTruth.columns,
      losses: all?.decay.means ?? [],
      recent: recent.toJSON(),
      changes: [...changes.newest],
      ...(keys && { keys }),
      ...(calibration !== undefined && { calibration }),
      versions: this.versions.scores(),
      decayed: isDecayed && scored?.generation === this.generations.number,
      ...(scored !== undefined && scored.generation !== this.generations.number && { isNew: true as const }),
      counts: { ...counts, ...open.counts },
    };
  }

  toJSON(): WatchState {
    const { generations, counts, open, expected, scored, alarms, withoutTruth, changes } = this;
    return {
      v: 1,
      ...generations.toJSON(),
      ...(this.latest !== undefined && { latest: this.latest }),
      counts: { ...counts },
      open: open.toJSON(),
      expected: expected.toJSON(),
      ...(scored && { scored: scored.toJSON() }),
      versions: this.versions.toJSON(),
      alarms: alarms.toJSON(),
      ...withoutTruth.toJSON(),
      changes: changes.toJSON(),
      recent: this.recent.toJSON(),
    };
  }

  private leaving(
    issued: Issued,
    prediction: unknown,
    { key, ahead, generation }: Pick<OpenPrediction, 'key' | 'ahead' | 'generation'>,
  ): OutgoingPrediction {
    if (issued.kind !== 'band') {
      return { leaves: prediction, waiting: {} };
    }
    const { scored, settings } = this;
    const scale = this.expected.chooseScale(issued.high - issued.low);
    if (!settings.honest || scale === 0) {
      return outgoingUnchanged(prediction, issued);
    }
    // A model without truths of its own uses the corrections of its predecessor.
    const corrections =
      scored === undefined || generation < scored.generation
        ? undefined
        : generation === scored.generation
          ? scored.corrections
          : scored.corrections.next;
    const move = corrections?.of({ key, ahead, level: issued.level }) ?? { shift: 0, widen: 0 };
    return outgoingCorrected(prediction, issued, { shift: move.shift, widen: move.widen, scale });
  }

  private alarm(
    of: { key: string | null; ahead: number | null; time: number },
    issued: Issued,
    left: OpenPrediction['left'],
  ): WatchChange[] {
    const { key, time } = of;
    const turn = this.alarms.add(of, issued, left, this.model.threshold);
    return turn === undefined
      ? []
      : [this.changes.tell({ ...turn, model: this.model.name, ...ofKey(key) }, time)];
  }

  /** The model that a truth counts for. Undefined where truths of a later model have come already. */
  private scoredFor(prediction: OpenPrediction): ScoredModel | undefined {
    const { scored } = this;
    const { generation } = prediction;
    if (scored !== undefined && generation <= scored.generation) {
      return generation === scored.generation ? scored : undefined;
    }
    const model = this.generations.model(generation);
    if (model === undefined) {
      return undefined;
    }
    this.scored = new ScoredModel(this.settings, {
      generation,
      model,
      measure: chooseMeasure(prediction),
      before: [],
      ...scored?.forNext,
    });
    return this.scored;
  }

  private judge({ key, time }: OpenPrediction): WatchChange[] {
    const { scored, settings, changes } = this;
    const scope = scored?.scope(key);
    if (scored === undefined || scope === undefined || scored.generation !== this.generations.number) {
      return [];
    }
    const { isDecayed, isConfirmed, since, newest, expected } = scope.decay;
    const own = settings.perKey ? ofKey(key) : {};
    const what = isDecayed ? 'decay' : 'recovered';
    // A change that had to wait is reported as long as it still holds.
    const isNews = isDecayed !== scope.told && isConfirmed;
    if (!isNews || newest === undefined || !changes.mayReport(what, own.key, time)) {
      return [];
    }
    scope.told = isDecayed;
    const change: WatchChange = {
      what,
      model: this.model.name,
      ...own,
      since,
      value: newest,
      ...(expected !== undefined && { limit: expected }),
      measure: scored.measure,
    };
    const why = isDecayed ? this.withoutTruth.reasons : [];
    return [changes.tell({ ...change, ...(why.length > 0 && { why }) }, time)];
  }

  private numbers(key: string | null | undefined): Pick<WatchNumbers, 'live' | 'coverage'> {
    const { model, scored, expected } = this;
    const { silent } = this.withoutTruth;
    return liveNumbers({ current: model, scored, expected, silent }, key);
  }
}

function ofKey(key: string | null): { key?: string } {
  return key === null ? {} : { key };
}

type KeptCounts = Omit<WatchCounts, 'open' | 'early' | 'dropped' | 'unmet'>;

/** Everything a watch knows, as JSON. Open predictions are immutable, so a state may be written later. */
export interface WatchState extends GenerationsState, WithoutTruthState {
  v: 1;
  /** Time of the newest row, milliseconds since 1970. */
  latest?: number;
  counts: KeptCounts;
  open: OpenState;
  expected: ExpectedLossState;
  scored?: ScoredModelState;
  /** Missing in states of package versions that did not keep it. */
  versions?: VersionScoresState | undefined;
  alarms: AlarmsState;
  changes: ChangesState;
  recent: SettledPrediction[];
}

/** Predictions per line. */
const PER_LINE = 200;

/** A state as lines of JSON, generated one by one so that a large state need not block the event loop. */
export function* stateLines(state: WatchState): Generator<string> {
  const { open } = state.open;
  yield JSON.stringify({ ...state, open: { ...state.open, open: open.length } });
  for (let from = 0; from < open.length; from += PER_LINE) {
    yield JSON.stringify(open.slice(from, from + PER_LINE));
  }
}

/** The state from such lines; undefined where they are incomplete. */
export function readStateLines(lines: Iterable<string>): WatchState | undefined {
  return stateOfLines(Array.from(lines, tryParseJson));
}

/** The same for lines that are parsed already, so that a caller can parse a large state in slices. */
export function stateOfLines([head, ...pieces]: unknown[]): WatchState | undefined {
  if (!isObject(head) || head.v !== 1 || !isObject(head.open) || !pieces.every(Array.isArray)) {
    return undefined;
  }
  const open = pieces.flat() as unknown[];
  return head.open.open === open.length
    ? ({ ...head, open: { ...head.open, open } } as unknown as WatchState)
    : undefined;
}
