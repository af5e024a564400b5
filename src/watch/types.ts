import type { DriftReference, ModelThreshold, ReferenceLosses } from '../models/cards';
import { knownZone, localZone } from '../table/cells/parse-date';
import { ANY_TEXT, anyAmong, checkGiven, FLAG, type Form, numberFrom, OBJECT, optional } from '../wire/given';
import { ServiceError } from '../wire/service-error';
import { type Task, TASKS } from '../wire/vocabulary';

/** What to watch for. Defaults are those of the dialog. */
export interface WatchOptions {
  /** Correct bands by the truths so far. Default true. */
  honest?: boolean;
  /** `decay`: share by which the loss must exceed the promised one. Default 0.15. */
  worse?: number;
  /** `recovered`: share above the promised loss that is good enough again. Default 0.05. */
  recovered?: number;
  alarm?: AlarmOptions;
  /** How many newest truths the live numbers cover. Default 2000. */
  keep?: number;
  /** Live numbers and decay per key. Default false: all keys together. */
  perKey?: boolean;
  /** IANA zone for times of the week. Default: the zone of this computer. */
  timezone?: string | undefined;
}

export interface AlarmOptions {
  /**
   * What is compared: the probability of `label`, the value (the middle of a band), or an end of the band.
   * Default `off`.
   */
  on?: 'off' | 'probability' | 'value' | 'upper' | 'lower';
  label?: string | number | boolean;
  /**
   * The alarm is raised at this value or beyond. Left out with `probability`: where the model answers `label`, by its
   * threshold or else as the more probable of two classes.
   */
  raise?: number;
  /**
   * And cleared at this value (hysteresis). Default: 10 % below `raise`; for a probability half the odds, if that is lower.
   * Above `raise` it inverts the alarm: raised by values at or below `raise`, cleared by values at or above this.
   */
  clear?: number;
  /** Consecutive readings that it takes to raise, and to clear. Default 3. */
  for?: number;
}

/** Which row is predicted: `msg.series`. Without `id` it is identified by key, time and ahead. */
export interface WatchedRow {
  id?: string;
  key?: string | null;
  /** Milliseconds since 1970. Left out: now. */
  time?: number;
  /** Milliseconds from the row to what is predicted. */
  ahead?: number | null;
}

/** What is known of a model: see `watchedModel`. */
export interface WatchedModel {
  name: string;
  /** `fitted_train_set_id`: another one is another model. */
  id: string;
  version?: number;
  task: Task;
  /** Its scores at the fit, on rows it had not seen, and those of the current value as the prediction, on the same rows. */
  promised?: PromisedScores;
  now?: PromisedScores;
  /** Losses of the scored rows, in order of time. */
  losses?: LossesInTime;
  /** How the losses of each key compare with the promised one; 200 keys at most. */
  keys?: KeyRatio[];
  /** The class that is answered from some probability on. */
  threshold?: Pick<ModelThreshold, 'label' | 'at'>;
  /** The column with the current value of the target. */
  relativeTo?: string;
  /** Columns of the rows, as they were in the train set; 200 at most. */
  drift?: WatchedColumn[];
}

/** Losses on the train set in order of time, of rows that the model had not seen: means over `step` rows each. */
export type LossesInTime = Pick<ReferenceLosses, 'step' | 'means'>;

/** The losses of one key, relative to the mean of all. */
export interface KeyRatio {
  key: string;
  rows: number;
  ratio: number;
}

/** A column watched for drift, and the stability index above which it differs more than the train set from itself. */
export interface WatchedColumn {
  column: string;
  reference: DriftReference;
  threshold: number;
}

export interface PromisedScores {
  rows: number;
  mae?: number;
  pinball?: number;
  coverage_80?: number;
  log_loss?: number;
  accuracy?: number | undefined;
}

/** A prediction as predict attached it to its row. */
export interface PredictionSeen {
  series: WatchedRow;
  /** The row's value under `property`: a number, a label, quantiles, or {mean, median, mode, quantiles}. */
  prediction: unknown;
  /** The row's `<property>_probabilities`. */
  probabilities?: unknown;
  /** The row itself, for "as it is now" and for drift. */
  row?: Readonly<Record<string, unknown>>;
  /** The id of the model that made it, where that may be one that is no longer in charge. */
  model?: string;
  /** It came in one message with the prediction before: truths cannot have come in between. Default false. */
  continues?: boolean;
}

export interface TruthSeen {
  series: WatchedRow;
  truth: unknown;
}

/** What the loss is: mean absolute error, −ln p(truth), or the share of wrong labels. */
export type LossMeasure = 'mae' | 'log_loss' | 'error';

export interface LiveLoss {
  measure: LossMeasure;
  /** Truths that were counted, `keep` at most. */
  rows: number;
  /** Mean loss of the model's own predictions. */
  loss?: number;
  /** The same of the predictions that left, where bands are corrected. */
  corrected?: number;
  /** What was told when the model was fitted. */
  promised?: number;
  /** Loss of "it stays as it is now" over the same rows. */
  now?: number;
  /** Mean pinball loss over the quantiles 0.1 … 0.9 as they left, where all nine are predicted, and as it was told. */
  pinball?: number;
  pinball_promised?: number;
  /** Without truth: the loss to expect, by the bands or probabilities of the newest predictions. */
  estimated?: number;
}

/** Of bands: the share of truths inside. Of probabilities: mean p of the predicted label, and the share that was right. */
export interface Coverage {
  told: number;
  held: number;
  rows: number;
}

/** `msg.watch` */
export interface WatchNumbers {
  live: LiveLoss;
  coverage?: Coverage;
  /** What was added to the middle of this band, in units of the target. */
  shift?: number;
  /** Width of this band by that of the model. */
  widen?: number;
}

export interface WatchAnswer {
  /** The prediction, with its band corrected; in the form in which it came. */
  prediction: unknown;
  numbers: WatchNumbers;
  changes: WatchChange[];
}

export interface TruthAnswer {
  /**
   * `yes`: it is in the live numbers. `early`: its prediction has not come yet, and it waits for it. `again`: it came
   * before. `former`: it is of a model that is no longer in charge. `unreadable`: it is not of the prediction's kind.
   */
  counted: 'yes' | 'early' | 'again' | 'former' | 'unreadable';
  changes: WatchChange[];
}

export type ChangeKind = 'alarm' | 'cleared' | 'decay' | 'recovered' | 'drift' | 'no_truth' | 'model';

/** `msg.change` */
export interface WatchChange {
  what: ChangeKind;
  model: string;
  /** Where it is of one key alone. */
  key?: string;
  /** Of alarms, where rows look several steps ahead: how far, milliseconds. */
  ahead?: number;
  /** Since when, milliseconds since 1970, by the time of the rows. */
  since: number;
  /**
   * Alarms: the value that is compared. Decay and recovered: the loss of the newest truths. Drift: the index of the first
   * column. No truth: how long, in milliseconds. Model: its version, else its id.
   */
  value: number | string;
  /** What the value is compared with: `raise` or `clear`, the loss promised at that time of the week, the column's own threshold. */
  limit?: number;
  measure?: LossMeasure;
  /** What may be the reason: columns that are no longer as in the train set, the most changed first; five at most. */
  why?: ColumnDrift[];
  /** Of an alarm: the main causes of the prediction that raised it, as predict told them. */
  causes?: AlarmCause[];
}

/** One of the main causes of a prediction: a column, what it moved it by, and both in a sentence. */
export interface AlarmCause {
  column: string;
  effect: number;
  text: string;
}

export interface ColumnDrift {
  column: string;
  /** Population stability index of the newest rows. */
  psi: number;
  /** What the train set's own windows reach, and half as much again. */
  threshold: number;
  /** Of a column above its threshold: what there is more of than in the train set. */
  moved?: ColumnMove;
}

/** Values that have become more frequent, the ones by most, and the part of the rows that have them. */
export interface ColumnMove {
  /** Numbers from or below `value`, one `value`, none of the usual values, or no value. */
  to: 'from' | 'below' | 'value' | 'other' | 'missing';
  value?: number | string | boolean;
  /** Part of the newest rows, 0 to 1. */
  now: number;
  /** Part of the train set, 0 to 1. */
  usual: number;
}

/** A truth with its prediction as it left: for pictures. */
export interface SettledPrediction {
  /** Of which machine, where there are several. */
  key?: string;
  /** How far it looked ahead, milliseconds. */
  ahead?: number;
  /** Time of what was predicted, milliseconds since 1970. */
  time: number;
  truth: number | string | boolean;
  prediction: number | string | boolean | null;
  low?: number;
  high?: number;
}

/** How a version did on the truths of its own predictions, from the first to the last. */
export interface VersionScore {
  version: number;
  measure: LossMeasure;
  /** Truths that were counted; with `now`, those whose row gives the current value. */
  rows: number;
  /** Mean loss of the model's own predictions over these rows. */
  loss: number;
  /** Loss of "no change" over the same rows, if at least half of all give the current value. */
  now?: number;
  /** Times of the first and the last row, milliseconds since 1970. */
  since: number;
  until: number;
}

export interface WatchReport {
  model: string;
  version?: number;
  live: LiveLoss;
  coverage?: Coverage;
  /** Mean of the newest truths' bands: their width by that of the model. */
  widen?: number;
  /** Every column with a threshold, the most changed first. */
  drift: ColumnDrift[];
  /** Mean losses of 100 truths each, moved by 50; 200 at most, oldest first. */
  losses: number[];
  /** The newest truths of each key and step ahead, 600 at most: by their time, oldest first. */
  recent: SettledPrediction[];
  /** The newest 20 changes, oldest first. */
  changes: WatchChange[];
  /** Where each key has its own: those with decay first, then by loss; 100 at most. */
  keys?: { key: string; live: LiveLoss; coverage?: Coverage; decayed: boolean }[];
  /** Classification: of predictions with a probability between two tenths, how many, the mean and the share right. */
  calibration?: { rows: number; told: number; held: number }[];
  /** Every version with truths of its own, the newest first; 8 at most. */
  versions: VersionScore[];
  decayed: boolean;
  /** Another model has taken over and no outcome of its own has come yet: the numbers are those of the one before. */
  isNew?: true;
  counts: WatchCounts;
}

export interface WatchCounts {
  predictions: number;
  truths: number;
  /** Predictions that wait for their truth, and truths that wait for their prediction. */
  open: number;
  early: number;
  /** Of those truths how many have waited in vain: rows as new as theirs were predicted, under other names. */
  unmet: number;
  /** Predictions given up: there was no room to wait any longer. */
  dropped: number;
  again: number;
  former: number;
  unreadable: number;
}

/** Options with defaults filled in. */
export interface WatchSettings {
  honest: boolean;
  worse: number;
  recovered: number;
  alarm: AlarmOptions;
  keep: number;
  perKey: boolean;
  /** IANA name. */
  timezone: string;
}

const NUMBER = optional(numberFrom(0, { integer: false }));

const OPTIONS = {
  honest: optional(FLAG),
  worse: NUMBER,
  recovered: NUMBER,
  keep: NUMBER,
  perKey: optional(FLAG),
  alarm: optional(OBJECT),
  timezone: optional(ANY_TEXT),
};

/** What a watch cannot do without. */
export const WATCHED_MODEL: Form = {
  must: 'what watchedModel answers for a model card',
  fits: (value) => {
    const { id, task } = Object(value) as Partial<WatchedModel>;
    return typeof id === 'string' && anyAmong(TASKS).fits(task);
  },
};

/** @throws ServiceError `config.invalid` that names the option */
export function watchSettings(options: WatchOptions): WatchSettings {
  checkGiven('Watch', options, OPTIONS, 'config.invalid');
  const { honest = true, worse = 0.15, recovered = 0.05, alarm = {}, keep = 2000, perKey = false } = options;
  return {
    honest,
    worse,
    recovered: Math.min(recovered, worse),
    alarm,
    keep: Math.max(1, keep),
    perKey,
    timezone: checkZone(options.timezone),
  };
}

function checkZone(name: string | undefined): string {
  const zone = name === undefined ? localZone() : knownZone(name);
  if (zone === undefined) {
    throw new ServiceError(
      'config.invalid',
      `The time zone "${name}" is not known. Give an IANA name such as Europe/Berlin.`,
    );
  }
  return zone;
}
