import { Ring } from '../statistics/ring';
import type { WeeklyPattern } from '../statistics/weekly-pattern';
import { TrainWindows } from './train-windows';

/** Losses that it takes to estimate their scatter. */
export const ENOUGH = 500;
/** Where no loss was promised they stand in for it, over a week and at most this many. */
const MOST = 2000;
const WEEK = 7 * 86_400_000;

export interface FirstLossesState {
  reference: string;
  /** The weekly cell of each. */
  referenceCells?: string;
  /** Time of the first, milliseconds since 1970. */
  from?: number;
}

/** The first losses of a model: their scatter and, where no loss was promised, their level. */
export class FirstLosses {
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
    this.losses = ringOf(state?.reference);
    this.cells = ringOf(state?.referenceCells);
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
      ...{ reference: losses.toText(), referenceCells: cells.toText() },
      ...(from !== undefined && { from }),
    };
  }
}

function ringOf(text: string | undefined): Ring {
  return text === undefined ? new Ring(1, MOST) : Ring.fromText(1, MOST, text);
}
