/*
 * The learner's kernels: AssemblyScript compiled to WebAssembly with SIMD. The bytes become a module of their own beside
 * what the TypeScript compiler writes, so that the scripts of threads hold them too.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { root } from './prepare.mjs';

const compiler = fileURLToPath(import.meta.resolve('assemblyscript'));
const FOLDER = path.join('src', 'learner', 'kernels');

/** Writes `dist/src/learner/kernels/bytes.js`, which `bytes.d.ts` declares. Answers if there was no error. */
export function compileKernels() {
  const folder = mkdtempSync(path.join(tmpdir(), 'kernels-'));
  const compiled = path.join(folder, 'kernels.wasm');
  const done = spawnSync(
    process.execPath,
    [
      path.join(path.dirname(compiler), '..', 'bin', 'asc.js'),
      path.posix.join(...FOLDER.split(path.sep), 'index.as.ts'),
      ...['-O3', '--noAssert', '--enable', 'simd,threads', '--runtime', 'stub', '--use', 'abort='],
      // Shared memory grows without detaching the arrays in it. Its limit is that of 32-bit addresses.
      ...['--importMemory', '--sharedMemory', '--maximumMemory', '65536', '--outFile', compiled],
      // Vectors are passed between kernels alone, and addresses have 32 bits.
      ...['--disableWarning', '112', '--disableWarning', '201'],
    ],
    { cwd: root, stdio: ['ignore', 2, 'inherit'] },
  );
  if (done.status === 0) {
    const dist = path.join(root, 'dist', FOLDER);
    mkdirSync(dist, { recursive: true });
    const bytes = readFileSync(compiled).toString('base64');
    writeFileSync(
      path.join(dist, 'bytes.js'),
      `'use strict';\nexports.bytes = new Uint8Array(Buffer.from('${bytes}', 'base64'));\n`,
    );
  }
  rmSync(folder, { recursive: true });
  return done.status === 0;
}
