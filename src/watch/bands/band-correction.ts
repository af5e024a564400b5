import { autocorrelationTimeInBlocks } from '../statistics/effective-sample-size';
import { Ring } from '../statistics/ring';

/** How many truths a correction looks back on, and after how many their weight falls to 1/e. */
const REACH = 600;
const FADES = 200;
/** Truths before the first correction, and between updates. */
const FIRST = 20;
const EVERY = 10;
/** Truths per block when estimating the autocorrelation of errors. */
const ALIKE_BLOCK = 100;
/** How many truths are carried over to the next model, and the largest distance that one of them may have. */
const CARRIED = 100;
const MOST_CARRIED = 0.5;
/** Learning rate of the targeted share of misses, per truth (γ of Gibbs and Candès). */
const STEP = 0.01;

export interface BandCorrectionState {
  aim: number;
  shift: number;
  widen: number;
  truths: number;
  /** Truths of earlier models; missing in states of earlier versions. */
  earlier?: number;
  ring: string;
  /** The shift of each of the newest truths; missing in states of earlier versions. */
  shifts?: string;
}

/** A truth relative to its band: distances in units of the band's scale. */
export interface BandMiss {
  /** Truth less middle. */
  error: number;
  /** Low end less truth, and truth less high end: positive where the truth is outside. */
  below: number;
  above: number;
  /** Whether the truth was outside the band as it left, and how far its middle had been shifted. */
  missed: boolean;
  shift: number;
}

/**
 * Corrects a band by the truths that come later, in two stages. The middle is shifted by the weighted median error. The
 * ends move by a weighted quantile of the conformity score of conformalized quantile regression (Y. Romano, E. Patterson,
 * E. Candès, 2019), at a level that adapts to the misses (I. Gibbs, E. Candès, Adaptive conformal inference under
 * distribution shift, 2021). Weights decay with age. Few truths move a band only a little, and the middle even less the
 * more neighbouring errors are correlated.
 */
export class BandCorrection {
  private readonly ring: Ring;
  private readonly shifts: Ring;
  private aim: number;
  private truths = 0;
  private earlier = 0;
  shift = 0;
  widen = 0;

  /** @param misses nominal share of truths outside: 0.2 for an 80 % band */
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
   * The correction that another model starts with: how far the newest truths were from its predecessor's bands, with the
   * shift they had when they left. A new model has errors of its own, so it learns its own shift; but it misjudges the
   * width of its bands much as its predecessor did. Large distances are clipped: they may be the reason for the change.
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

  /** Truths so far, including those of earlier models. */
  get count(): number {
    return this.earlier + this.truths;
  }

  add({ error, below, above, missed, shift }: BandMiss): void {
    this.ring.push([error, below, above]);
    this.shifts.push([shift]);
    this.truths++;
    // Bounded, since misses that are reported late would otherwise drive it ever further.
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
    const effective = sum ** 2 / squares;
    const share = effective / (effective + FIRST);
    const errors = ring.field(0);
    // Long-correlated errors turn before their truths arrive, so their median says less about the next one.
    const independent = effective / autocorrelationTimeInBlocks(errors, ALIKE_BLOCK);
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
