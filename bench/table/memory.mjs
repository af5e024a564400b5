import { readFileSync, writeFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Peak resident memory in MB since the last call; Linux only, elsewhere the present one. */
export function peak() {
  try {
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    writeFileSync('/proc/self/clear_refs', '5');
    return kilobytes / 1024;
  } catch {
    return process.memoryUsage().rss / 2 ** 20;
  }
}

/** Runs the work: seconds, event-loop delay in ms, peak memory in MB above that before it, and its result. */
export async function measured(work) {
  globalThis.gc();
  await sleep(200);
  globalThis.gc();
  const before = process.memoryUsage().rss / 2 ** 20;
  peak();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // The first delay counts only from a turn that the monitor has seen.
  await sleep(20);
  const start = performance.now();
  const result = await work();
  const seconds = (performance.now() - start) / 1000;
  await sleep(20);
  delay.disable();
  return {
    seconds,
    loopMax: delay.max / 1e6,
    loopP99: delay.percentile(99) / 1e6,
    above: peak() - before,
    result,
  };
}
