import { rmSync } from 'node:fs';

const atExit: (() => void)[] = [];

/**
 * Does this when the process ends, the newest first: what a test that failed, or that hands its folder to another process,
 * leaves behind is gone with it.
 */
export function whenProcessEnds(work: () => void): void {
  if (atExit.length === 0) {
    process.once('exit', () => atExit.reverse().forEach((one) => one()));
  }
  atExit.push(work);
}

/** Removes this folder when the process ends, where it is still there. */
export function removedAtEnd(folder: string): string {
  whenProcessEnds(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

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
