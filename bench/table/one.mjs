/* One encoder in a process of its own, started by ../tables.mjs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { encoders } from './encoders.mjs';
import { makeRows } from './rows.mjs';

const [, , name, count] = process.argv;
const folder = mkdtempSync(path.join(tmpdir(), 'bench-tables-'));

/** Peak resident memory in MB since the last call; Linux only, elsewhere the present one. */
function peak() {
  try {
    const kilobytes = Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]);
    writeFileSync('/proc/self/clear_refs', '5');
    return kilobytes / 1024;
  } catch {
    return process.memoryUsage().rss / 2 ** 20;
  }
}

try {
  const rows = makeRows(Number(count));
  const encode = await encoders[name](path.join(folder, 'warm'));
  await encode(rows.slice(0, 5000));
  globalThis.gc();
  await new Promise((resolve) => setTimeout(resolve, 200));
  globalThis.gc();
  const before = process.memoryUsage().rss / 2 ** 20;
  peak();
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  // The first delay counts only from a turn that the monitor has seen.
  await new Promise((resolve) => setTimeout(resolve, 20));
  const start = performance.now();
  const bytes = await encode(rows, path.join(folder, 'file'));
  const seconds = (performance.now() - start) / 1000;
  await new Promise((resolve) => setTimeout(resolve, 20));
  delay.disable();
  const result = {
    seconds,
    bytes,
    loopMax: delay.max / 1e6,
    loopP99: delay.percentile(99) / 1e6,
    above: peak() - before,
  };
  process.send(result, () => process.exit(0));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
