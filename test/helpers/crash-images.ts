/*
 * What a kill -9 would leave on disk, at every step: before each change of a file in this process its folders are
 * copied. Bytes that a file system has been given survive the death of the process that wrote them.
 */
import fs, { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';

import { beforeChanges } from './before-changes';

export interface CrashImage {
  folder: string;
  /** The change that had not been made yet. */
  before: string;
}

/**
 * Runs work and answers the images of a folder before each change in it, and after the last, those that are alike once.
 *
 * @param into folder that the images go into
 */
export async function crashImages<Result>(
  folder: string,
  into: string,
  work: () => Promise<Result>,
): Promise<{ images: CrashImage[]; result: Result }> {
  const images: CrashImage[] = [];
  let known = '';
  let isCopying = false;
  const take = (before: string): void => {
    const state = stateOf(folder);
    if (isCopying || state === known) {
      return;
    }
    isCopying = true;
    known = state;
    const image = path.join(into, `${images.length}`);
    copyFolder(folder, image);
    images.push({ folder: image, before });
    isCopying = false;
  };
  const restore = beforeChanges(folder, take);
  try {
    const result = await work();
    take('the end');
    return { images, result };
  } finally {
    restore();
  }
}

const { mkdirSync, writeFileSync } = fs;

/** Other threads may remove files meanwhile. */
function copyFolder(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, copy] = [path.join(from, entry.name), path.join(to, entry.name)];
    try {
      if (entry.isDirectory()) {
        copyFolder(source, copy);
      } else {
        writeFileSync(copy, readFileSync(source), { mode: 0o600 });
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') {
        throw error;
      }
    }
  }
}

/** Names, sizes and times of all files: what tells one state from another. */
function stateOf(folder: string): string {
  if (!existsSync(folder)) {
    return '';
  }
  return namesIn(folder)
    .map((name) => {
      const stat = statSync(path.join(folder, name), { throwIfNoEntry: false });
      return stat?.isFile() === true ? `${name} ${stat.size} ${stat.mtimeMs}` : '';
    })
    .sort()
    .join('\n');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    // A folder in it was removed meanwhile.
    return namesIn(folder);
  }
}
