import { readFileSync } from 'node:fs';

/** Milliseconds of the processor that this thread has had; those of the clock where the system does not count them. */
function own(): number {
  try {
    return Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[0]) / 1e6;
  } catch {
    return performance.now();
  }
}

/**
 * Looks how long this thread's own work holds its event loop at a time. Time in which the machine gave the processor to
 * others does not count, so a busy machine does not make it longer.
 *
 * @returns to be called at the end: milliseconds of the longest turn, and of the one that so many percent do not exceed
 */
export function watchLoop(): () => { longest: number; percentile: (percent: number) => number } {
  const turns: number[] = [];
  let last = own();
  const look = (): void => {
    const now = own();
    turns.push(now - last);
    last = now;
  };
  const timer = setInterval(look, 5);
  return () => {
    clearInterval(timer);
    look();
    turns.sort((a, b) => a - b);
    return {
      longest: turns.at(-1)!,
      percentile: (percent) => turns[Math.ceil((turns.length * percent) / 100) - 1]!,
    };
  };
}
