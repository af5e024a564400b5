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
