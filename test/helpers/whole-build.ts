/*
 * Loaded into every process that runs tests: the scripts of the service's threads hold the learner as it was when the
 * whole package was built. Where the learner alone has been compiled since then, tests would run against the former one.
 */
import { statSync } from 'node:fs';
import path from 'node:path';

const dist = path.resolve(__dirname, '..', '..', 'dist');
const changed = (file: string): number => statSync(path.join(dist, file)).mtimeMs;

if (changed('learner.tsbuildinfo') > changed('src/service/work/fit/fit-worker.js')) {
  throw new Error('The learner was compiled alone: npm run build, so that the threads have it too.');
}
