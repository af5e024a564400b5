/*
 * npm test: installs and builds where that is still to be done, then runs the tests against what ships (dist/). Arguments
 * are Mocha's. Files that are named run one by one in one process, so that a debugger sees all of it.
 */
import { buildOnce, installOnce } from './lib/prepare.mjs';
import { printFailures, runAll, runMocha } from './lib/tests.mjs';

await installOnce();
await buildOnce();
const args = process.argv.slice(2);
const named = args.some((arg) => arg.endsWith('.test.ts'));
const passed = await (named ? runMocha(args) : runAll({ args }));
if (!named) {
  printFailures();
}
process.exitCode = passed ? 0 : 1;
