import { BoundedMap } from '../util/bounded-map';
import type { Issued } from './issued';
import type { MovedBand } from './moved-band';

/** Predictions that may wait for their truth, and the numbers that they may hold together. */
const MOST_OPEN = 100_000;
const MOST_NUMBERS = 2_000_000;
/** Truths that may wait for their prediction; and the newest predictions known to have had their truth. */
const MOST_EARLY = 10_000;
const MOST_SETTLED = 10_000;

/** A prediction that waits for its truth. It is never changed. */
export interface OpenPrediction {
  id: string;
  key: string | null;
  /** Milliseconds since 1970. */
  time: number;
  ahead: number | null;
  /** Which of the models that were in charge made it. */
  generation: number;
  issued: Issued;
  /** Bands: as it left, its scale, and nine quantiles 0.1 … 0.9 as they left, where all are there. */
  left?: MovedBand;
  scale?: number;
  nine?: number[];
  /** The target as it is now. */
  now?: number | string | boolean;
}

export interface OpenState {
  open: OpenPrediction[];
  early: [id: string, truth: unknown][];
  settled: string[];
  dropped: number;
}

/** Predictions and truths that wait for each other, in bounded numbers: the oldest are given up. */
export class OpenPredictions {
  private readonly open = new Map<string, OpenPrediction>();
  private readonly early: BoundedMap<string, unknown>;
  private readonly settled = new BoundedMap<string, true>(MOST_SETTLED);
  private numbers = 0;
  dropped: number;

  constructor(state?: OpenState) {
    this.dropped = state?.dropped ?? 0;
    this.early = new BoundedMap(MOST_EARLY);
    for (const one of state?.open ?? []) {
      this.open.set(one.id, one);
      this.numbers += numbersOf(one);
    }
    for (const [id, truth] of state?.early ?? []) {
      this.early.set(id, truth);
    }
    for (const id of state?.settled ?? []) {
      this.settled.set(id, true);
    }
  }

  get size(): number {
    return this.open.size;
  }

  get waitingTruths(): number {
    return this.early.size;
  }

  /** Adds a prediction; one with its id that waits already is replaced. False where its truth came and was counted. */
  add(prediction: OpenPrediction): boolean {
    const { id } = prediction;
    if (this.settled.has(id)) {
      return false;
    }
    this.remove(id);
    this.open.set(id, prediction);
    this.numbers += numbersOf(prediction);
    while (this.open.size > MOST_OPEN || this.numbers > MOST_NUMBERS) {
      this.remove(this.open.keys().next().value!);
      this.dropped++;
    }
    return true;
  }

  /** Takes out the prediction that a truth is of; `early` holds the truth until it comes. */
  settle(id: string, truth: unknown): OpenPrediction | 'early' | 'again' {
    const prediction = this.open.get(id);
    if (prediction === undefined) {
      if (this.settled.has(id) || this.early.has(id)) {
        return 'again';
      }
      this.early.set(id, truth);
      return 'early';
    }
    this.remove(id);
    this.settled.set(id, true);
    return prediction;
  }

  /** Takes out the truth that came before the prediction with this id. */
  takeEarly(id: string): { truth: unknown } | undefined {
    if (!this.early.has(id)) {
      return undefined;
    }
    const truth = this.early.get(id);
    this.early.delete(id);
    return { truth };
  }

  toJSON(): OpenState {
    return {
      open: [...this.open.values()],
      early: [...this.early],
      settled: [...this.settled.keys()],
      dropped: this.dropped,
    };
  }

  private remove(id: string): void {
    const known = this.open.get(id);
    if (known !== undefined) {
      this.open.delete(id);
      this.numbers -= numbersOf(known);
    }
  }
}

/** A measure of what a prediction takes in memory. */
function numbersOf({ issued, nine }: OpenPrediction): number {
  return 10 + (nine?.length ?? 0) + (issued.kind === 'classes' ? 2 * issued.probabilities.length : 0);
}
