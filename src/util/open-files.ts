import { closeSync, openSync, readFileSync } from 'node:fs';

/** Files that a new thread has open at least: four of its event loop, and what it reads. */
const FILES_OF_A_THREAD = 8;

/**
 * Tries whether a thread could open what it needs. Where its event loop finds no file descriptor, libuv leaves one of those
 * that it had opened behind: some more attempts, and the process has none left for good.
 *
 * @param script the one that the thread will run
 * @throws as `open` does: `EMFILE`, `ENFILE`
 */
export function assertThreadCanOpenFiles(script: string): void {
  const opened: number[] = [];
  try {
    while (opened.length < FILES_OF_A_THREAD) {
      opened.push(openSync(script, 'r'));
    }
  } finally {
    opened.forEach(closeSync);
  }
}

/** How many files and connections this process may have open; Infinity where the system does not tell. */
export function mostOpenFiles(): number {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? [];
    return Number(soft ?? Infinity);
  } catch {
    return Infinity;
  }
}
