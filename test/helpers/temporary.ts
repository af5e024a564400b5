/**
 * Runs work whose temporary files go into this folder, so that its leftovers are told from those of other processes.
 * Node looks at the variable (TMPDIR, TEMP on Windows) each time.
 */
export async function withTemporaryFolder<T>(folder: string, work: () => Promise<T>): Promise<T> {
  const variable = process.platform === 'win32' ? 'TEMP' : 'TMPDIR';
  const before = process.env[variable];
  process.env[variable] = folder;
  try {
    return await work();
  } finally {
    if (before === undefined) {
      Reflect.deleteProperty(process.env, variable);
    } else {
      process.env[variable] = before;
    }
  }
}
