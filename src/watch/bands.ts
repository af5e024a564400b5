import { LEVELS } from '../metrics/regression';
import { isObject } from '../util/values';
import {
  attachedQuantiles,
  isNumber,
  type IssuedBand,
  type MovedBand,
  type OpenPrediction,
} from './predictions';
import { autocorrelationTimeInBlocks, Ring } from './statistics';
import type { WatchNumbers } from './types';

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

interface BandCorrectionState {
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
interface BandMiss {
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

/** With more truths than this a key uses a correction of its own. */
const OWN_FROM = 200;
/** Corrections held in total, and the number of truths after which an idle one may be replaced. */
const MOST = 256;
const IDLE = 20_000;

export interface CorrectionsState {
  truths: number;
  keys: string[];
  each: { id: string; last: number; misses: number; state: BandCorrectionState }[];
}

/** Which band it is: of a step ahead, and of a level. */
interface BandPlace {
  key: string | null;
  ahead: number | null;
  /** Level of the low end. */
  level: number;
}

/** The corrections of a model: one for each step ahead, and one more for a key with enough truths of its own. */
export class Corrections {
  private readonly each = new Map<string, { correction: BandCorrection; misses: number; last: number }>();
  private readonly keys: Set<string>;
  private truths = 0;
  private following: { truths: number; corrections: Corrections } | undefined;

  constructor(state?: CorrectionsState) {
    this.truths = state?.truths ?? 0;
    this.keys = new Set(state?.keys);
    for (const { id, last, misses, state: own } of state?.each ?? []) {
      this.each.set(id, { correction: new BandCorrection(misses, own), misses, last });
    }
  }

  /** What the next model starts with, per key too: refits may come faster than a key collects truths. */
  get next(): Corrections {
    const { truths } = this;
    if (this.following?.truths !== truths) {
      const corrections = new Corrections({ truths: 0, keys: [...this.keys], each: [] });
      for (const [id, { correction, misses }] of this.each) {
        corrections.each.set(id, { correction: BandCorrection.after(correction), misses, last: 0 });
      }
      this.following = { truths, corrections };
    }
    return this.following.corrections;
  }

  /** The correction to apply now; none while nothing is known. */
  of(place: BandPlace): Pick<BandCorrection, 'shift' | 'widen'> {
    const own = place.key === null ? undefined : this.each.get(makeId(place, place.key))?.correction;
    const correction =
      own !== undefined && own.count > OWN_FROM ? own : this.each.get(makeId(place))?.correction;
    return correction ?? { shift: 0, widen: 0 };
  }

  add(place: BandPlace, miss: BandMiss): void {
    this.truths++;
    this.make(makeId(place), place)?.add(miss);
    if (place.key !== null) {
      if (this.keys.size < 2) {
        this.keys.add(place.key);
      }
      if (this.keys.size > 1) {
        this.make(makeId(place, place.key), place)?.add(miss);
      }
    }
  }

  toJSON(): CorrectionsState {
    return {
      truths: this.truths,
      keys: [...this.keys],
      each: Array.from(this.each, ([id, { correction, misses, last }]) => ({
        id,
        last,
        misses,
        state: correction.toJSON(),
      })),
    };
  }

  private make(id: string, { level }: BandPlace): BandCorrection | undefined {
    let one = this.each.get(id);
    if (one === undefined) {
      if (this.each.size >= MOST && !this.makeRoom()) {
        return undefined;
      }
      const misses = 2 * level;
      one = { correction: new BandCorrection(misses), misses, last: 0 };
      this.each.set(id, one);
    }
    one.last = this.truths;
    return one.correction;
  }

  private makeRoom(): boolean {
    for (const [id, { last }] of this.each) {
      if (this.truths - last > IDLE) {
        return this.each.delete(id);
      }
    }
    return false;
  }
}

function makeId({ ahead, level }: BandPlace, key?: string): string {
  return `${ahead ?? ''} ${level}${key === undefined ? '' : ` ${key}`}`;
}

/** A half band below this share of the width counts as having none. */
const LEAST_HALF = 1e-9;

/** How a band is corrected, in units of `scale`: its width, or a little more where that is close to zero. */
interface BandMove {
  /** Added to the middle. */
  shift: number;
  /** Added to both ends, outwards; the ends never cross the middle. */
  widen: number;
  scale: number;
}

function movedBand({ middle, low, high }: IssuedBand, { shift, widen, scale }: BandMove): MovedBand {
  const moved = middle + shift * scale;
  return {
    middle: moved,
    low: Math.min(moved, low + (shift - widen) * scale),
    high: Math.max(moved, high + (shift + widen) * scale),
  };
}

/**
 * A prediction with its band corrected, in the form in which it came: mean, median and mode move with the middle, all other
 * quantiles keep their relative positions within their half of the band.
 */
function movedPrediction(prediction: unknown, band: IssuedBand, moved: MovedBand): Record<string, unknown> {
  const result: Record<string, unknown> = { ...(prediction as object) };
  const isStatistics = isObject(result.quantiles);
  const quantiles = isStatistics ? { ...(result.quantiles as object) } : result;
  for (const { name, level, value } of attachedQuantiles(prediction)) {
    quantiles[name] = movedQuantile(level, value, band, moved);
  }
  if (isStatistics) {
    result.quantiles = quantiles;
    for (const name of ['mean', 'median', 'mode']) {
      const value = result[name];
      if (isNumber(value)) {
        result[name] = value + (moved.middle - band.middle);
      }
    }
  }
  return result;
}

function movedQuantile(level: number, value: number, band: IssuedBand, moved: MovedBand): number {
  const isLow = level < 0.5;
  const [end, movedEnd] = isLow ? [band.low, moved.low] : [band.high, moved.high];
  const half = Math.abs(end - band.middle);
  const width = Math.max(band.high - band.low, moved.high - moved.low);
  if (half > LEAST_HALF * width) {
    return moved.middle + ((value - band.middle) / half) * Math.abs(movedEnd - moved.middle);
  }
  // A half without width: levels within it are spread by level, those beyond keep their distance to its end.
  const share = Math.abs(level - 0.5) / (0.5 - band.level);
  return share < 1 - 1e-9 ? moved.middle + (movedEnd - moved.middle) * share : movedEnd + (value - end);
}

/** A prediction as it leaves, what to keep until its truth comes, and how its band was corrected. */
export interface OutgoingPrediction extends Pick<WatchNumbers, 'shift' | 'widen'> {
  leaves: unknown;
  waiting: Pick<OpenPrediction, 'left' | 'scale' | 'nine'>;
}

export function outgoingUnchanged(
  prediction: unknown,
  { middle, low, high }: IssuedBand,
): OutgoingPrediction {
  return { leaves: prediction, waiting: { left: { middle, low, high }, ...keepNine(prediction) } };
}

export function outgoingCorrected(prediction: unknown, band: IssuedBand, move: BandMove): OutgoingPrediction {
  const { middle, low, high } = band;
  const isMoved = move.shift !== 0 || move.widen !== 0;
  const left = isMoved ? movedBand(band, move) : { middle, low, high };
  const leaves = isMoved ? movedPrediction(prediction, band, left) : prediction;
  return {
    leaves,
    waiting: { left, scale: move.scale, ...keepNine(leaves) },
    shift: left.middle - middle,
    ...(high > low && { widen: (left.high - left.low) / (high - low) }),
  };
}

/** The quantiles 0.1 … 0.9, where exactly these nine are predicted. */
function keepNine(prediction: unknown): { nine?: number[] } {
  const quantiles = attachedQuantiles(prediction);
  const isNine =
    quantiles.length === LEVELS.length &&
    quantiles.every(({ level }, k) => Math.abs(level - LEVELS[k]!) < 1e-9);
  return isNine ? { nine: quantiles.map(({ value }) => value) } : {};
}
