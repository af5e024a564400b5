import { Ring } from '../statistics/ring';
import type { WeeklyPattern } from '../statistics/weekly-pattern';
import { OwnWindows } from './own-windows';

/** Losses that tell how calm losses scatter. */
export const ENOUGH = 500;
/** Where nothing was promised they stand for it, and are those of a week, up to so many. */
const MOST = 2000;
const WEEK = 7 * 86_400_000;

export interface CalmLossesState {
  reference: string;
  /** The cell of the week of each. */
  referenceCells?: string;
  /** Time of the first, milliseconds since 1970. */
  from?: number;
}

/** The first losses of a model: how they scatter and, where no loss was promised, what is usual. */
export class CalmLosses {
  private readonly losses: Ring;
  private readonly cells: Ring;
  private from: number | undefined;
  private windows: OwnWindows | undefined;

  /** @param isPromise nothing else tells what is usual */
  constructor(
    private readonly isPromise: boolean,
    private readonly weekly: WeeklyPattern,
    state?: CalmLossesState,
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

  /** As they would be in the mean of a week, the oldest first. */
  asUsual(): Float64Array {
    const cells = this.cells.field();
    return this.losses.field().map((loss, at) => loss / (1 + this.weekly.of(cells[at] ?? NaN)));
  }

  /** See `OwnWindows`. */
  limit(rows: number): number {
    this.windows ??= new OwnWindows({ step: 1, means: [...this.losses.field()] });
    return this.windows.limit(rows);
  }

  toJSON(): CalmLossesState {
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
