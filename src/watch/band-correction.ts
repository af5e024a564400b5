import { Ring } from './ring';

/** Truths that a correction looks back on, and the time, in truths, in which their weight falls to 1/e. */
const REACH = 600;
const FADES = 200;
/** Truths before the first correction, and between two. */
const FIRST = 20;
const EVERY = 10;
/** Step of the share of misses that is aimed at, per truth. */
const STEP = 0.01;

export interface BandCorrectionState {
  aim: number;
  shift: number;
  widen: number;
  truths: number;
  ring: string;
}

/** A truth by its band: distances in units of the band's scale. */
export interface BandMiss {
  /** Truth less middle. */
  error: number;
  /** Low end less truth, and truth less high end: positive where the truth is outside. */
  below: number;
  above: number;
  /** Whether the truth was outside the band that left. */
  missed: boolean;
}

/**
 * Keeps a band true by the truths that come later, in two stages: the middle is shifted by the weighted median error,
 * and the ends move by the weighted quantile of the conformal score (Romano, Patterson, Candès 2019) at a level that
 * follows the misses (Gibbs, Candès 2021). Weights fade with age, and a few truths move it only a little.
 */
export class BandCorrection {
  private readonly ring: Ring;
  private aim: number;
  private truths = 0;
  shift = 0;
  widen = 0;

  /** @param misses share of truths that should be outside: 0.2 for an 80 % band */
  constructor(
    private readonly misses: number,
    state?: BandCorrectionState,
  ) {
    this.aim = state?.aim ?? misses;
    this.shift = state?.shift ?? 0;
    this.widen = state?.widen ?? 0;
    this.truths = state?.truths ?? 0;
    this.ring = state === undefined ? new Ring(3, REACH) : Ring.fromText(3, REACH, state.ring);
  }

  /** Truths so far. */
  get count(): number {
    return this.truths;
  }

  add({ error, below, above, missed }: BandMiss): void {
    this.ring.push([error, below, above]);
    this.truths++;
    // What is aimed at is bounded: misses told late would otherwise drive it on and on.
    const aim = this.aim + STEP * (this.misses - (missed ? 1 : 0));
    this.aim = Math.min(3 * this.misses, Math.max(0, aim));
    if (this.truths >= FIRST && this.truths % EVERY === 0) {
      this.correct();
    }
  }

  toJSON(): BandCorrectionState {
    const { aim, shift, widen, truths, ring } = this;
    return { aim, shift, widen, truths, ring: ring.toText() };
  }

  private correct(): void {
    const { ring, misses } = this;
    const { size } = ring;
    let sum = 0;
    let squares = 0;
    const weights = new Float64Array(size);
    for (let i = 0; i < size; i++) {
      const weight = Math.exp((i - size + 1) / FADES);
      weights[i] = weight;
      sum += weight;
      squares += weight * weight;
    }
    const trusted = sum ** 2 / squares;
    const share = trusted / (trusted + FIRST);
    const shift = share * weightedQuantile(ring.field(0), weights, sum, 0.5);
    const scores = Float64Array.from({ length: size }, (_, i) =>
      Math.max(ring.at(i, 1) + shift, ring.at(i, 2) - shift),
    );
    const level = Math.min(1 - misses / 40, Math.max((1 - misses) / 2, 1 - this.aim));
    this.shift = shift;
    this.widen = share * weightedQuantile(scores, weights, sum, level);
  }
}

function weightedQuantile(values: Float64Array, weights: Float64Array, total: number, level: number): number {
  const order = Array.from(values.keys()).sort((a, b) => values[a]! - values[b]!);
  let sum = 0;
  for (const i of order) {
    sum += weights[i]!;
    if (sum >= level * total) {
      return values[i]!;
    }
  }
  return values[order.at(-1)!]!;
}
