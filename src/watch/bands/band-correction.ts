import { alikeInBlocks } from '../statistics/alike';
import { Ring } from '../statistics/ring';

/** Truths that a correction looks back on, and the time, in truths, in which their weight falls to 1/e. */
const REACH = 600;
const FADES = 200;
/** Truths before the first correction, and between two. */
const FIRST = 20;
const EVERY = 10;
/** Truths in a block by which it is told how alike neighbouring errors are. */
const ALIKE_BLOCK = 100;
/** Of the model before: truths that the next one begins with, and the largest distance that one of them may have. */
const CARRIED = 100;
const MOST_CARRIED = 0.5;
/** Step of the share of misses that is aimed at, per truth. */
const STEP = 0.01;

export interface BandCorrectionState {
  aim: number;
  shift: number;
  widen: number;
  truths: number;
  /** Truths of the models before; left out in states of earlier versions. */
  earlier?: number;
  ring: string;
  /** The shift of each of the newest truths; left out in states of earlier versions. */
  shifts?: string;
}

/** A truth by its band: distances in units of the band's scale. */
export interface BandMiss {
  /** Truth less middle. */
  error: number;
  /** Low end less truth, and truth less high end: positive where the truth is outside. */
  below: number;
  above: number;
  /** Whether the truth was outside the band that left, and by how much its middle had been shifted. */
  missed: boolean;
  shift: number;
}

/**
 * Keeps a band true by the truths that come later, in two stages: the middle is shifted by the weighted median error,
 * and the ends move by the weighted quantile of the conformal score (Romano, Patterson, Candès 2019) at a level that
 * follows the misses (Gibbs, Candès 2021). Weights fade with age, and a few truths move it only a little; the middle the
 * less, the more alike neighbouring errors are.
 */
export class BandCorrection {
  private readonly ring: Ring;
  private readonly shifts: Ring;
  private aim: number;
  private truths = 0;
  private earlier = 0;
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
    this.earlier = state?.earlier ?? 0;
    this.ring = state === undefined ? new Ring(3, REACH) : Ring.fromText(3, REACH, state.ring);
    this.shifts =
      state?.shifts === undefined ? new Ring(1, CARRIED) : Ring.fromText(1, CARRIED, state.shifts);
  }

  /**
   * What a correction begins with when another model takes over: how far the newest truths were from the bands of the
   * model before, once shifted as they had left. The next model has errors of its own, but is wrong about its bands much
   * as the one before; its middle it has to prove by itself. Large distances are cut off: they may be why it was replaced.
   */
  static after(former: BandCorrection): BandCorrection {
    const { ring, shifts, misses } = former;
    const next = new BandCorrection(misses);
    next.earlier = former.count;
    const from = ring.size - shifts.size;
    for (let i = 0; i < shifts.size; i++) {
      const shift = shifts.at(i);
      const cut = (distance: number, most: number): number => Math.max(-most, Math.min(most, distance));
      const [error, below, above] = [0, 1, 2].map((field) => ring.at(from + i, field)) as [
        number,
        number,
        number,
      ];
      next.ring.push([
        cut(error - shift, 2 * MOST_CARRIED),
        Math.min(MOST_CARRIED, below + shift),
        Math.min(MOST_CARRIED, above - shift),
      ]);
      next.shifts.push([0]);
    }
    if (shifts.size > 0) {
      next.correct();
    }
    return next;
  }

  /** Truths so far, those of the models before among them. */
  get count(): number {
    return this.earlier + this.truths;
  }

  add({ error, below, above, missed, shift }: BandMiss): void {
    this.ring.push([error, below, above]);
    this.shifts.push([shift]);
    this.truths++;
    // What is aimed at is bounded: misses told late would otherwise drive it on and on.
    const aim = this.aim + STEP * (this.misses - (missed ? 1 : 0));
    this.aim = Math.min(3 * this.misses, Math.max(0, aim));
    if (this.ring.size >= FIRST && this.truths % EVERY === 0) {
      this.correct();
    }
  }

  toJSON(): BandCorrectionState {
    const { aim, shift, widen, truths, earlier, ring, shifts } = this;
    return { aim, shift, widen, truths, earlier, ring: ring.toText(), shifts: shifts.toText() };
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
    const errors = ring.field(0);
    // Errors that are alike for long turn before their truths have come, so that their median says less of the next one.
    const independent = trusted / alikeInBlocks(errors, ALIKE_BLOCK);
    const usual = (independent / (independent + FIRST)) * weightedQuantile(errors, weights, sum, 0.5);
    const shift = this.truths < FIRST ? 0 : usual;
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
