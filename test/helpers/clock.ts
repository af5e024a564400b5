interface Timer {
  at: number;
  everyMs: number | undefined;
  run: () => void;
}

/**
 * Stops the clock for each test of the suite that calls this: timers of the global functions, and `performance.now`, go
 * on by `pass` alone. What is imported from node:timers, and what other threads and sockets do, takes its real time.
 */
export function stoppedClock(): { pass(ms: number): void } {
  const real = { setTimeout, clearTimeout, setInterval, clearInterval };
  let now = 0;
  let timers = new Set<Timer>();

  const set = (run: () => void, ms: number, everyMs?: number) => {
    const timer: Timer = { at: now + ms, everyMs, run };
    timers.add(timer);
    const handle = Object.assign(timer, { ref: () => handle, unref: () => handle, hasRef: () => true });
    return handle;
  };
  const clear = (timer: Timer): void => void timers.delete(timer);
  const stopped = {
    setTimeout: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      set(() => run(...args), ms),
    setInterval: (run: (...args: unknown[]) => void, ms = 0, ...args: unknown[]) =>
      set(() => run(...args), ms, ms),
    clearTimeout: clear,
    clearInterval: clear,
  };

  beforeEach(() => {
    now = 0;
    timers = new Set();
    Object.assign(globalThis, stopped);
    performance.now = () => now;
  });
  afterEach(() => {
    Object.assign(globalThis, real);
    // It stands in its prototype.
    delete (performance as { now?: () => number }).now;
  });

  return {
    pass(ms) {
      const end = now + ms;
      for (;;) {
        const [next] = [...timers].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at);
        if (next === undefined) {
          break;
        }
        now = next.at;
        timers.delete(next);
        if (next.everyMs !== undefined) {
          next.at = now + Math.max(1, next.everyMs);
          timers.add(next);
        }
        next.run();
      }
      now = end;
    },
  };
}

/** Tells the processor time that this process has spent since, in milliseconds: what else runs on the machine has no part in it. */
export function cpuWatch(): () => number {
  const begun = process.cpuUsage();
  return () => {
    const { user, system } = process.cpuUsage(begun);
    return (user + system) / 1000;
  };
}
