import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

const script = path.join(__dirname, '..', '..', 'helpers', 'fit-memory.ts');

describe('Memory of a fit', () => {
  it('stays within three times the columns that it is given, and lets go of their values', async () => {
    const run = promisify(execFile)(process.execPath, ['--import', 'tsx', script, '400000']);
    const { bytes, above, left } = JSON.parse((await run).stdout) as Record<string, number>;
    assert.ok(above! < 3 * bytes!, `${above} bytes above idle for ${bytes} bytes of columns`);
    assert.equal(left, 0);
  });
});
