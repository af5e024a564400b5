import { BoundedMap } from '../../util/collections';
import type { WatchCounts, WatchedRow } from '../types';
import type { Issued, MovedBand } from './issued';

/** Bounds on predictions that wait for their truth, and on the numbers that they hold together. */
const MOST_OPEN = 100_000;
const MOST_NUMBERS = 2_000_000;
/** Bounds on truths that wait for their prediction, and on settled ids that are remembered. */
const MOST_EARLY = 10_000;
const MOST_SETTLED = 10_000;

/** A prediction that waits for its truth. Immutable. */
export interface OpenPrediction {
  id: string;
  key: string | null;
  /** Milliseconds since 1970. */
  time: number;
  ahead: number | null;
  /** Which of the successive models made it. */
  generation: number;
  issued: Issued;
  /** For bands: as it left, its scale, and the nine quantiles 0.1 … 0.9 as they left, if all nine are predicted. */
  left?: MovedBand;
  scale?: number;
  nine?: number[];
  /** The current value of the target. */
  now?: number | string | boolean;
}

export interface OpenState {
  open: OpenPrediction[];
  early: [id: string, truth: unknown][];
  settled: string[];
  dropped: number;
  /** Missing in states of earlier versions. */
  unmet?: number;
  since?: number;
}

/** The names of a row: its id, then its place (key, time and ahead), as far as it has them. */
export function namesOf({ id, key, time, ahead }: WatchedRow): string[] {
  const place = time === undefined ? [] : [`${key ?? ''} ${time} ${ahead ?? ''}`];
  return id === undefined ? place : [id, ...place];
}

/** Joins predictions and truths that arrive in either order. Both are bounded: the oldest are given up. */
export class OpenPredictions {
  private readonly open = new Map<string, OpenPrediction>();
  private readonly early: BoundedMap<string, unknown>;
  private readonly settled = new BoundedMap<string, true>(MOST_SETTLED);
  /** Ids by the place of their rows: a truth may carry only key and time. */
  private readonly idAt = new Map<string, string>();
  private numbers = 0;
  dropped: number;
  /** Early truths whose rows are as new as the predictions: their predictions should have been here. */
  unmet: number;
  /** Time of the oldest predicted row. */
  private since: number | undefined;

  constructor(state?: OpenState) {
    this.dropped = state?.dropped ?? 0;
    this.unmet = state?.unmet ?? 0;
    this.since = state?.since;
    this.early = new BoundedMap(MOST_EARLY);
    for (const one of state?.open ?? []) {
      this.keep(one);
    }
    for (const [id, truth] of state?.early ?? []) {
      this.early.set(id, truth);
    }
    for (const id of state?.settled ?? []) {
      this.settled.set(id, true);
    }
  }

  get counts(): Pick<WatchCounts, 'open' | 'early' | 'dropped' | 'unmet'> {
    const { open, early, dropped, unmet } = this;
    return { open: open.size, early: early.size, dropped, unmet };
  }

  /** Adds a prediction, or replaces the one with its id. False where its truth has been counted already. */
  add(prediction: OpenPrediction): boolean {
    const { id, time } = prediction;
    this.since = Math.min(this.since ?? time, time);
    if (this.settled.has(id)) {
      return false;
    }
    this.remove(id);
    this.keep(prediction);
    while (this.open.size > MOST_OPEN || this.numbers > MOST_NUMBERS) {
      this.remove(this.open.keys().next().value!);
      this.dropped++;
    }
    return true;
  }

  /**
   * Removes and returns the prediction of a truth. `early`: the truth waits until its prediction comes.
   *
   * @param names of the row, at least one
   * @param time of the row, where it is known
   */
  settle(names: readonly string[], truth: unknown, time?: number): OpenPrediction | 'early' | 'again' {
    const prediction = this.find(names);
    if (prediction === undefined) {
      if (names.some((name) => this.settled.has(name) || this.early.has(name))) {
        return 'again';
      }
      this.early.set(names[0]!, truth);
      this.unmet += this.isDue(time) ? 1 : 0;
      return 'early';
    }
    this.remove(prediction.id);
    this.settled.set(prediction.id, true);
    if (!names.includes(prediction.id)) {
      this.settled.set(names[0]!, true);
    }
    return prediction;
  }

  /** Removes and returns a truth that arrived before the prediction of its row. */
  takeEarly(names: readonly string[], time?: number): { truth: unknown } | undefined {
    const name = names.find((one) => this.early.has(one));
    if (name === undefined) {
      return undefined;
    }
    const truth = this.early.get(name);
    this.early.delete(name);
    this.unmet = Math.max(0, this.unmet - (this.isDue(time) ? 1 : 0));
    return { truth };
  }

  toJSON(): OpenState {
    return {
      open: [...this.open.values()],
      early: [...this.early],
      settled: [...this.settled.keys()],
      dropped: this.dropped,
      unmet: this.unmet,
      ...(this.since !== undefined && { since: this.since }),
    };
  }

  private find(names: readonly string[]): OpenPrediction | undefined {
    for (const name of names) {
      const found = this.open.get(name) ?? this.open.get(this.idAt.get(name) ?? name);
      if (found !== undefined) {
        return found;
      }
    }
    return undefined;
  }

  /** Whether a truth should have met a prediction: rows from before the first one, as in a table of the past, have none. */
  private isDue(time: number | undefined): boolean {
    return this.since !== undefined && (time === undefined || time >= this.since);
  }

  private keep(prediction: OpenPrediction): void {
    const { id } = prediction;
    this.open.set(id, prediction);
    this.numbers += numbersOf(prediction);
    const place = placeOf(prediction);
    if (place !== id) {
      this.idAt.set(place, id);
    }
  }

  private remove(id: string): void {
    const known = this.open.get(id);
    if (known !== undefined) {
      this.open.delete(id);
      const place = placeOf(known);
      if (this.idAt.get(place) === id) {
        this.idAt.delete(place);
      }
      this.numbers -= numbersOf(known);
    }
  }
}

function placeOf({ key, time, ahead }: OpenPrediction): string {
  return namesOf({ key, time, ahead })[0]!;
}

/** A measure of the memory that a prediction takes. */
function numbersOf({ issued, nine }: OpenPrediction): number {
  return 10 + (nine?.length ?? 0) + (issued.kind === 'classes' ? 2 * issued.probabilities.length : 0);
}
