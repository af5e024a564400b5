import { WEEK } from '../util/durations';
import { autocorrelationTime, Ring, type WeeklyPattern } from './statistics';
import type { LossesInTime } from './types';

/** Share of the windows that stay below the limit. */
const LEVEL = 0.98;
const LEAST_WINDOWS = 8;

/** How far windows of the train set itself rise above their mean: later rows may do the same for days without any change. */
export class TrainWindows {
  private readonly limits = new Map<number, number>();

  constructor(private readonly losses: LossesInTime) {}

  /**
   * The level that one window in fifty exceeds, relative to the mean of all.
   *
   * @param rows per window
   * @returns 1 where there are too few windows
   */
  limit(rows: number): number {
    let limit = this.limits.get(rows);
    if (limit === undefined) {
      limit = findLimit(this.losses.means, Math.max(1, Math.round(rows / this.losses.step)));
      this.limits.set(rows, limit);
    }
    return limit;
  }
}

function findLimit(means: readonly number[], length: number): number {
  if (means.length < LEAST_WINDOWS * length) {
    return 1;
  }
  const sums = [0];
  means.forEach((mean, at) => sums.push(sums[at]! + mean));
  const windows: number[] = [];
  const hop = Math.max(1, Math.floor(length / 4));
  for (let end = length; end <= means.length; end += hop) {
    windows.push((sums[end]! - sums[end - length]!) / length);
  }
  windows.sort((a, b) => a - b);
  const mean = sums.at(-1)! / means.length;
  const limit = windows[Math.ceil(LEVEL * windows.length) - 1]! / mean;
  return limit > 1 ? limit : 1;
}

/** Losses that it takes to estimate their scatter. */
const ENOUGH = 500;
/** Where no loss was promised they stand in for it, over a week and at most this many. */
const MOST = 2000;

interface FirstLossesState {
  reference: string;
  /** The weekly cell of each. */
  referenceCells?: string;
  /** Time of the first, milliseconds since 1970. */
  from?: number;
}

/** The first losses of a model: their scatter and, where no loss was promised, their level. */
class FirstLosses {
  private readonly losses: Ring;
  private readonly cells: Ring;
  private from: number | undefined;
  private windows: TrainWindows | undefined;

  /** @param isPromise no loss was promised, so these stand in for it */
  constructor(
    private readonly isPromise: boolean,
    private readonly weekly: WeeklyPattern,
    state?: FirstLossesState,
  ) {
    this.losses = parseRing(state?.reference);
    this.cells = parseRing(state?.referenceCells);
    this.from = state?.from;
  }

  get size(): number {
    return this.losses.size;
  }

  /** Whether it takes a loss at this time. */
  takes(time: number): boolean {
    const { size, from = time } = this;
    return size < ENOUGH || (this.isPromise && size < MOST && time - from < WEEK);
  }

  add(loss: number, cell: number, time: number): void {
    this.from ??= time;
    this.losses.push([loss]);
    this.cells.push([cell]);
    this.windows = undefined;
  }

  /** With the weekly pattern removed, the oldest first. */
  deseasonalized(): Float64Array {
    const cells = this.cells.field();
    return this.losses.field().map((loss, at) => loss / (1 + this.weekly.of(cells[at] ?? NaN)));
  }

  /** See `TrainWindows`. */
  limit(rows: number): number {
    this.windows ??= new TrainWindows({ step: 1, means: [...this.losses.field()] });
    return this.windows.limit(rows);
  }

  toJSON(): FirstLossesState {
    const { losses, cells, from } = this;
    return {
      reference: losses.toText(),
      referenceCells: cells.toText(),
      ...(from !== undefined && { from }),
    };
  }
}

function parseRing(text: string | undefined): Ring {
  return text === undefined ? new Ring(1, MOST) : Ring.fromText(1, MOST, text);
}

/** Losses per block, and from one block to the next. */
const BLOCK = 100;
const STEP = 50;
/** Standard errors by which a block must exceed what is expected, and consecutive blocks that it takes. */
const SURE = 2.5;
const IN_A_ROW = 2;
/** Block means kept for pictures. */
const MOST_MEANS = 200;

/** How losses scatter, relative to their level. */
export interface LossNoise {
  /** Coefficient of variation. */
  spread: number;
  /** Integrated autocorrelation time. */
  alike: number;
}

/** The promised loss, and from how many rows it was estimated. */
export interface PromisedLoss {
  loss: number;
  rows: number;
}

export interface DecayState extends FirstLossesState {
  block: string;
  /** The weekly cell of each loss. */
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

interface DecayRule {
  /** Shares above the promised loss for decay and for recovery. */
  worse: number;
  recovered: number;
}

/** What losses are compared with. */
export interface DecayReference {
  rule: DecayRule;
  /** Left out: the model's first losses stand in for it. */
  promised?: PromisedLoss | undefined;
  /** How the losses of the previous model scattered. */
  noise?: LossNoise | undefined;
  /** How far windows of the train set rise above their mean; `share` of their rows belong to this key. */
  own?: { windows: TrainWindows; share: number } | undefined;
  weekly: WeeklyPattern;
}

/**
 * Whether a model's losses have risen above what was promised: the mean of a block exceeds it by a share and by two and a
 * half standard errors, twice in a row. Neighbouring losses are correlated, so a block has an effective sample size of
 * n / (1 + 2 Σ ρ), estimated from the model's first losses (or those of the previous model). The expectation follows the
 * weekly pattern, where there is one; until then a block must also exceed what windows of the train set reach.
 */
export class Decay {
  private readonly block: Ring;
  private readonly blockCells: Ring;
  private readonly firstLosses: FirstLosses;
  private readonly blockMeans: Ring;
  /** Times of the newest steps. */
  private times: number[];
  private count: number;
  private above: number;
  private below: number;
  private own: LossNoise | undefined;
  private noise: LossNoise | undefined;
  /** Rows per loss, where a loss is the mean of several. */
  private rows = 1;
  /** Time of the first loss in the first block that was too high, or good again. */
  since: number;
  isDecayed: boolean;

  constructor(
    private readonly reference: DecayReference,
    state?: DecayState,
  ) {
    const ring = (capacity: number, text: string | undefined): Ring =>
      text === undefined ? new Ring(1, capacity) : Ring.fromText(1, capacity, text);
    this.block = ring(BLOCK, state?.block);
    this.blockCells = ring(BLOCK, state?.blockCells);
    this.firstLosses = new FirstLosses(reference.promised === undefined, reference.weekly, state);
    this.blockMeans = ring(MOST_MEANS, state?.means);
    this.times = state?.times.slice() ?? [];
    this.count = state?.count ?? 0;
    this.above = state?.above ?? 0;
    this.below = state?.below ?? 0;
    this.since = state?.since ?? 0;
    this.isDecayed = state?.decayed ?? false;
    this.noise = state?.noise ?? reference.noise;
    this.own = state?.own;
  }

  /** Whether the newest block agrees with the verdict: that may have changed since. */
  get isConfirmed(): boolean {
    return this.isDecayed ? this.above > 0 : this.below > 0;
  }

  /** The level that losses are compared with, averaged over a week; undefined until known. */
  get level(): number | undefined {
    const { promised } = this.reference;
    return (
      promised?.loss ??
      (this.firstLosses.size < ENOUGH ? undefined : computeMean(this.firstLosses.deseasonalized()))
    );
  }

  /** The level expected of the newest block. */
  get expected(): number | undefined {
    const { level } = this;
    return level === undefined ? undefined : level * this.usual();
  }

  /** Mean of the newest block. */
  get newest(): number | undefined {
    return this.block.size < BLOCK ? undefined : computeMean(this.block.field());
  }

  /** How losses scatter, for the next model. */
  get scatter(): LossNoise | undefined {
    return this.own ?? this.noise;
  }

  /** The model's first losses: how many, and their mean. */
  get first(): { rows: number; loss: number } {
    return { rows: this.firstLosses.size, loss: computeMean(this.firstLosses.deseasonalized()) };
  }

  /** Means of the newest 200 blocks, the oldest first. */
  get means(): number[] {
    return [...this.blockMeans.field()];
  }

  /**
   * @param time of the row, milliseconds since 1970
   * @param rows how many rows it is the mean of
   */
  add(loss: number, time: number, rows = 1): void {
    const cell = this.reference.weekly.cellAt(time);
    this.rows = rows;
    this.count++;
    this.block.push([loss]);
    this.blockCells.push([cell]);
    if (this.firstLosses.takes(time)) {
      this.firstLosses.add(loss, cell, time);
      if (this.firstLosses.size === ENOUGH) {
        this.own = computeNoise(this.firstLosses.deseasonalized());
      }
    }
    if (this.count % STEP === 0) {
      this.times = [...this.times, time].slice(-IN_A_ROW - BLOCK / STEP);
      if (this.block.size === BLOCK) {
        this.judge(computeMean(this.block.field()), time);
      }
    }
  }

  toJSON(): DecayState {
    const { block, blockCells, firstLosses, blockMeans, times, count, above, below, since, noise, own } =
      this;
    return {
      ...firstLosses.toJSON(),
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
    const { promised, rule } = this.reference;
    const isGrowing = this.firstLosses.takes(time);
    // While the first losses are being collected, this block does not count among them.
    const before = this.firstLosses.deseasonalized().subarray(0, isGrowing ? -BLOCK : undefined);
    const noise = this.own ?? this.noise ?? (before.length < BLOCK ? undefined : computeNoise(before));
    const level = promised?.loss ?? (before.length < BLOCK ? undefined : computeMean(before));
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
   * What windows of the train set reach, or else those of the first losses, relative to the overall level and less what
   * the weekly pattern explains.
   */
  private reached(isGrowing: boolean): number {
    const { own, promised, weekly } = this.reference;
    if (own === undefined && (promised !== undefined || isGrowing)) {
      return 1;
    }
    const limit =
      own === undefined ? this.firstLosses.limit(BLOCK) : own.windows.limit((BLOCK * this.rows) / own.share);
    return limit / (1 + weekly.most);
  }

  /** The weekly factor of the newest block: 1 in an average week. */
  private usual(): number {
    const { weekly } = this.reference;
    const cells = this.blockCells.field();
    return 1 + cells.reduce((sum, cell) => sum + weekly.of(cell), 0) / Math.max(1, cells.length);
  }

  private turn(isDecayed: boolean): void {
    this.isDecayed = isDecayed;
    this.since = this.times[0]!;
  }
}

/** @param losses in order of time */
function computeNoise(losses: Float64Array): LossNoise {
  const mean = computeMean(losses);
  const square = losses.reduce((sum, loss) => sum + (loss - mean) ** 2, 0);
  return square > 0 && mean > 0
    ? { spread: Math.sqrt(square / losses.length) / mean, alike: autocorrelationTime(losses) }
    : { spread: 0, alike: 1 };
}

function computeMean(values: Float64Array): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
