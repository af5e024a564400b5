/*
 * Loaded into every process that runs tests: a promise that rejects while nobody waits for it fails the file that is
 * running, and so does a warning of Node that tells of a leak. Mocha alone would lose both.
 */
import { inspect } from 'node:util';

const LEAKS = new Set(['MaxListenersExceededWarning', 'TimeoutNegativeWarning', 'TimeoutOverflowWarning']);
/** What Node says of a file that nobody closed, when it comes upon it: maybe in a later file of the same process. */
const UNCLOSED = /^Closing file descriptor \d+ on garbage collection/;
const found: Error[] = [];

function onRejection(reason: unknown): void {
  // In the message, as Mocha's workers hand on no cause.
  found.push(new Error(`a promise was rejected while nobody waited for it: ${inspect(reason)}`));
}

function onWarning(warning: Error): void {
  if (LEAKS.has(warning.name) || UNCLOSED.test(warning.message)) {
    found.push(warning);
  }
}

function failIfFound(): void {
  const [first] = found.splice(0);
  if (first !== undefined) {
    throw first;
  }
}

export const mochaHooks = {
  beforeAll(): void {
    // Each time: Mocha takes all listeners away between the files of a worker.
    process.on('unhandledRejection', onRejection);
    process.on('warning', onWarning);
  },
  afterEach: failIfFound,
  afterAll(): void {
    process.off('unhandledRejection', onRejection);
    process.off('warning', onWarning);
    failIfFound();
  },
};
