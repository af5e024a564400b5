import type { PredictLoad } from '../types';

const INTERVAL_MS = 250;

/** Reports the load a moment after it changed, so that a burst of changes makes one report. */
export class LoadReport {
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(
    private readonly load: () => PredictLoad,
    private readonly onLoad: ((load: PredictLoad) => void) | undefined,
  ) {}

  changed(): void {
    if (this.onLoad === undefined || this.ended || this.timer !== undefined) {
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.onLoad?.(this.load());
    }, INTERVAL_MS).unref();
  }

  /** Reports nothing more, and leaves no timer. */
  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
