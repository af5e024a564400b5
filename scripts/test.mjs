/*
 * npm test: installs and builds where that is still to be done, then runs the tests against what ships (dist/). Arguments
 * are Mocha's. Files that are named run one by one in one process, so that a debugger sees all of it.
 */
import { buildOnce, installOnce } from './lib/prepare.mjs';
import { runAll, runMocha } from './lib/tests.mjs';

installOnce();
buildOnce();
const args = process.argv.slice(2);
const passed = await (args.some((arg) => arg.endsWith('.test.ts')) ? runMocha(args) : runAll({ args }));
process.exitCode = passed ? 0 : 1;
