/**
 * Runs test files with Mocha, several side by side in processes of their own: many wait more than they compute. What
 * measures memory or time, or fills a machine by itself, lies in test/large/ and runs two at a time, each in a process of
 * its own: with test:every, as all that takes long does.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';

import { root } from './prepare.mjs';

const mocha = path.join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');

/** The folders of test/ whose files wait: for a browser or for a Node-RED in a process of its own. */
const WAITING = ['contracts', 'e2e', 'runtime'];
/**
 * What npm test leaves to test:every, as each takes more than five seconds of processor time, and all together more than
 * half: walks through the editor, the package installed by npm, each example, brokers, services that are killed or run out of
 * disk, machines that are watched for weeks, fits on many rows. What stays opens and saves each dialog, and sends messages
 * through each node in a real Node-RED. They begin in this order: those of runtime/ wait longest.
 */
const LONG = Object.entries({
  runtime: 'amqp examples fleet install motor programs progress scale-out',
  e2e: 'dashboard editing import keyboard machines models picker statuses task-by-keyboard',
  service:
    'backup bounds closing columns-on-disk command concurrency datasets deleted-folders evicted full-disk ' +
    'killed-in-between leaks lifecycle open-files submitted-fits take-over',
  nodes: 'large take-over',
  unit:
    'anomaly/detector anomaly/pace docs/types learner/explain learner/gaussian learner/hold-out scoring/evaluate ' +
    'scoring/order table/faults table/row-groups watch/bands',
}).flatMap(([folder, names]) =>
  largestFirst(names.split(' ').map((name) => path.join('test', folder, `${name}.test.ts`))),
);
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
/**
 * In npm test, of those that wait, and as many of those that compute. Each kind has processes of its own: in one that only
 * computes the code of the package has run before, and V8 need not compile it again.
 */
const JOBS_OF_KIND = 3;
const LARGE_JOBS = 2;
/** So many files are named at the end of a run. */
const SLOWEST = 12;

function filesOf(folder) {
  return readdirSync(path.join(root, 'test', folder), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => path.join('test', folder, name));
}

/** The order in which files begin: what takes longest is none of the last, beside which the others have ended. */
function largestFirst(files) {
  const sizeOf = (file) => statSync(path.join(root, file)).size;
  return files.toSorted((a, b) => sizeOf(b) - sizeOf(a));
}

/** The files of these folders, one folder after the other. */
function filesIn(folders, without) {
  return folders.flatMap((folder) => largestFirst(filesOf(folder).filter((file) => !without.includes(file))));
}

/** What Mocha printed of the tests that failed, for each run with one. */
const failures = [];

/** Prints what failed once more, below all else: a long run hides it, and CI may keep the last lines only. */
export function printFailures() {
  for (const text of failures) {
    process.stdout.write(`\nFailed, from above:\n${text}\n`);
  }
}

/** From the count of failures on; all that was printed last where Mocha did not come to count. */
function cutFailures(printed) {
  const start = printed.search(/^ +\d+ failing$/m);
  return start === -1 ? printed.split('\n').slice(-40).join('\n') : printed.slice(start);
}

/**
 * Hands these arguments to Mocha. `binary` is the Node to run it, with `flags`. With a `title`, what it prints comes under
 * it at the end: for those that run side by side. Answers if all passed.
 */
export async function runMocha(args, options = {}) {
  const { env = process.env, binary = process.execPath, flags = [], title } = options;
  // Mocha sees a pipe where a person may see a terminal.
  const colour = process.stdout.isTTY ? ['--color'] : [];
  const command = [...flags, mocha, ...colour, ...args];
  const child = spawn(binary, command, { cwd: root, stdio: ['inherit', 'pipe', 'pipe'], env });
  const printed = [];
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (text) => {
      printed.push(text);
      if (title === undefined) {
        process.stdout.write(text);
      }
    });
  }
  const [code] = await once(child, 'close');
  const text = Buffer.concat(printed);
  if (title !== undefined) {
    process.stdout.write(`\n${title}\n${text}`);
  }
  if (code !== 0) {
    failures.push(cutFailures(stripVTControlCharacters(text.toString())));
  }
  return code === 0;
}

/** Says which files took most processor time, of those that a run has written down: one that grows may be for `LONG`. */
function printSlowest(file) {
  const slowest = (existsSync(file) ? readFileSync(file, 'utf8').trim().split('\n') : [])
    .sort((a, b) => parseFloat(b) - parseFloat(a))
    .slice(0, SLOWEST);
  if (slowest.length > 1) {
    console.log(`\nMost processor time, in seconds:\n  ${slowest.join('\n  ')}`);
  }
}

/** Runs groups of files, each in so many processes, side by side. Answers if all passed. */
async function runBeside(groups, args, options) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tabular-tests-'));
  try {
    // What is made once for all files, as the package that npm installs, is kept here.
    const env = { ...(options.env ?? process.env), TABULAR_TESTS_SHARED: folder };
    const passed = await Promise.all(
      groups.map(({ files, jobs, title }) =>
        runMocha(['--parallel', '--jobs', String(jobs), ...args, ...files], { ...options, env, title }),
      ),
    );
    printSlowest(path.join(folder, 'seconds'));
    return passed.every(Boolean);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Runs all tests but long and large ones. `args` are further arguments for Mocha: a pattern may mean a long one. Answers
 * if all passed.
 */
export function runAll({ args = [] } = {}) {
  const hasPattern = args.some((arg) => /^(?:-g|-f|--f?grep)/.test(arg));
  const without = hasPattern ? [] : LONG;
  const groups = [
    { files: filesIn(COMPUTING, without), jobs: JOBS_OF_KIND },
    {
      files: filesIn(WAITING, without),
      jobs: JOBS_OF_KIND,
      title: WAITING.map((name) => `test/${name}/`).join(', '),
    },
  ];
  return runBeside(groups, args, { flags: FLAGS });
}

/** Runs what npm test leaves out, but for large ones. Answers if all passed. */
export function runLong() {
  return runBeside([{ files: LONG, jobs: JOBS }], [], { flags: FLAGS });
}

/** Runs the tests of these folders of test/, which wait, but for the files of `without`. Answers if all passed. */
export function runFolders({ folders, without, env }) {
  return runBeside([{ files: filesIn(folders, without), jobs: JOBS }], [], { flags: FLAGS, env });
}

/** Runs the files whose properties try fewer cases in npm test, with all of them. Answers if all passed. */
export function runInFull() {
  const files = filesOf('unit').filter((file) =>
    readFileSync(path.join(root, file), 'utf8').includes('/helpers/full-count'),
  );
  const env = { ...process.env, TABULAR_TESTS_IN_FULL: '1' };
  return runBeside([{ files, jobs: JOBS }], [], { flags: FLAGS, env });
}

/** Runs the tests of test/large/. Answers if all passed. */
export function runLarge() {
  return runBeside([{ files: filesOf(LARGE), jobs: LARGE_JOBS }], [], {});
}
