import type { Readable } from 'node:stream';

import { Refusal } from './refusal';

/** How slow a body may be. Only the time spent waiting for its sender counts. */
export interface SenderPatience {
  /** Milliseconds of silence. */
  idleMs: number;
  /** The average rate that is required once `idleMs` have been spent waiting, so that a byte now and then is not enough. */
  bytesPerSecond: number;
}

/** A slow sender is checked at least this often, as a fraction of the time it is given. */
const CHECKS = 4;

/**
 * The bytes of a body as they come. Unlike the stream's own iterator it leaves the stream open where its reader
 * stops early, so that a refusal can still be answered.
 *
 * @throws Refusal 408 for a sender that is silent or too slow; Error where the body was cut off
 */
export async function* arriving(body: Readable, patience: SenderPatience): AsyncGenerator<Buffer> {
  const waiting: Buffer[] = [];
  let ended = body.readableEnded;
  let failure: Error | undefined;
  let wake: () => void = () => undefined;
  let bytes = 0;
  let waited = 0;
  let waitsSince: number | undefined;
  const fail = (error: Error): void => {
    if (!ended) {
      failure ??= error;
    }
    wake();
  };
  const onData = (data: Buffer): void => {
    waiting.push(data);
    bytes += data.length;
    body.pause();
    wake();
  };
  const onEnd = (): void => {
    ended = true;
    wake();
  };
  const onClose = (): void => fail(new Error('The body was cut off.'));
  const timer = setInterval(() => {
    if (waitsSince === undefined) {
      return;
    }
    const silent = performance.now() - waitsSince;
    const allowed = patience.idleMs + (bytes / patience.bytesPerSecond) * 1000;
    if (silent > patience.idleMs || waited + silent > allowed) {
      fail(tooSlow());
    }
  }, patience.idleMs / CHECKS);
  timer.unref();
  if (body.destroyed) {
    onClose();
  }
  body.on('data', onData);
  body.on('end', onEnd);
  body.on('error', fail);
  body.on('close', onClose);
  try {
    for (;;) {
      while (waiting.length > 0) {
        yield waiting.shift()!;
      }
      if (failure !== undefined) {
        throw failure;
      }
      if (ended) {
        return;
      }
      waitsSince = performance.now();
      const woken = new Promise<void>((resolve) => (wake = resolve));
      body.resume();
      await woken;
      waited += performance.now() - waitsSince;
      waitsSince = undefined;
    }
  } finally {
    clearInterval(timer);
    body.off('data', onData);
    body.off('end', onEnd);
    body.off('error', fail);
    body.off('close', onClose);
    // From here on a body that is cut off concerns nobody.
    body.on('error', () => undefined);
  }
}

function tooSlow(): Refusal {
  return new Refusal({
    status: 408,
    errorCode: 'REQUEST_TIMEOUT',
    message: 'The body of the request came too slowly: send it again.',
    retryable: true,
  });
}
