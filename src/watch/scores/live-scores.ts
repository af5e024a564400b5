import { Ring } from '../statistics/ring';

/** The scores of one truth; NaN where they do not apply. Held as 32-bit floats. */
export interface TruthScores {
  loss: number;
  /** Loss of the prediction as it left. */
  corrected: number;
  /** Loss of the current value as the prediction. */
  now: number;
  /** Pinball loss over the quantiles 0.1 … 0.9. */
  pinball: number;
  /** Nominal probability of holding the truth, and whether it was held: 1 or 0. */
  told: number;
  held: number;
  /** Width of the band as it left, relative to the model's. */
  widen: number;
}

const FIELDS = ['loss', 'corrected', 'now', 'pinball', 'told', 'held', 'widen'] as const;

export interface LiveScoresState {
  ring: string;
  sums: number[];
  counts: number[];
}

/** Mean scores of the newest truths. */
export class LiveScores {
  private readonly ring: Ring;
  private readonly sums: number[];
  private readonly counts: number[];

  constructor(keep: number, state?: LiveScoresState) {
    this.ring =
      state === undefined ? new Ring(FIELDS.length, keep) : Ring.fromText(FIELDS.length, keep, state.ring);
    this.sums = state?.sums.slice() ?? FIELDS.map(() => 0);
    this.counts = state?.counts.slice() ?? FIELDS.map(() => 0);
    if (state !== undefined && this.counts[0]! > this.ring.size) {
      // `keep` has been lowered.
      this.sum();
    }
  }

  get rows(): number {
    return this.ring.size;
  }

  add(scores: TruthScores): void {
    const { ring } = this;
    if (ring.size === ring.capacity) {
      FIELDS.forEach((_, field) => this.count(field, ring.at(0, field), -1));
    }
    ring.push(FIELDS.map((name) => scores[name]));
    FIELDS.forEach((_, field) => this.count(field, ring.at(ring.size - 1, field), 1));
  }

  /** Undefined where no truth has this score. */
  mean(name: keyof TruthScores): number | undefined {
    const field = FIELDS.indexOf(name);
    const rows = this.counts[field]!;
    // Running sums may end up slightly below 0.
    return rows === 0 ? undefined : Math.max(0, this.sums[field]! / rows);
  }

  rowsWith(name: keyof TruthScores): number {
    return this.counts[FIELDS.indexOf(name)]!;
  }

  /** Reliability by tenths of the nominal probability: rows, mean probability, share held. */
  calibration(): { rows: number; told: number; held: number }[] {
    const bins = Array.from({ length: 10 }, () => ({ rows: 0, told: 0, held: 0 }));
    for (let index = 0; index < this.ring.size; index++) {
      const told = this.ring.at(index, FIELDS.indexOf('told'));
      const held = this.ring.at(index, FIELDS.indexOf('held'));
      if (!Number.isNaN(told)) {
        const bin = bins[Math.min(9, Math.max(0, Math.floor(told * 10)))]!;
        bin.rows++;
        bin.told += told;
        bin.held += held;
      }
    }
    return bins
      .filter(({ rows }) => rows > 0)
      .map(({ rows, told, held }) => ({ rows, told: told / rows, held: held / rows }));
  }

  toJSON(): LiveScoresState {
    return { ring: this.ring.toText(), sums: [...this.sums], counts: [...this.counts] };
  }

  private count(field: number, value: number, sign: 1 | -1): void {
    if (!Number.isNaN(value)) {
      this.sums[field]! += sign * value;
      this.counts[field]! += sign;
    }
  }

  private sum(): void {
    FIELDS.forEach((_, field) => {
      this.sums[field] = 0;
      this.counts[field] = 0;
      for (let index = 0; index < this.ring.size; index++) {
        this.count(field, this.ring.at(index, field), 1);
      }
    });
  }
}
