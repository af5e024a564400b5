/** A controller that aborts with any of the signals. `unlink` frees the listeners, which AbortSignal.any keeps. */
export function linkedController(...signals: (AbortSignal | undefined)[]): {
  controller: AbortController;
  unlink: () => void;
} {
  const controller = new AbortController();
  const abort = (): void => controller.abort();
  for (const signal of signals) {
    if (signal?.aborted === true) {
      controller.abort();
    }
    signal?.addEventListener('abort', abort, { once: true });
  }
  return {
    controller,
    unlink: () => {
      for (const signal of signals) {
        signal?.removeEventListener('abort', abort);
      }
    },
  };
}

/** The promise's result, unless the signal aborts first: for work that others share, so that it cannot be aborted. */
export async function untilAborted<Result>(
  promise: Promise<Result>,
  signal: AbortSignal | undefined,
): Promise<Result> {
  if (signal === undefined) {
    return promise;
  }
  let onAbort = (): void => undefined;
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(new DOMException('This operation was aborted', 'AbortError'));
    if (signal.aborted) {
      onAbort();
    } else {
      signal.addEventListener('abort', onAbort, { once: true });
    }
  });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener('abort', onAbort);
  }
}
