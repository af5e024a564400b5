/** What scripts/lib/tests.mjs told V8 of this process, for a Node that a test starts; no flag of a debugger. */
export const OWN_FLAGS = process.execArgv.filter((flag) => flag.startsWith('--interrupt-budget='));
