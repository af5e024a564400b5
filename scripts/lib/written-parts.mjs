import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { root } from './prepare.mjs';

export const LANGUAGES = ['en-US', 'de', 'ja'];

/**
 * Writes parts of files: `place` is the part to replace, a pattern; `text` what is to be there. With --check nothing is
 * written, and a part that would change is an error.
 */
export function writeParts(parts, command) {
  const check = process.argv.includes('--check');
  const stale = new Set();
  for (const { file, place, text } of parts) {
    const full = path.join(root, file);
    const now = readFileSync(full, 'utf8');
    if (!place.test(now)) {
      throw new Error(`${file} has no place for what ${command} writes: ${place.source}`);
    }
    const next = now.replace(place, () => text);
    if (next === now) {
      continue;
    }
    stale.add(file);
    if (!check) {
      writeFileSync(full, next);
    }
  }
  for (const file of stale) {
    console.log(`${file} ${check ? `is not what ${command} writes` : 'written'}`);
  }
  process.exitCode = stale.size > 0 && check ? 1 : 0;
}
