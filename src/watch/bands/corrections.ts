import { BandCorrection, type BandCorrectionState, type BandMiss } from './band-correction';

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
export interface BandPlace {
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
    const own = place.key === null ? undefined : this.each.get(idOf(place, place.key))?.correction;
    const correction =
      own !== undefined && own.count > OWN_FROM ? own : this.each.get(idOf(place))?.correction;
    return correction ?? { shift: 0, widen: 0 };
  }

  add(place: BandPlace, miss: BandMiss): void {
    this.truths++;
    this.make(idOf(place), place)?.add(miss);
    if (place.key !== null) {
      if (this.keys.size < 2) {
        this.keys.add(place.key);
      }
      if (this.keys.size > 1) {
        this.make(idOf(place, place.key), place)?.add(miss);
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

function idOf({ ahead, level }: BandPlace, key?: string): string {
  return `${ahead ?? ''} ${level}${key === undefined ? '' : ` ${key}`}`;
}
