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

/** A function that a file of kernels exports: its comment, name, parameters and result. */
const EXPORTED =
  /(?:^\/\*\*(?:(?!\*\/)[^])*\*\/\n)?^export function (?<name>\w+)\((?<parameters>[^)]*)\): (?<result>\w+)/gm;

/** Writes `bytes.d.ts`, beside the kernels and in dist/: their bytes, and the types of what `index.as.ts` exports. */
export function declareKernels() {
  const read = (file) => readFileSync(path.join(root, FOLDER, file), 'utf8');
  const functions = Array.from(
    read('index.as.ts').matchAll(/^export (?<names>.*) from '\.\/(?<file>.*)';$/gm),
    ({ groups: { names, file } }) =>
      Array.from(read(`${file}.ts`).matchAll(EXPORTED))
        .filter(({ groups: { name } }) => names === '*' || names.match(/\w+/g).includes(name))
        .map(({ 0: text, groups: { name, parameters, result } }) => {
          const comment = text.slice(0, text.indexOf('export function'));
          const own = parameters.replaceAll(/: \w+/g, ': number').replaceAll(/\s+/g, ' ').trim();
          return `${comment}${name}: (${own}) => ${result === 'void' ? 'void' : 'number'};\n`;
        }),
  );
  const text = [
    '/** Written by the build from index.as.ts: the kernels as WebAssembly. */\nexport const bytes: Uint8Array;\n',
    `export interface Kernels {\n${functions.flat().join('')}}\n`,
  ].join('');
  for (const folder of [path.join(root, FOLDER), path.join(root, 'dist', FOLDER)]) {
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'bytes.d.ts'), text);
  }
}

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
