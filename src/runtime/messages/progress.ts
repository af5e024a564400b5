import type { StatusEvent } from '../../models/types';
import { Pace, type Progress, type Shown, type StatusLine } from '../status/status-line';

/** With less progress than this, the estimate of the time left would jump. */
const LEAST_FIT_S = 3;
const LEAST_FRACTION = 0.05;

type Event<Key> = Extract<StatusEvent, { key: Key }>;

/** Shows the progress of one message: as text, and as numbers for a Status node. */
export class Follower {
  private phase: { key: StatusEvent['key']; began: number; pace: Pace } | undefined;

  constructor(
    private readonly status: StatusLine,
    private readonly now = () => performance.now(),
  ) {}

  show(event: StatusEvent): void {
    const at = this.now();
    if (this.phase?.key !== event.key) {
      this.phase = { key: event.key, began: at, pace: new Pace() };
    }
    const { began, pace } = this.phase;
    const seconds = Math.floor((at - began) / 1000);
    if (event.key === 'uploading') {
      pace.note(event.sent, at);
    }
    if (event.key === 'predicting') {
      pace.note(event.done ?? 0, at);
    }
    this.status.showLater('busy', () => this.shown(event, seconds, pace));
  }

  private shown(event: StatusEvent, seconds: number, pace: Pace): Shown {
    switch (event.key) {
      case 'uploading':
        return this.uploading(event, seconds, pace);
      case 'fitting':
        return this.fitting(event);
      case 'predicting':
        return this.predicting(event, seconds, pace);
      case 'reading':
        return this.reading(event, seconds);
    }
  }

  private reading({ fraction }: Event<'reading'>, seconds: number): Shown {
    const progress: Progress = { phase: 'reading', seconds };
    if (fraction === undefined) {
      return { key: 'reading', progress };
    }
    const percent = computePercent(fraction, 1);
    if (percent === 100) {
      // What was read is looked through before anything is sent; how long that takes is not known.
      return { key: 'readingEnd', progress: { ...progress, percent } };
    }
    return { key: 'readingAt', values: { percent }, progress: { ...progress, percent } };
  }

  private uploading({ sent, total }: Event<'uploading'>, seconds: number, pace: Pace): Shown {
    const percent = computePercent(sent, total);
    const speed = pace.perSecond();
    const left = pace.secondsLeft(total);
    const progress: Progress = { phase: 'uploading', percent, seconds, bytes: sent, total_bytes: total };
    if (speed === undefined || left === undefined || sent >= total) {
      return { key: 'uploading', values: { percent }, progress };
    }
    return {
      key: 'uploadingAt',
      values: { percent, time: this.status.time(1000 * left) },
      progress: { ...progress, bytes_per_second: Math.round(speed), seconds_left: left },
    };
  }

  private fitting({ seconds, fraction }: Event<'fitting'>): Shown {
    const time = this.status.time(1000 * seconds);
    const progress: Progress = { phase: 'fitting', seconds };
    if (fraction === undefined) {
      return { key: 'fitting', values: { time }, progress };
    }
    if (fraction >= 1) {
      // All folds are done and are being combined; how long that takes is not known.
      return { key: 'fittingEnd', values: { time }, progress: { ...progress, percent: 99 } };
    }
    const percent = computePercent(fraction, 1);
    if (seconds < LEAST_FIT_S || fraction < LEAST_FRACTION) {
      return { key: 'fittingAt', values: { time, percent }, progress: { ...progress, percent } };
    }
    const left = Math.ceil((seconds * (1 - fraction)) / fraction);
    return {
      key: 'fittingOf',
      values: { percent, time: this.status.time(1000 * left) },
      progress: { ...progress, percent, seconds_left: left },
    };
  }

  private predicting({ done, total }: Event<'predicting'>, seconds: number, pace: Pace): Shown {
    const progress: Progress = { phase: 'predicting', seconds };
    if (done === undefined || done === 0) {
      return { key: 'predicting', progress };
    }
    const counted = { ...progress, rows: done };
    if (total === undefined) {
      return { key: 'predictingRows', values: { rows: done }, progress: counted };
    }
    const percent = computePercent(done, total);
    const left = pace.secondsLeft(total);
    const known = { ...counted, total_rows: total, percent };
    return left === undefined
      ? { key: 'predictingAt', values: { percent }, progress: known }
      : {
          key: 'predictingOf',
          values: { percent, time: this.status.time(1000 * left) },
          progress: { ...known, seconds_left: left },
        };
  }
}

/** Whole percent; 100 only when everything is done. */
function computePercent(done: number, total: number): number {
  return total === 0 ? 100 : Math.min(100, Math.max(0, Math.floor((100 * done) / total)));
}
