/* One encoder in a process of its own, started by ../tables.mjs. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import { encoders } from './encoders.mjs';
import { measured } from './memory.mjs';
import { makeRows } from './rows.mjs';

const [, , name, count] = process.argv;
const folder = mkdtempSync(path.join(tmpdir(), 'bench-tables-'));

try {
  const rows = makeRows(Number(count));
  const encode = await encoders[name](path.join(folder, 'warm'));
  await encode(rows.slice(0, 5000));
  const { result: bytes, ...figures } = await measured(() => encode(rows, path.join(folder, 'file')));
  process.send({ ...figures, bytes }, () => process.exit(0));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
