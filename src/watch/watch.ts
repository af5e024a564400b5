import { BoundedMap } from '../util/bounded-map';
import { Alarms } from './alarms';
import { Changes } from './changes';
import { Drift } from './drift';
import { ExpectedLoss } from './expected-loss';
import { isLabel, isNumber, type Issued, readIssued } from './issued';
import { leaveAsIs, leaveMoved, type Leaving } from './leaving';
import { keysTold, liveNumbers } from './live-numbers';
import { type OpenPrediction, OpenPredictions } from './open-predictions';
import { ScoredModel } from './scored-model';
import { Silence } from './silence';
import { measureOf, scoreTruth } from './truth-scores';
import type {
  ColumnDrift,
  PredictionSeen,
  SettledPrediction,
  TruthAnswer,
  TruthSeen,
  WatchAnswer,
  WatchChange,
  WatchedModel,
  WatchedRow,
  WatchNumbers,
  WatchOptions,
  WatchReport,
} from './types';
import { type WatchSettings, watchSettings } from './watch-settings';
import type { KeptCounts, WatchState } from './watch-state';

/** Truths that are kept with their predictions, for pictures. */
const MOST_RECENT = 200;
const MOST_FORMER = 8;
const MOST_REASONS = 5;

/**
 * Watches the predictions of one model: corrects their bands by the truths that come later, keeps its live scores, and
 * tells when it has become worse than was promised. Time is that of the rows. All that is held is bounded.
 */
export class Watch {
  private readonly settings: WatchSettings;
  private readonly now: () => number;
  private current: WatchedModel;
  /** How many models were in charge before. */
  private generation: number;
  /** Models that were in charge before: truths of their predictions may still come. */
  private readonly former: BoundedMap<number, WatchedModel>;
  private scored: ScoredModel | undefined;
  private latest: number | undefined;
  private expected: ExpectedLoss;
  private readonly open: OpenPredictions;
  private readonly alarms: Alarms;
  private readonly silence: Silence;
  private readonly changes: Changes;
  private silent: boolean;
  private drift: Drift;
  private drifted: boolean;
  private recent: SettledPrediction[];
  private readonly counts: KeptCounts;

  /** @param now milliseconds since 1970, for rows that do not tell their time */
  constructor(model: WatchedModel, options: WatchOptions = {}, now = Date.now, state?: WatchState) {
    this.settings = watchSettings(options);
    this.now = now;
    this.current = state?.model ?? model;
    this.generation = state?.generation ?? 0;
    this.former = new BoundedMap(MOST_FORMER);
    for (const [generation, former] of state?.former ?? []) {
      this.former.set(generation, former);
    }
    this.latest = state?.latest;
    this.open = new OpenPredictions(state?.open);
    this.expected = new ExpectedLoss(state?.expected);
    this.scored = state?.scored && new ScoredModel(this.settings, state.scored);
    this.alarms = new Alarms(this.settings.alarm, state?.alarms);
    this.silence = new Silence(state?.silence);
    this.silent = state?.silent ?? false;
    this.drift = new Drift(this.current.drift ?? [], state?.drift);
    this.drifted = state?.drifted ?? false;
    this.changes = new Changes(state?.changes);
    this.recent = state?.recent.slice() ?? [];
    this.counts =
      state === undefined
        ? { predictions: 0, truths: 0, again: 0, former: 0, unreadable: 0 }
        : { ...state.counts };
  }

  /** Goes on where another one stopped, with the model that it watched: then call `modelChanged`. */
  static from(state: WatchState, options: WatchOptions = {}, now = Date.now): Watch {
    return new Watch(state.model, options, now, state);
  }

  get model(): WatchedModel {
    return this.current;
  }

  /** Takes a prediction on its way: says what it leaves as. */
  predicted({ series, prediction, probabilities, row }: PredictionSeen): WatchAnswer {
    this.counts.predictions++;
    const key = series.key ?? null;
    const time = isNumber(series.time) ? series.time : this.now();
    const ahead = isNumber(series.ahead) ? series.ahead : null;
    const issued = readIssued(this.current.task, prediction, probabilities);
    this.latest = Math.max(this.latest ?? time, time);
    if (issued === undefined) {
      return { prediction, numbers: this.numbers(key), changes: [] };
    }
    this.expected.add(issued);
    const { waiting, leaves, shift, widen } = this.leaving(issued, prediction, key, ahead);
    if (row !== undefined) {
      this.drift.add(row, `${key ?? ''} ${time}`);
    }
    const changes = [
      ...this.alarm(key, ahead, time, issued, waiting.left),
      ...this.missTruth(key, time, ahead),
      ...this.driftAlone(time),
    ];
    const id = idOf(series);
    if (id !== undefined) {
      const { relativeTo } = this.current;
      const now = relativeTo === undefined ? undefined : row?.[relativeTo];
      const { generation } = this;
      const isNew = this.open.add({
        ...{ id, key, time, ahead, generation, issued, ...waiting },
        ...(isLabel(now) && { now }),
      });
      const early = isNew ? this.open.takeEarly(id) : undefined;
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

  /** Takes what came of a row, before or after its prediction. */
  truth({ series, truth }: TruthSeen): TruthAnswer {
    const id = idOf(series);
    if (id === undefined || !isLabel(truth)) {
      this.counts.unreadable++;
      return { counted: 'unreadable', changes: [] };
    }
    const prediction = this.open.settle(id, truth);
    if (prediction === 'early' || prediction === 'again') {
      this.counts.again += prediction === 'again' ? 1 : 0;
      return { counted: prediction, changes: [] };
    }
    this.hearTruth(prediction.key);
    const scores = scoreTruth(prediction, truth);
    if (scores === undefined) {
      this.counts.unreadable++;
      return { counted: 'unreadable', changes: [] };
    }
    const scored = this.scoredFor(prediction);
    if (scored === undefined) {
      this.counts.former++;
      return { counted: 'former', changes: [] };
    }
    this.counts.truths++;
    scored.add(prediction, truth, scores);
    this.remember(prediction, truth);
    return { counted: 'yes', changes: this.judge(prediction) };
  }

  /** Another model is in charge, or its card says something new. */
  modelChanged(model: WatchedModel): WatchChange[] {
    const before = this.current;
    this.current = model;
    if (model.id !== before.id || !sameColumns(model, before)) {
      this.drift = new Drift(model.drift ?? []);
      this.drifted = false;
    }
    if (model.id === before.id) {
      if (this.scored?.generation === this.generation) {
        this.scored.model = model;
      }
      return [];
    }
    this.former.set(this.generation, before);
    this.generation++;
    this.expected = new ExpectedLoss();
    const time = this.latest ?? this.now();
    const value = model.version ?? model.id;
    return [this.changes.tell({ what: 'model', model: model.name, since: time, value }, time)];
  }

  report(): WatchReport {
    const { scored, current, counts, open, changes, recent } = this;
    const all = scored?.all;
    const numbers = this.numbers(undefined);
    const calibration = scored?.measure === 'log_loss' ? all?.live.calibration() : undefined;
    const widen = all?.live.mean('widen');
    return {
      model: current.name,
      ...(current.version !== undefined && { version: current.version }),
      ...numbers,
      ...(widen !== undefined && { widen }),
      drift: this.drift.all,
      losses: all?.decay.means ?? [],
      recent: [...recent],
      changes: [...changes.newest],
      ...(this.settings.perKey && { keys: keysTold(scored) }),
      ...(calibration !== undefined && { calibration }),
      decayed: all?.decay.isDecayed === true && scored?.generation === this.generation,
      counts: { ...counts, open: open.size, early: open.waitingTruths, dropped: open.dropped },
    };
  }

  toJSON(): WatchState {
    const { current, generation, counts, open, expected, scored, alarms, silence, silent, changes } = this;
    const { drift, drifted } = this;
    return {
      v: 1,
      model: current,
      generation,
      former: [...this.former],
      ...(this.latest !== undefined && { latest: this.latest }),
      counts: { ...counts },
      open: open.toJSON(),
      expected: expected.toJSON(),
      ...(scored && { scored: scored.toJSON() }),
      alarms: alarms.toJSON(),
      silence: silence.toJSON(),
      silent,
      drift: drift.toJSON(),
      drifted,
      changes: changes.toJSON(),
      recent: [...this.recent],
    };
  }

  private leaving(issued: Issued, prediction: unknown, key: string | null, ahead: number | null): Leaving {
    if (issued.kind !== 'band') {
      return { leaves: prediction, waiting: {} };
    }
    const { scored, settings } = this;
    const scale = this.expected.scaleOf(issued.high - issued.low);
    if (!settings.honest || scale === 0) {
      return leaveAsIs(prediction, issued);
    }
    const isOwn = scored?.generation === this.generation;
    const { level } = issued;
    const move = isOwn ? scored.corrections.of({ key, ahead, level }) : { shift: 0, widen: 0 };
    return leaveMoved(prediction, issued, { shift: move.shift, widen: move.widen, scale });
  }

  private alarm(
    key: string | null,
    ahead: number | null,
    time: number,
    issued: Issued,
    left: OpenPrediction['left'],
  ): WatchChange[] {
    const turn = this.alarms.add(`${key ?? ''} ${ahead ?? ''}`, time, issued, left);
    return turn === undefined
      ? []
      : [this.changes.tell({ ...turn, model: this.current.name, ...ofKey(key) }, time)];
  }

  private missTruth(key: string | null, time: number, ahead: number | null): WatchChange[] {
    if (ahead === null || ahead <= 0) {
      return [];
    }
    const missed = this.silence.row(key ?? '', time, ahead);
    if (missed === undefined || this.silent || !this.changes.mayTell('no_truth', undefined, time)) {
      return [];
    }
    this.silent = true;
    const { since, waited: value } = missed;
    return [
      this.changes.tell({ what: 'no_truth', model: this.current.name, since, value, limit: 3 * ahead }, time),
    ];
  }

  /** Columns that drift are a reason beside a decay; only where no truth comes are they told by themselves. */
  private driftAlone(time: number): WatchChange[] {
    const drifted = this.silent && this.drift.isSure ? this.drift.beyond : [];
    if (drifted.length === 0) {
      return [];
    }
    if (this.drifted || !this.changes.mayTell('drift', undefined, time)) {
      return [];
    }
    this.drifted = true;
    const [{ psi, threshold }] = drifted as [ColumnDrift];
    const why = drifted.slice(0, MOST_REASONS);
    return [
      this.changes.tell(
        { what: 'drift', model: this.current.name, since: time, value: psi, limit: threshold, why },
        time,
      ),
    ];
  }

  private hearTruth(key: string | null): void {
    this.silence.truth(this.settings.perKey ? (key ?? '') : undefined);
    this.silent = false;
    this.drifted = false;
  }

  /** What a truth counts for: the newest model that has one. Undefined where that is a later one. */
  private scoredFor(prediction: OpenPrediction): ScoredModel | undefined {
    const { scored } = this;
    const { generation } = prediction;
    if (scored !== undefined && generation <= scored.generation) {
      return generation === scored.generation ? scored : undefined;
    }
    const model = generation === this.generation ? this.current : this.former.get(generation);
    if (model === undefined) {
      return undefined;
    }
    this.scored = new ScoredModel(this.settings, {
      generation,
      model,
      measure: measureOf(prediction),
      before: scored?.scatter ?? [],
    });
    return this.scored;
  }

  private remember({ time, ahead, issued, left }: OpenPrediction, truth: unknown): void {
    const settled: SettledPrediction = {
      time: time + (ahead ?? 0),
      truth: truth as SettledPrediction['truth'],
      prediction: 'label' in issued ? issued.label : (left?.middle ?? issued.middle),
      ...(left && { low: left.low, high: left.high }),
    };
    this.recent.push(settled);
    if (this.recent.length > MOST_RECENT) {
      this.recent.shift();
    }
  }

  private judge({ key, time }: OpenPrediction): WatchChange[] {
    const { scored, settings, changes } = this;
    const scope = scored?.scope(key);
    if (scored === undefined || scope === undefined || scored.generation !== this.generation) {
      return [];
    }
    const { isDecayed, since, newest, expected } = scope.decay;
    const own = settings.perKey ? ofKey(key) : {};
    const what = isDecayed ? 'decay' : 'recovered';
    if (isDecayed === scope.told || newest === undefined || !changes.mayTell(what, own.key, time)) {
      return [];
    }
    scope.told = isDecayed;
    const change: WatchChange = {
      ...{ what, model: this.current.name, ...own, since, value: newest },
      ...(expected !== undefined && { limit: expected }),
      measure: scored.measure,
    };
    const why = isDecayed ? this.drift.beyond.slice(0, MOST_REASONS) : [];
    return [changes.tell({ ...change, ...(why.length > 0 && { why }) }, time)];
  }

  private numbers(key: string | null | undefined): Pick<WatchNumbers, 'live' | 'coverage'> {
    const { current, scored, expected, silent } = this;
    return liveNumbers({ current, scored, expected, silent }, key);
  }
}

/** Rows are known by their id, else by key, time and ahead. */
function idOf({ id, key, time, ahead }: WatchedRow): string | undefined {
  return id ?? (time === undefined ? undefined : `${key ?? ''} ${time} ${ahead ?? ''}`);
}

function ofKey(key: string | null): { key?: string } {
  return key === null ? {} : { key };
}

function sameColumns({ drift: a = [] }: WatchedModel, { drift: b = [] }: WatchedModel): boolean {
  return (
    a === b ||
    (a.length === b.length &&
      a.every(({ column, threshold }, at) => b[at]!.column === column && b[at]!.threshold === threshold))
  );
}
