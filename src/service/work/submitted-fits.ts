import { setTimeout as sleep } from 'node:timers/promises';

import type { FitRequest } from '../../wire/types';
import type { Log } from '../options';
import { Refusal, toRefusal } from '../refusal';
import type { FitRecord } from '../store/fit-records';
import type { Store } from '../store/store';
import type { BegunFit, Fits } from './fits';
import { tooManyWait } from './pool-job';

/** How many submitted fits may be pending at a time: each is restarted when the service starts. */
const MAX_PENDING = 64;
/** A fit that was interrupted this many times is taken for what ends the service. */
const MAX_STARTS = 3;
/** A fit that fails for a moment (no thread, no file descriptor, a disk in trouble) is begun again so many times. */
const MAX_RETRIES = 8;
/** Milliseconds before the first of them; each further pause is twice as long. Together they are four minutes. */
const FIRST_PAUSE_MS = 1_000;

/** Bounds of `retry_in_secs`: clients poll short fits soon, long ones seldom. */
const MIN_RETRY_SECS = 1;
const MAX_RETRY_SECS = 5;

/** What has become of a fit. */
type FitState =
  | { status: 'pending'; progress: number; retryInSecs: number }
  | { status: 'completed'; report?: unknown }
  | { status: 'failed'; message: string; errorCode: string };

/**
 * Fits whose id is returned before they end. Each has a record on disk from then until its model is stored, so that a
 * service that was killed restarts it when it starts again.
 */
export class SubmittedFits {
  private readonly watched = new Map<string, Promise<void>>();
  private readonly closing = new AbortController();

  constructor(
    private readonly fits: Fits,
    private readonly store: Store,
    private readonly log: Log,
  ) {}

  /**
   * Accepts a fit. The same request again joins the fit under way, or finds the one that has ended.
   *
   * @returns its id
   * @throws Refusal 404, 422 (the train set), 429 when too many wait; errors of the file system
   */
  async submit(request: FitRequest): Promise<string> {
    const { uploads, fitRecords } = this.store;
    uploads.get(request.train_set_upload_id.toLowerCase(), 'train');
    if (this.fits.full || fitRecords.pending().length >= MAX_PENDING) {
      throw tooManyWait('fit');
    }
    const fit = this.fits.begin(request);
    if (this.watched.has(fit.id)) {
      // Its id was returned before; its record says how it ends.
      fit.answer.catch(() => undefined);
    } else if (!fit.ended) {
      const record: FitRecord = { version: 1, id: fit.id, request, submittedAt: Date.now(), starts: 1 };
      const written = fitRecords.put(record);
      this.watch(fit, record, written);
      await written;
    }
    return fit.id;
  }

  /** Undefined for an unknown id, or one whose fit is gone, with its files too. */
  findState(id: string): FitState | undefined {
    const { models } = this.store;
    const model = models.items.has(id) ? models.useIfWhole(id) : undefined;
    if (model !== undefined) {
      return { status: 'completed', report: model.entry.report };
    }
    const record = this.store.fitRecords.get(id);
    if (record?.failure !== undefined) {
      return { status: 'failed', ...record.failure };
    }
    const running = this.fits.find(id);
    const since = running?.started_at ?? record?.submittedAt;
    return since === undefined
      ? undefined
      : { status: 'pending', progress: running?.progress ?? 0, retryInSecs: retryInSecs(Date.now() - since) };
  }

  /** Restarts the fits that were pending when the service ended. */
  async resume(): Promise<void> {
    const { fitRecords, models } = this.store;
    for (const record of fitRecords.pending()) {
      if (models.items.has(record.id)) {
        await fitRecords.remove(record.id);
      } else if (record.starts >= MAX_STARTS) {
        await this.fail(record, {
          message: `The service ended ${record.starts} times while this fit ran: give it fewer rows or columns.`,
          errorCode: 'FIT_INTERRUPTED',
        });
      } else {
        const next = { ...record, starts: record.starts + 1 };
        await fitRecords.put(next).catch((error: unknown) => {
          // It was promised; where there is no space, its end says so.
          this.log(
            'warn',
            `The record of the fit ${record.id} could not be written: ${(error as Error).message}`,
          );
        });
        this.log('info', `The fit ${record.id}, which the end of the service interrupted, begins again.`);
        this.watch(this.fits.resume(next.request, next.id), next, Promise.resolve());
      }
    }
  }

  /** Begins no fit again. Resolves when every record says what has become of its fit. */
  async close(): Promise<void> {
    this.closing.abort();
    await Promise.all(this.watched.values());
  }

  private watch(fit: BegunFit, record: FitRecord, written: Promise<void>): void {
    const over = this.follow(fit, record, written)
      .catch((error: unknown) => {
        this.log('warn', `The record of the fit ${fit.id} could not be written: ${(error as Error).message}`);
      })
      .finally(() => this.watched.delete(fit.id));
    this.watched.set(fit.id, over);
  }

  /** Updates the record when the fit ends. Both promises may reject; either ends it. */
  private async follow(begun: BegunFit, record: FitRecord, written: Promise<void>): Promise<void> {
    const { fitRecords } = this.store;
    let end = await settle(begun.answer);
    try {
      await written;
    } catch {
      // Its id was not returned.
      return;
    }
    for (let retry = 0; retry < MAX_RETRIES && mayPass(end); retry++) {
      await sleep(FIRST_PAUSE_MS * 2 ** retry, undefined, this.closing).catch(() => undefined);
      end = await settle(this.fits.resume(record.request, record.id).answer);
    }
    if (end === undefined) {
      await fitRecords.remove(record.id);
      return;
    }
    const refusal = toRefusal(end);
    if (refusal.body.errorCode === 'SHUTTING_DOWN') {
      await fitRecords.put({ ...record, starts: record.starts - 1 });
      return;
    }
    if (!(end instanceof Refusal)) {
      const { stack, message } = end as Error;
      this.log('warn', `The fit ${record.id} failed: ${stack ?? message}`);
    }
    await this.fail(record, { message: refusal.message, errorCode: refusal.body.errorCode });
  }

  private fail(record: FitRecord, failure: NonNullable<FitRecord['failure']>): Promise<void> {
    return this.store.fitRecords.put({ ...record, failure });
  }
}

/** A tenth of the time that it has taken, within bounds. */
function retryInSecs(elapsedMs: number): number {
  return Math.min(MAX_RETRY_SECS, Math.max(MIN_RETRY_SECS, Math.round(elapsedMs / 10_000)));
}

/** Why it failed; undefined where it did not. */
function settle(answer: Promise<unknown>): Promise<unknown> {
  return answer.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Whether a fit that failed so may end well when it is begun again. */
function mayPass(failure: unknown): boolean {
  if (failure === undefined) {
    return false;
  }
  const { retryable, errorCode } = toRefusal(failure).body;
  return retryable === true && errorCode !== 'SHUTTING_DOWN';
}
