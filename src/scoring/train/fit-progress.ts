import type { ClientPort } from '../context/client-port';
import type { Context } from '../context/context';
import type { Hooks } from '../types';

const TICK_MS = 1000;
/** A shorter fit is over before anybody asks how far it is. */
const ASK_AFTER_S = 2;

/**
 * Tells every second for how long a fit has run, and how far it is where the embedded service knows; the
 * specification has no route that a hosted one could be asked by.
 */
export function followFit(
  context: Context,
  client: ClientPort,
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
  const tell = (): void =>
    onStatus({ key: 'fitting', seconds: elapsed(), ...(fraction !== undefined && { fraction }) });
  const ask = async (): Promise<void> => {
    asking = true;
    try {
      const options = { signal: ended.signal, timeoutMs: 5 * TICK_MS };
      const known = await client.fitProgress?.(uploadId, options);
      // The folds of a fit end in any order: what was reached is not taken back.
      if (known !== undefined && known > (fraction ?? 0)) {
        fraction = known;
      }
    } catch {
      // No progress is shown then; the fit itself reports what is wrong.
    } finally {
      asking = false;
    }
  };
  tell();
  const timer = setInterval(() => {
    tell();
    if (context.key === 'embedded' && !asking && elapsed() >= ASK_AFTER_S && signal?.aborted !== true) {
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
