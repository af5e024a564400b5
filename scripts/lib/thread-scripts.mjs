/*
 * The scripts of the threads that fit, predict, encode and learn what is usual, each with all that it needs of ours as one
 * file. A thread starts without any module of the one that started it: from the compiler's files it would find, read and
 * compile up to 300.
 */
import { existsSync } from 'node:fs';
import path from 'node:path';

import { buildSync } from 'esbuild';

import { root } from './prepare.mjs';

const source = path.join(root, 'dist', 'src');
const SCRIPTS = [
  'service/work/fit-worker.js',
  'service/work/predict-worker.js',
  'table/encoder/worker.js',
  'anomaly/learn-worker.js',
].map((script) => path.join(source, script));

/** Each takes the place of what the compiler wrote. It is not made small: a stack trace then has lines to look up. */
export function joinThreadScripts({ sourcemap }) {
  buildSync({
    absWorkingDir: root,
    entryPoints: SCRIPTS.filter((script) => existsSync(script)),
    outdir: source,
    outbase: source,
    allowOverwrite: true,
    bundle: true,
    platform: 'node',
    target: 'node20',
    packages: 'external',
    sourcemap,
    sourcesContent: false,
    logLevel: 'warning',
  });
}
