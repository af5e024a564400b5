/*
 * npm run errors: writes the README's table of error codes from errors.json, in the order of the codes in
 * src/wire/service-error.ts. With --check it only says that the table is not as it would be written.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { root } from '../lib/prepare.mjs';
import { errors } from './pages.mjs';

const TABLE = /(?<=^\| code \|.*\n\|---\|---\|\n)(?:\| `[a-z._]+` \| .* \|\n)+/m;

const file = path.join(root, 'README.md');
const now = readFileSync(file, 'utf8');
if (!TABLE.test(now)) {
  throw new Error('README.md has no table of error codes.');
}
const rows = Object.entries(errors).map(([code, { readme }]) => `| \`${code}\` | ${readme} |\n`);
const next = now.replace(TABLE, () => rows.join(''));
if (next !== now && process.argv.includes('--check')) {
  console.log('README.md is not what npm run errors writes.');
  process.exitCode = 1;
} else if (next !== now) {
  writeFileSync(file, next);
  console.log('README.md written.');
}
