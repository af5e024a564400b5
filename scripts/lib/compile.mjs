import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';

import { root } from './prepare.mjs';

/** TypeScript 7, which is native and several times as fast; what reads our imports still needs 6. */
const compiler = createRequire(import.meta.url).resolve('typescript-7/package.json');

/** Compiles a project of TypeScript: a folder with a tsconfig.json. Answers if there was no error. */
export function compile(project, ...options) {
  const command = path.join(path.dirname(compiler), 'bin', 'tsc');
  const done = spawnSync(process.execPath, [command, '-p', path.join(root, project), ...options], {
    stdio: 'inherit',
    // The compiler is in Go: collected less often it takes a third less processor time, and a twentieth more memory.
    env: { ...process.env, GOGC: '400' },
  });
  return done.status === 0;
}
