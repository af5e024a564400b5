/** What scripts/lib/tests.mjs told V8 of this process, for a service that a test starts; no flag of a debugger. */
export const OWN_FLAGS = process.execArgv.filter((flag) => flag.startsWith('--interrupt-budget='));

/** The same for any Node: another version may not know the flag, and would end at once. */
export const flagsFor = (binary: string): string[] => (binary === process.execPath ? OWN_FLAGS : []);
