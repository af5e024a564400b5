/*
 * Loaded into every process that runs tests: writes down the processor time of each file, with that of the child processes
 * that have ended, for scripts/lib/tests.mjs, which says what has come to take long.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import path from 'node:path';

const folder = process.env.TABULAR_TESTS_SHARED;
/** Those of Linux count in hundredths of a second: user and system, of the process and of its children. */
const STAT = '/proc/self/stat';
const TIMES = [11, 15] as const;

function seconds(): number {
  if (process.platform !== 'linux') {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  // The name of the process, in brackets, may have spaces.
  const times = readFileSync(STAT, 'utf8').split(') ').at(-1)!.split(' ');
  return times.slice(...TIMES).reduce((sum, time) => sum + Number(time) / 100, 0);
}

let before = 0;

export const mochaHooks =
  folder === undefined
    ? {}
    : {
        beforeAll(): void {
          before = seconds();
        },
        afterAll(this: Mocha.Context): void {
          const file = path.relative(process.cwd(), this.test!.parent!.suites[0]?.file ?? '');
          appendFileSync(path.join(folder, 'seconds'), `${(seconds() - before).toFixed(1)} ${file}\n`);
        },
      };
