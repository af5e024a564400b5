import type { PredictLoad } from '../types';

const INTERVAL_MS = 250;

/** Tells the load a moment after it changed, so that a burst of changes is told once. */
export class LoadReport {
  private timer: NodeJS.Timeout | undefined;
  private ended = false;

  constructor(
    private readonly load: () => PredictLoad,
    private readonly tell: ((load: PredictLoad) => void) | undefined,
  ) {}

  changed(): void {
    if (this.tell === undefined || this.ended || this.timer !== undefined) {
      return;
    }
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.tell?.(this.load());
    }, INTERVAL_MS).unref();
  }

  /** Tells nothing more, and leaves no timer. */
  end(): void {
    this.ended = true;
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
