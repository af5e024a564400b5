import { alikeIn } from './alike';
import { Ring } from './ring';

/** Losses of a block, and from one block to the next. */
const BLOCK = 100;
const STEP = 50;
/** Losses that tell how calm losses scatter; fewer do until so many are there. */
const REFERENCE = 500;
/** Standard errors that a block must be above what was promised, and blocks in a row. */
const SURE = 2.5;
const IN_A_ROW = 2;
/** Means that are kept for pictures. */
const MOST_MEANS = 200;

/** How losses scatter, whatever their size. */
export interface LossNoise {
  /** Standard deviation by mean. */
  spread: number;
  /** Losses that say as much as one would if they were independent. */
  alike: number;
}

/** What the losses of a model should be, and of how many rows that is known. */
export interface PromisedLoss {
  loss: number;
  rows: number;
}

export interface DecayState {
  block: string;
  reference: string;
  means: string;
  times: number[];
  count: number;
  above: number;
  below: number;
  since: number;
  decayed: boolean;
  noise?: LossNoise;
  own?: LossNoise;
}

export interface DecayRule {
  /** Shares above the promised loss: of decay, and at which it has recovered. */
  worse: number;
  recovered: number;
}

/**
 * Whether a model's losses have risen above what was promised: the mean of a block is above it by a share and by two and a half
 * standard errors, twice running. Losses of neighbouring rows are alike, so a block is worth fewer losses than it has:
 * n / (1 + 2 · sum of autocorrelations), which the model's first losses tell (or those of the model before it).
 */
export class Decay {
  private readonly block: Ring;
  private readonly reference: Ring;
  private readonly blockMeans: Ring;
  /** Times of the newest steps. */
  private times: number[];
  private count: number;
  private above: number;
  private below: number;
  private own: LossNoise | undefined;
  /** Time of the first loss of the first block that was too high, or is good again. */
  since: number;
  isDecayed: boolean;

  /**
   * @param promised left out: the model's first losses stand for it
   * @param noise how the losses of the model before it scattered
   */
  constructor(
    private readonly rule: DecayRule,
    private readonly promised: PromisedLoss | undefined,
    private readonly noise: LossNoise | undefined,
    state?: DecayState,
  ) {
    const ring = (capacity: number, text: string | undefined): Ring =>
      text === undefined ? new Ring(1, capacity) : Ring.fromText(1, capacity, text);
    this.block = ring(BLOCK, state?.block);
    this.reference = ring(REFERENCE, state?.reference);
    this.blockMeans = ring(MOST_MEANS, state?.means);
    this.times = state?.times.slice() ?? [];
    this.count = state?.count ?? 0;
    this.above = state?.above ?? 0;
    this.below = state?.below ?? 0;
    this.since = state?.since ?? 0;
    this.isDecayed = state?.decayed ?? false;
    this.noise = state?.noise ?? noise;
    this.own = state?.own;
  }

  /** What the losses are compared with; undefined until it is known. */
  get expected(): number | undefined {
    return (
      this.promised?.loss ?? (this.reference.size < REFERENCE ? undefined : meanOf(this.reference.field()))
    );
  }

  /** Mean of the newest block. */
  get newest(): number | undefined {
    return this.block.size < BLOCK ? undefined : meanOf(this.block.field());
  }

  /** How calm losses scatter, for the model that comes after this one. */
  get scatter(): LossNoise | undefined {
    return this.own ?? this.noise;
  }

  /** Means of the blocks so far, the newest 200, the oldest first. */
  get means(): number[] {
    return [...this.blockMeans.field()];
  }

  /** @param time of the row, milliseconds since 1970 */
  add(loss: number, time: number): void {
    this.count++;
    this.block.push([loss]);
    if (this.reference.size < REFERENCE) {
      this.reference.push([loss]);
      if (this.reference.size === REFERENCE) {
        this.own = noiseOf(this.reference.field());
      }
    }
    if (this.count % STEP === 0) {
      this.times = [...this.times, time].slice(-IN_A_ROW - BLOCK / STEP);
      if (this.block.size === BLOCK) {
        this.judge(meanOf(this.block.field()));
      }
    }
  }

  toJSON(): DecayState {
    const { block, reference, blockMeans, times, count, above, below, since, noise, own } = this;
    return {
      block: block.toText(),
      reference: reference.toText(),
      means: blockMeans.toText(),
      times: [...times],
      count,
      above,
      below,
      since,
      decayed: this.isDecayed,
      ...(noise && { noise }),
      ...(own && { own }),
    };
  }

  private judge(mean: number): void {
    this.blockMeans.push([mean]);
    const { promised, reference, rule } = this;
    // Until the reference is whole, it is what came before this block.
    const before = this.own === undefined ? reference.field().slice(0, -BLOCK) : reference.field();
    const noise = this.own ?? this.noise ?? (before.length < BLOCK ? undefined : noiseOf(before));
    const expected = promised?.loss ?? (before.length < BLOCK ? undefined : meanOf(before));
    if (noise === undefined || expected === undefined) {
      return;
    }
    const { spread, alike } = noise;
    const known = promised?.rows ?? before.length;
    const error = expected * spread * Math.sqrt(alike * (1 / BLOCK + 1 / Math.max(1, known)));
    const isAbove = mean > expected * (1 + rule.worse) && mean - expected > SURE * error;
    this.above = isAbove ? this.above + 1 : 0;
    this.below = mean <= expected * (1 + rule.recovered) ? this.below + 1 : 0;
    if (!this.isDecayed && this.above >= IN_A_ROW) {
      this.turn(true);
    } else if (this.isDecayed && this.below >= IN_A_ROW) {
      this.turn(false);
    }
  }

  private turn(isDecayed: boolean): void {
    this.isDecayed = isDecayed;
    this.since = this.times[0]!;
  }
}

/** Of losses in their order. */
function noiseOf(losses: Float64Array): LossNoise {
  const mean = meanOf(losses);
  const square = losses.reduce((sum, loss) => sum + (loss - mean) ** 2, 0);
  return square > 0 && mean > 0
    ? { spread: Math.sqrt(square / losses.length) / mean, alike: alikeIn(losses) }
    : { spread: 0, alike: 1 };
}

function meanOf(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
