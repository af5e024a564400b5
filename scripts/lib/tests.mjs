/**
 * Runs test files with Mocha, several side by side in processes of their own: a test waits more than it computes. What
 * measures memory or time, or fills a machine by itself, lies in test/large/ and runs two at a time, each in a process of
 * its own: with test:every.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { root } from './prepare.mjs';

const mocha = path.join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');

/** The folders of test/ whose files wait: for a browser or for a Node-RED in a process of its own. */
const WAITING = ['contracts', 'e2e', 'runtime'];
const LARGE = 'large';
/** Those whose files compute. */
const COMPUTING = readdirSync(path.join(root, 'test'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory() && ![...WAITING, LARGE].includes(entry.name))
  .map(({ name }) => name);

/**
 * Tests run most code a few times only: V8 compiles it for speed six times later than it would, which takes a tenth less
 * processor time. Not where time and memory are measured, nor on Node 24, which does not know the flag.
 */
const FLAGS = ['--interrupt-budget=400000'].filter(
  (flag) => spawnSync(process.execPath, [flag, '-e', '']).status === 0,
);

/** As many files at a time: three more than there are cores, but not so many that time limits come near. */
const JOBS = Math.min(os.availableParallelism() + 3, 6);
const LARGE_JOBS = 2;

function filesOf(folder) {
  return readdirSync(path.join(root, 'test', folder), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => path.join('test', folder, name));
}

/**
 * The files of these folders in the order in which they begin. Those that wait are dealt among those that compute, so
 * that the cores have work all the time, and over the first two thirds of them, the largest first, so that no long file
 * is left for the end.
 */
function inOrder(folders, without) {
  const filesIn = (kind) =>
    kind
      .filter((folder) => folders.includes(folder))
      .flatMap(filesOf)
      .filter((file) => !without.includes(file));
  const sizeOf = (file) => statSync(path.join(root, file)).size;
  const waiting = filesIn(WAITING).sort((a, b) => sizeOf(b) - sizeOf(a));
  const computing = filesIn(COMPUTING);
  const share = Math.floor((computing.length * 2) / 3 / Math.max(1, waiting.length));
  return [...waiting.flatMap((file) => [file, ...computing.splice(0, share)]), ...computing];
}

/**
 * Hands these arguments to Mocha. `binary` is the Node to run it, with `flags`. With a `title`, what it prints comes under
 * it at the end: for those that run side by side. Answers if all passed.
 */
export async function runMocha(args, options = {}) {
  const { env = process.env, binary = process.execPath, flags = [], title } = options;
  const output = title === undefined ? 'inherit' : 'pipe';
  const child = spawn(binary, [...flags, mocha, ...args], {
    cwd: root,
    stdio: ['inherit', output, output],
    env,
  });
  const printed = title === undefined ? [] : [Buffer.from(`\n${title}\n`)];
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => printed.push(text));
  }
  const [code] = await once(child, 'close');
  process.stdout.write(Buffer.concat(printed));
  return code === 0;
}

/** Runs these files side by side. Answers if all passed. */
async function runBeside(files, args, options, jobs) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tabular-tests-'));
  try {
    // What is made once for all files, as the package that npm installs, is kept here.
    const env = { ...(options.env ?? process.env), TABULAR_TESTS_SHARED: folder };
    return await runMocha(['--parallel', '--jobs', String(jobs), ...args, ...files], { ...options, env });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs the tests of these folders of test/, but for the files of `without`; `args` are further arguments for Mocha.
 * Answers if all passed.
 */
export function runFolders({ folders = [...WAITING, ...COMPUTING], without = [], args = [], env } = {}) {
  return runBeside(inOrder(folders, without), args, { flags: FLAGS, env }, JOBS);
}

/** Runs the files whose properties try fewer cases in npm test, with all of them. Answers if all passed. */
export function runInFull() {
  const files = filesOf('unit').filter((file) =>
    readFileSync(path.join(root, file), 'utf8').includes('/helpers/full-count'),
  );
  const env = { ...process.env, TABULAR_TESTS_IN_FULL: '1' };
  return runBeside(files, [], { flags: FLAGS, env }, JOBS);
}

/** Runs the tests of test/large/. Answers if all passed. */
export function runLarge() {
  return runBeside(filesOf(LARGE), [], {}, LARGE_JOBS);
}
