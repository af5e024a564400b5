/* Mocha's spec reporter, which also writes the files of the tests and hooks that failed, as JSON, to `failures`. */
const { writeFileSync } = require('node:fs');
const { reporters, Runner } = require('mocha');

module.exports = class SpecAndFailures extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const files = new Set();
    runner.on(Runner.constants.EVENT_TEST_FAIL, (failed) => files.add(failed.file));
    runner.once(Runner.constants.EVENT_RUN_END, () => {
      writeFileSync(options.reporterOptions.failures, JSON.stringify([...files]));
    });
  }
};
