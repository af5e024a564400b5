/**
 * Runs test files with Mocha, several side by side in processes of their own: a test waits more than it computes. What
 * measures memory or time, or fills a machine by itself, lies in test/large/ and runs after the others, one by one.
 */
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { root } from './prepare.mjs';

const mocha = path.join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');

/** The folders of test/ whose files run side by side, slow ones first, so that no long file is left for the end. */
const BESIDE = ['e2e', 'runtime', 'service', 'nodes', 'unit'];
const ALONE = 'large';

/** As many files at a time: one more than there are cores, but not so many that time limits come near. */
const jobs = String(Math.min(os.availableParallelism() + 1, 5));

function filesOf(folder) {
  return readdirSync(path.join(root, 'test', folder), { recursive: true })
    .filter((name) => name.endsWith('.test.ts'))
    .sort()
    .map((name) => path.join('test', folder, name));
}

/** Hands these arguments to Mocha. `binary` is the Node to run it. Answers if all passed. */
export function runMocha(args, { env = process.env, binary = process.execPath } = {}) {
  return spawnSync(binary, [mocha, ...args], { cwd: root, stdio: 'inherit', env }).status === 0;
}

/** Runs the tests of these folders of test/; `args` are further arguments for Mocha. Answers if all passed. */
export function runFolders(folders = [...BESIDE, ALONE], args = [], options = {}) {
  const beside = BESIDE.filter((folder) => folders.includes(folder)).flatMap(filesOf);
  const alone = folders.includes(ALONE) ? filesOf(ALONE) : [];
  const first = beside.length === 0 || runMocha(['--parallel', '--jobs', jobs, ...args, ...beside], options);
  const second = alone.length === 0 || runMocha([...args, ...alone], options);
  return first && second;
}
