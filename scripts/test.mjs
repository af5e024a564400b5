/* npm test: installs and builds where that is still to be done, then runs every test against what ships (dist/). */
import { spawnSync } from 'node:child_process';
import path from 'node:path';

import { buildOnce, installOnce, root } from './lib/prepare.mjs';

installOnce();
buildOnce();
const mocha = path.join(root, 'node_modules', 'mocha', 'bin', 'mocha.js');
const args = process.argv.slice(2);
const spec = args.some((arg) => arg.endsWith('.test.ts')) ? [] : ['test/**/*.test.ts'];
const done = spawnSync(process.execPath, [mocha, ...args, ...spec], { cwd: root, stdio: 'inherit' });
process.exitCode = done.status ?? 1;
