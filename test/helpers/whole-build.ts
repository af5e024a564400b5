/*
 * Loaded into every process that runs tests: the scripts of the service's threads hold the learner as it was when the
 * whole package was built. Where the learner alone has been compiled since then, tests would run against the former one.
 */
import { readdirSync, statSync } from 'node:fs';
import path from 'node:path';

const dist = path.resolve(__dirname, '..', '..', 'dist', 'src');
const writtenAt = (file: string): number => statSync(path.join(dist, file)).mtimeMs;

const joined = writtenAt('service/work/fit-worker.js');
for (const folder of ['learner', 'metrics']) {
  for (const file of readdirSync(path.join(dist, folder), { recursive: true, encoding: 'utf8' })) {
    if (file.endsWith('.js') && writtenAt(path.join(folder, file)) > joined) {
      throw new Error('The learner was compiled alone: npm run build, so that the threads have it too.');
    }
  }
}
