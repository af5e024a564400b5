import { LEVELS } from '../metrics/regression';
import { BoundedMap } from '../util/collections';
import { isLabel, isNumber, type OpenPrediction } from './predictions';
import { Ring } from './statistics';
import type { LossMeasure, VersionScore, WatchedModel } from './types';

/** The scores of one truth; NaN where they do not apply. Held as 32-bit floats. */
export interface TruthScores {
  loss: number;
  /** Loss of the prediction as it left. */
  corrected: number;
  /** Loss of the current value as the prediction. */
  now: number;
  /** Pinball loss over the quantiles 0.1 … 0.9. */
  pinball: number;
  /** Nominal probability of holding the truth, and whether it was held: 1 or 0. */
  told: number;
  held: number;
  /** Width of the band as it left, relative to the model's. */
  widen: number;
}

const FIELDS = ['loss', 'corrected', 'now', 'pinball', 'told', 'held', 'widen'] as const;

export interface LiveScoresState {
  ring: string;
  sums: number[];
  counts: number[];
}

/** Mean scores of the newest truths. */
export class LiveScores {
  private readonly ring: Ring;
  private readonly sums: number[];
  private readonly counts: number[];

  constructor(keep: number, state?: LiveScoresState) {
    this.ring =
      state === undefined ? new Ring(FIELDS.length, keep) : Ring.fromText(FIELDS.length, keep, state.ring);
    this.sums = state?.sums.slice() ?? FIELDS.map(() => 0);
    this.counts = state?.counts.slice() ?? FIELDS.map(() => 0);
    if (state !== undefined && this.counts[0]! > this.ring.size) {
      // `keep` has been lowered.
      this.sum();
    }
  }

  get rows(): number {
    return this.ring.size;
  }

  add(scores: TruthScores): void {
    const { ring } = this;
    if (ring.size === ring.capacity) {
      FIELDS.forEach((_, field) => this.count(field, ring.at(0, field), -1));
    }
    ring.push(FIELDS.map((name) => scores[name]));
    FIELDS.forEach((_, field) => this.count(field, ring.at(ring.size - 1, field), 1));
  }

  /** Undefined where no truth has this score. */
  mean(name: keyof TruthScores): number | undefined {
    const field = FIELDS.indexOf(name);
    const rows = this.counts[field]!;
    // Running sums may end up slightly below 0.
    return rows === 0 ? undefined : Math.max(0, this.sums[field]! / rows);
  }

  rowsWith(name: keyof TruthScores): number {
    return this.counts[FIELDS.indexOf(name)]!;
  }

  /** Reliability by tenths of the nominal probability: rows, mean probability, share held. */
  calibration(): { rows: number; told: number; held: number }[] {
    const bins = Array.from({ length: 10 }, () => ({ rows: 0, told: 0, held: 0 }));
    for (let index = 0; index < this.ring.size; index++) {
      const told = this.ring.at(index, FIELDS.indexOf('told'));
      const held = this.ring.at(index, FIELDS.indexOf('held'));
      if (!Number.isNaN(told)) {
        const bin = bins[Math.min(9, Math.max(0, Math.floor(told * 10)))]!;
        bin.rows++;
        bin.told += told;
        bin.held += held;
      }
    }
    return bins
      .filter(({ rows }) => rows > 0)
      .map(({ rows, told, held }) => ({ rows, told: told / rows, held: held / rows }));
  }

  toJSON(): LiveScoresState {
    return { ring: this.ring.toText(), sums: [...this.sums], counts: [...this.counts] };
  }

  private count(field: number, value: number, sign: 1 | -1): void {
    if (!Number.isNaN(value)) {
      this.sums[field]! += sign * value;
      this.counts[field]! += sign;
    }
  }

  private sum(): void {
    FIELDS.forEach((_, field) => {
      this.sums[field] = 0;
      this.counts[field] = 0;
      for (let index = 0; index < this.ring.size; index++) {
        this.count(field, this.ring.at(index, field), 1);
      }
    });
  }
}

const LEAST_PROBABILITY = 1e-15;

/** The loss by which such a prediction is judged. */
export function chooseMeasure({ issued }: OpenPrediction): LossMeasure {
  switch (issued.kind) {
    case 'band':
    case 'number':
      return 'mae';
    case 'classes':
      return 'log_loss';
    case 'label':
      return 'error';
  }
}

/** Scores a prediction; undefined where the truth is of another kind. */
export function scoreTruth(prediction: OpenPrediction, truth: unknown): TruthScores | undefined {
  const { issued, left, now } = prediction;
  if (issued.kind === 'band' || issued.kind === 'number') {
    if (!isNumber(truth)) {
      return undefined;
    }
    const isBand = issued.kind === 'band' && left !== undefined;
    const width = isBand ? issued.high - issued.low : 0;
    return {
      loss: Math.abs(truth - issued.middle),
      corrected: isBand ? Math.abs(truth - left.middle) : NaN,
      now: isNumber(now) ? Math.abs(truth - now) : NaN,
      pinball: prediction.nine === undefined ? NaN : computePinball(prediction.nine, truth),
      told: isBand ? 1 - 2 * issued.level : NaN,
      held: isBand ? Number(left.low <= truth && truth <= left.high) : NaN,
      widen: width > 0 && isBand ? (left.high - left.low) / width : NaN,
    };
  }
  if (!isLabel(truth)) {
    return undefined;
  }
  const label = String(truth);
  const isRight = String(issued.label) === label;
  const scores = { corrected: NaN, now: NaN, pinball: NaN, told: NaN, held: NaN, widen: NaN };
  if (issued.kind === 'label') {
    return { ...scores, loss: isRight ? 0 : 1, now: isLabel(now) ? Number(String(now) !== label) : NaN };
  }
  const { probabilities, rest } = issued;
  const probability = (of: string): number => probabilities.find(([name]) => name === of)?.[1] ?? rest;
  return {
    ...scores,
    loss: -Math.log(Math.max(LEAST_PROBABILITY, probability(label))),
    told: probability(String(issued.label)),
    held: Number(isRight),
  };
}

/** Mean over the nine levels. */
function computePinball(quantiles: readonly number[], truth: number): number {
  const sum = LEVELS.reduce((total, level, k) => {
    const above = truth - quantiles[k]!;
    return total + (above >= 0 ? level * above : (level - 1) * above);
  }, 0);
  return sum / LEVELS.length;
}

/** More than the versions of a model that are kept. */
const MOST_VERSIONS = 8;
/** "No change" is given if at least this fraction of the rows has the current value. */
const LEAST_NOW = 0.5;

interface Totals {
  measure: LossMeasure;
  rows: number;
  loss: number;
  /** Of the truths whose row gives the current value: their number, the model's own loss and that of no change. */
  nowRows: number;
  ownLoss: number;
  now: number;
  since: number;
  until: number;
}

interface KnownVersion {
  /** Of the model that has this version: after a model was deleted, another one may have the same number. */
  id: string;
  /** Missing until its first truth. */
  totals?: Totals;
}

export type VersionScoresState = [version: number, known: KnownVersion][];

/**
 * Live scores of every version over all its truths. Unlike `LiveScores` they do not start over with the next version, so
 * that versions can be compared by what they did when they were in charge.
 */
export class VersionScores {
  private readonly versions = new BoundedMap<number, KnownVersion>(MOST_VERSIONS);

  constructor(state: VersionScoresState = []) {
    for (const [version, { id, totals }] of state) {
      this.versions.set(version, { id, ...(totals && { totals: { ...totals } }) });
    }
  }

  /** This model is in charge: its version stands for it, and for no deleted model any more. */
  modelChanged({ id, version }: Pick<WatchedModel, 'id' | 'version'>): void {
    if (version !== undefined && this.versions.get(version)?.id !== id) {
      this.versions.set(version, { id });
    }
  }

  /** Counts a truth for the version that predicted its row. A model without versions has none to compare. */
  add(
    { id, version }: Pick<WatchedModel, 'id' | 'version'>,
    prediction: OpenPrediction,
    { loss, now }: TruthScores,
  ): void {
    const known = version === undefined ? undefined : (this.versions.get(version) ?? { id });
    // A late truth of a deleted model says nothing of the one that has its number now.
    if (version === undefined || known?.id !== id || Number.isNaN(loss)) {
      return;
    }
    const measure = chooseMeasure(prediction);
    // With another output, such as probabilities in place of labels, losses are of another kind.
    const before = known.totals?.measure === measure ? known.totals : none(measure, prediction.time);
    const hasNow = !Number.isNaN(now);
    const totals = {
      measure,
      rows: before.rows + 1,
      loss: before.loss + loss,
      nowRows: before.nowRows + (hasNow ? 1 : 0),
      ownLoss: before.ownLoss + (hasNow ? loss : 0),
      now: before.now + (hasNow ? now : 0),
      since: Math.min(before.since, prediction.time),
      until: Math.max(before.until, prediction.time),
    };
    this.versions.set(version, { id, totals });
  }

  /** Newest version first. */
  scores(): VersionScore[] {
    return Array.from(
      this.versions,
      ([version, { totals }]) => totals && { version, ...computeMeans(totals) },
    )
      .filter((one) => one !== undefined)
      .sort((a, b) => b.version - a.version);
  }

  toJSON(): VersionScoresState {
    return [...this.versions];
  }
}

function none(measure: LossMeasure, time: number): Totals {
  return { measure, rows: 0, loss: 0, nowRows: 0, ownLoss: 0, now: 0, since: time, until: time };
}

function computeMeans({
  measure,
  rows,
  loss,
  nowRows,
  ownLoss,
  now,
  since,
  until,
}: Totals): Omit<VersionScore, 'version'> {
  // Both over the same rows: a gap of a sensor leaves some out.
  const compares = nowRows >= LEAST_NOW * rows;
  return {
    measure,
    ...(compares
      ? { rows: nowRows, loss: ownLoss / nowRows, now: now / nowRows }
      : { rows, loss: loss / rows }),
    since,
    until,
  };
}
