/** `trainFold` tells parts of one; shared memory holds whole numbers. */
const UNIT = 1_000_000;

/**
 * How far the folds of one fit are, whichever threads train them: in shared memory, because a thread that trains
 * takes no messages. For each fold what it reported last, and whether it has ended.
 */
export class FoldProgress {
  private reported = 0;

  /** @param cells two numbers for each fold; `FoldProgress.cells` makes them */
  constructor(readonly cells: Int32Array) {}

  static cells(folds: number): Int32Array {
    return new Int32Array(new SharedArrayBuffer(8 * folds));
  }

  /** Sets a fold's progress, 0 to 1 of the most that it may take; it usually ends before. */
  reach(fold: number, part: number): void {
    Atomics.store(this.cells, fold, Math.round(part * UNIT));
  }

  end(fold: number): void {
    Atomics.store(this.cells, this.folds + fold, 1);
  }

  /**
   * Progress of the fit, 0 to 1. Folds stop early, so a running one is expected to end where those before it did.
   * Progress never goes back.
   */
  fraction(): number {
    const folds = Array.from({ length: this.folds }, (_, fold) => ({
      reached: Atomics.load(this.cells, fold) / UNIT,
      ended: Atomics.load(this.cells, this.folds + fold) === 1,
    }));
    const ends = folds.filter(({ ended }) => ended).map(({ reached }) => reached);
    const usual = ends.length === 0 ? 1 : ends.reduce((sum, end) => sum + end, 0) / ends.length;
    const done = folds.reduce(
      (sum, { reached, ended }) => sum + (ended ? 1 : Math.min(ALMOST, reached / Math.max(usual, MIN_USUAL))),
      0,
    );
    this.reported = Math.max(this.reported, done / this.folds);
    return this.reported;
  }

  private get folds(): number {
    return this.cells.length / 2;
  }
}

/** A fold that runs longer than the others is not taken as ended. */
const ALMOST = 0.98;
/** Avoids a division by zero where folds end at their first step. */
const MIN_USUAL = 0.001;
