import { BoundedMap } from '../../util/bounded-map';
import type { OpenPrediction } from '../predictions/open-predictions';
import type { LossMeasure, VersionScore, WatchedModel } from '../types';
import type { TruthScores } from './live-scores';
import { measureOf } from './truth-scores';

/** More than the versions of a model that are kept. */
const MOST_VERSIONS = 8;

interface Totals {
  /** Id of the model: a model that was deleted and fitted again counts its versions from 1 anew. */
  id: string;
  measure: LossMeasure;
  rows: number;
  loss: number;
  /** Of the truths whose row gives the current value. */
  nowRows: number;
  now: number;
  since: number;
  until: number;
}

export type VersionScoresState = [version: number, totals: Totals][];

/**
 * Live scores of every version over all its truths. Unlike `LiveScores` they do not start over with the next version, so
 * that versions can be compared by what they did when they were in charge.
 */
export class VersionScores {
  private readonly versions = new BoundedMap<number, Totals>(MOST_VERSIONS);

  constructor(state: VersionScoresState = []) {
    for (const [version, totals] of state) {
      this.versions.set(version, { ...totals });
    }
  }

  /** Counts a truth for the version that predicted its row. A model without versions has none to compare. */
  add(
    { id, version }: Pick<WatchedModel, 'id' | 'version'>,
    prediction: OpenPrediction,
    { loss, now }: TruthScores,
  ): void {
    const measure = measureOf(prediction);
    const { time } = prediction;
    if (version === undefined || Number.isNaN(loss)) {
      return;
    }
    const before = this.versions.get(version);
    // With another output, probabilities in place of labels, the losses are of another kind.
    const totals =
      before?.measure === measure && before.id === id
        ? before
        : { id, measure, rows: 0, loss: 0, nowRows: 0, now: 0, since: time, until: time };
    totals.rows++;
    totals.loss += loss;
    if (!Number.isNaN(now)) {
      totals.nowRows++;
      totals.now += now;
    }
    totals.since = Math.min(totals.since, time);
    totals.until = Math.max(totals.until, time);
    this.versions.set(version, totals);
  }

  /** Another model is in charge: what is known under its version but of another model no longer applies. */
  modelChanged({ id, version }: Pick<WatchedModel, 'id' | 'version'>): void {
    if (version !== undefined && this.versions.get(version)?.id !== id) {
      this.versions.delete(version);
    }
  }

  /** Newest version first. */
  scores(): VersionScore[] {
    return Array.from(this.versions, ([version, { measure, rows, loss, nowRows, now, since, until }]) => ({
      ...{ version, measure, rows, loss: loss / rows },
      // Of fewer rows it would not compare.
      ...(nowRows === rows && { now: now / rows }),
      ...{ since, until },
    })).sort((a, b) => b.version - a.version);
  }

  toJSON(): VersionScoresState {
    return Array.from(this.versions, ([version, totals]) => [version, { ...totals }]);
  }
}
