/*
 * parquet-wasm runs its asynchronous work as tasks of their own: where one traps, the error is nobody's, the promise
 * that it should have settled stays open, and the thread would end.
 */

const underWay = new Set<(error: Error) => void>();

/** What the work answers, or the `WebAssembly.RuntimeError` of a trap in this thread while it was under way. */
export async function untilTrap<T>(work: Promise<T>): Promise<T> {
  let onTrap: (error: Error) => void = () => undefined;
  const trap = new Promise<never>((_, reject) => {
    onTrap = reject;
  });
  if (underWay.size === 0) {
    process.on('uncaughtException', settle);
  }
  underWay.add(onTrap);
  try {
    return await Promise.race([work, trap]);
  } finally {
    underWay.delete(onTrap);
    if (underWay.size === 0) {
      process.off('uncaughtException', settle);
    }
  }
}

function settle(error: Error): void {
  if (!(error instanceof WebAssembly.RuntimeError)) {
    throw error;
  }
  for (const onTrap of underWay) {
    onTrap(error);
  }
}
