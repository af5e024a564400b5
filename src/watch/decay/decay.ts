import { alikeIn } from '../statistics/alike';
import { Ring } from '../statistics/ring';
import type { WeeklyPattern } from '../statistics/weekly-pattern';
import { CalmLosses, type CalmLossesState, ENOUGH } from './calm-losses';
import type { OwnWindows } from './own-windows';

/** Losses of a block, and from one block to the next. */
const BLOCK = 100;
const STEP = 50;
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

export interface DecayState extends CalmLossesState {
  block: string;
  /** The cell of the week of each loss. */
  blockCells?: string;
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

/** What losses are compared with. */
export interface DecayYardstick {
  rule: DecayRule;
  /** Left out: the model's first losses stand for it. */
  promised?: PromisedLoss | undefined;
  /** How the losses of the model before it scattered. */
  noise?: LossNoise | undefined;
  /** How much windows of the train set lie above their mean; `share` of their rows are of this key. */
  own?: { windows: OwnWindows; share: number } | undefined;
  weekly: WeeklyPattern;
}

/**
 * Whether a model's losses have risen above what was promised: the mean of a block is above it by a share and by two and a half
 * standard errors, twice running. Losses of neighbouring rows are alike, so a block is worth fewer losses than it has:
 * n / (1 + 2 · sum of autocorrelations), which the model's first losses tell (or those of the model before it). What is
 * expected of a block follows the pattern of the week, where there is one; until one is known a block must also be above
 * what windows of the train set reach.
 */
export class Decay {
  private readonly block: Ring;
  private readonly blockCells: Ring;
  private readonly calm: CalmLosses;
  private readonly blockMeans: Ring;
  /** Times of the newest steps. */
  private times: number[];
  private count: number;
  private above: number;
  private below: number;
  private own: LossNoise | undefined;
  private noise: LossNoise | undefined;
  /** Rows that a loss is the mean of. */
  private rows = 1;
  /** Time of the first loss of the first block that was too high, or is good again. */
  since: number;
  isDecayed: boolean;

  constructor(
    private readonly yardstick: DecayYardstick,
    state?: DecayState,
  ) {
    const ring = (capacity: number, text: string | undefined): Ring =>
      text === undefined ? new Ring(1, capacity) : Ring.fromText(1, capacity, text);
    this.block = ring(BLOCK, state?.block);
    this.blockCells = ring(BLOCK, state?.blockCells);
    this.calm = new CalmLosses(yardstick.promised === undefined, yardstick.weekly, state);
    this.blockMeans = ring(MOST_MEANS, state?.means);
    this.times = state?.times.slice() ?? [];
    this.count = state?.count ?? 0;
    this.above = state?.above ?? 0;
    this.below = state?.below ?? 0;
    this.since = state?.since ?? 0;
    this.isDecayed = state?.decayed ?? false;
    this.noise = state?.noise ?? yardstick.noise;
    this.own = state?.own;
  }

  /** Whether the newest block says the same: it may have changed since. */
  get isSo(): boolean {
    return this.isDecayed ? this.above > 0 : this.below > 0;
  }

  /** What the losses are compared with in the mean of a week; undefined until it is known. */
  get level(): number | undefined {
    const { promised } = this.yardstick;
    return promised?.loss ?? (this.calm.size < ENOUGH ? undefined : meanOf(this.calm.asUsual()));
  }

  /** The same of the newest block. */
  get expected(): number | undefined {
    const { level } = this;
    return level === undefined ? undefined : level * this.usual();
  }

  /** Mean of the newest block. */
  get newest(): number | undefined {
    return this.block.size < BLOCK ? undefined : meanOf(this.block.field());
  }

  /** How calm losses scatter, for the model that comes after this one. */
  get scatter(): LossNoise | undefined {
    return this.own ?? this.noise;
  }

  /** The model's first losses: how many, and their mean. */
  get first(): { rows: number; loss: number } {
    return { rows: this.calm.size, loss: meanOf(this.calm.asUsual()) };
  }

  /** Means of the blocks so far, the newest 200, the oldest first. */
  get means(): number[] {
    return [...this.blockMeans.field()];
  }

  /**
   * @param time of the row, milliseconds since 1970
   * @param rows that it is the mean of
   */
  add(loss: number, time: number, rows = 1): void {
    const cell = this.yardstick.weekly.cellAt(time);
    this.rows = rows;
    this.count++;
    this.block.push([loss]);
    this.blockCells.push([cell]);
    if (this.calm.takes(time)) {
      this.calm.add(loss, cell, time);
      if (this.calm.size === ENOUGH) {
        this.own = noiseOf(this.calm.asUsual());
      }
    }
    if (this.count % STEP === 0) {
      this.times = [...this.times, time].slice(-IN_A_ROW - BLOCK / STEP);
      if (this.block.size === BLOCK) {
        this.judge(meanOf(this.block.field()), time);
      }
    }
  }

  toJSON(): DecayState {
    const { block, blockCells, calm, blockMeans, times, count, above, below, since, noise, own } = this;
    return {
      ...calm.toJSON(),
      block: block.toText(),
      blockCells: blockCells.toText(),
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

  private judge(mean: number, time: number): void {
    this.blockMeans.push([mean]);
    const { promised, rule } = this.yardstick;
    const isGrowing = this.calm.takes(time);
    // Calm losses are what came before this block, until there are enough.
    const before = this.calm.asUsual().subarray(0, isGrowing ? -BLOCK : undefined);
    const noise = this.own ?? this.noise ?? (before.length < BLOCK ? undefined : noiseOf(before));
    const level = promised?.loss ?? (before.length < BLOCK ? undefined : meanOf(before));
    if (noise === undefined || level === undefined) {
      return;
    }
    const expected = level * this.usual();
    const { spread, alike } = noise;
    const known = promised?.rows ?? before.length;
    const error = expected * spread * Math.sqrt(alike * (1 / BLOCK + 1 / Math.max(1, known)));
    const limit = expected * Math.max(1 + rule.worse, this.reached(isGrowing));
    const isAbove = mean > limit && mean - expected > SURE * error;
    this.above = isAbove ? this.above + 1 : 0;
    this.below = mean <= expected * (1 + rule.recovered) ? this.below + 1 : 0;
    if (!this.isDecayed && this.above >= IN_A_ROW) {
      this.turn(true);
    } else if (this.isDecayed && this.below >= IN_A_ROW) {
      this.turn(false);
    }
  }

  /**
   * What windows of the train set reach, else those of the calm losses, by the level of all: less what the pattern of the
   * week has of it.
   */
  private reached(isGrowing: boolean): number {
    const { own, promised, weekly } = this.yardstick;
    if (own === undefined && (promised !== undefined || isGrowing)) {
      return 1;
    }
    const limit =
      own === undefined ? this.calm.limit(BLOCK) : own.windows.limit((BLOCK * this.rows) / own.share);
    return limit / (1 + weekly.most);
  }

  /** What is expected of the newest block, by the mean of a week. */
  private usual(): number {
    const { weekly } = this.yardstick;
    const cells = this.blockCells.field();
    return 1 + cells.reduce((sum, cell) => sum + weekly.of(cell), 0) / Math.max(1, cells.length);
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
