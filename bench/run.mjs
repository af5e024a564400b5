/*
 * npm run bench -- <name> [arguments] [--save]: builds, installs the peers of bench/ where they are needed, and measures.
 * With --save the tables are kept beside the bench (results.mjs).
 */
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const here = import.meta.dirname;
const root = path.join(here, '..');

const benches = {
  tables: { file: 'tables.mjs', peers: true },
  learner: { file: 'learner/learner.mjs', peers: true },
  times: { file: 'learner/times.mjs', peers: false },
  many: { file: 'learner/many/many.mjs', peers: false },
  told: { file: 'learner/told.mjs', peers: false },
  copies: { file: 'learner/copies.mjs', peers: false },
  published: { file: 'learner/many/published.mjs', peers: false },
  why: { file: 'why/why.mjs', peers: false },
  stream: { file: 'stream/stream.ts', peers: false },
  explained: { file: 'stream/explained.ts', peers: false },
  path: { file: 'stream/path.ts', peers: false },
  series: { file: 'series/series.mjs', peers: false },
  recipes: { file: 'series/recipes.mjs', peers: false },
  takeover: { file: 'takeover/takeover.mjs', peers: false },
  forecasts: { file: 'series/forecasts.mjs', peers: false },
  unseen: { file: 'series/unseen.mjs', peers: false },
  ahead: { file: 'series/known-ahead.mjs', peers: false },
  load: { file: 'series/load.mjs', peers: false },
  messages: { file: 'series/messages.mjs', peers: false },
  watch: { file: 'watch/watch.mjs', peers: false },
  fleet: { file: 'fleet/fleet.ts', peers: false },
  advise: { file: 'advise/advise.mjs', peers: false },
  'advise-causes': { file: 'advise/causes.mjs', peers: false },
  unlike: { file: 'unlike/unlike.mjs', peers: false },
  anomaly: { file: 'anomaly/anomaly.ts', peers: false },
  public: { file: 'anomaly/public.ts', peers: false },
  servers: { file: 'anomaly/servers.ts', peers: false },
  histories: { file: 'anomaly/histories.ts', peers: false },
  minutes: { file: 'anomaly/minutes.ts', peers: false },
  hour: { file: 'anomaly/hour.ts', peers: false },
};

const [name, ...given] = process.argv.slice(2);
const args = given.filter((one) => one !== '--save');
const bench = Object.hasOwn(benches, name ?? '') ? benches[name] : undefined;
if (bench === undefined) {
  console.error(`Usage: npm run bench -- <${Object.keys(benches).join('|')}> [arguments]`);
  process.exit(1);
}

function run(command, parameters, options) {
  const { status } = spawnSync(command, parameters, { stdio: 'inherit', ...options });
  if (status !== 0) {
    process.exit(status ?? 1);
  }
}

run(process.execPath, [path.join(root, 'scripts', 'build.mjs')], { cwd: root });
if (bench.peers && !existsSync(path.join(here, 'node_modules'))) {
  run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: here, shell: process.platform === 'win32' });
}
// Not in the lock file: some registries lack builds of it for some platforms, and npm ci would then refuse all peers.
// 0.24 is the last whose binaries run on Node 20. Without it the bench says so and goes on.
if (name === 'tables' && !existsSync(path.join(here, 'node_modules', 'nodejs-polars'))) {
  const wanted = [
    'install',
    '--no-save',
    '--no-package-lock',
    '--no-audit',
    '--no-fund',
    'nodejs-polars@0.24.0',
  ];
  spawnSync('npm', wanted, { cwd: here, stdio: 'ignore', shell: process.platform === 'win32' });
}
const loader = pathToFileURL(createRequire(import.meta.url).resolve('tsx')).href;
const env = { ...process.env, ...(args.length < given.length && { BENCH_SAVE: '1' }) };
run(process.execPath, ['--import', loader, path.join(here, bench.file), ...args], { cwd: root, env });
