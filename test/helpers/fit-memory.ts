import { readFileSync } from 'node:fs';

import type { FeatureColumn } from '../../dist/src/learner';
import { Random } from '../doors/learner';
import { trainWithHelpers } from '../doors/service';

/* Fits a table of 20 columns in this process and prints the peak of its memory and the bytes of the columns. */

const rows = Number(process.argv[2]);
const random = new Random(1);

/** Nothing but the fit itself may hold the columns. */
function makeFeatures(): FeatureColumn[] {
  return Array.from({ length: 20 }, (_, i): FeatureColumn => {
    const name = `c${i}`;
    if (i < 12) {
      return { name, kind: 'number', values: new Float64Array(rows).map(() => random.uniform()) };
    }
    const dictionary = Array.from({ length: 10 * i }, (_word, k) => `v${k}`);
    return {
      name,
      kind: 'text',
      codes: new Int32Array(rows).map(() => random.below(dictionary.length)),
      dictionary,
    };
  });
}

/** Of this process alone: what `getrusage` answers begins, on Linux, with the size of the process it was forked from. */
function peakBytes(): number {
  if (process.platform !== 'linux') {
    return process.resourceUsage().maxRSS * 1024;
  }
  const [, kilobytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync('/proc/self/status', 'utf8'))!;
  return Number(kilobytes) * 1024;
}

async function main(): Promise<void> {
  const before = process.memoryUsage().rss;
  const codes = new Int32Array(rows).map(() => random.below(2));
  const features = makeFeatures();
  const bytes = rows * (12 * 8 + 8 * 4 + 4);
  const options = { n_estimators: 2, workBudget: 3e8 };
  await trainWithHelpers(
    { features, target: { task: 'classification', classes: ['a', 'b'], codes }, options },
    [],
    () => undefined,
  );
  const peak = peakBytes();
  console.log(JSON.stringify({ bytes, above: peak - before, left: features.length }));
}

void main();
