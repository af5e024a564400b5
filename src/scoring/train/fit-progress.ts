import type { Context } from '../context/context';
import type { Hooks } from '../types';

const TICK_MS = 1000;
/** A shorter fit ends before its progress is asked for. */
const ASK_AFTER_S = 2;

/**
 * Reports every second how long a fit has run and, where the service tells it, how far it is.
 */
export function followFit(
  { service }: Pick<Context, 'service'>,
  uploadId: string,
  { onStatus, signal }: Hooks,
): { end: () => void } {
  if (onStatus === undefined) {
    return { end: () => undefined };
  }
  const began = performance.now();
  const ended = new AbortController();
  const elapsed = (): number => Math.round((performance.now() - began) / 1000);
  let fraction: number | undefined;
  let asking = false;
  const report = (): void =>
    onStatus({ key: 'fitting', seconds: elapsed(), ...(fraction !== undefined && { fraction }) });
  const ask = async (): Promise<void> => {
    asking = true;
    try {
      const options = { signal: ended.signal, timeoutMs: 5 * TICK_MS };
      const known = await service.fitProgress(uploadId, options);
      // Folds end in any order: progress never goes back.
      if (known !== undefined && known > (fraction ?? 0)) {
        fraction = known;
      }
    } catch {
      // No progress is shown then; the fit itself reports what is wrong.
    } finally {
      asking = false;
    }
  };
  report();
  const timer = setInterval(() => {
    report();
    if (!asking && elapsed() >= ASK_AFTER_S && signal?.aborted !== true) {
      void ask();
    }
  }, TICK_MS);
  return {
    end: () => {
      clearInterval(timer);
      ended.abort();
    },
  };
}
