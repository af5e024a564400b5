import { BoundedMap } from '../../util/collections';
import type { OpenPrediction } from '../predictions/open-predictions';
import type { LossMeasure, VersionScore, WatchedModel } from '../types';
import type { TruthScores } from './live-scores';
import { measureOf } from './truth-scores';

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
    const measure = measureOf(prediction);
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
    return Array.from(this.versions, ([version, { totals }]) => totals && { version, ...meansOf(totals) })
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

function meansOf({
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
    ...{ since, until },
  };
}
