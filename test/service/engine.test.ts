import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { root } from '../helpers/node-red';
import { removedAtEnd } from '../helpers/temporary';

describe('the embedded service on an engine without WebAssembly', () => {
  it('does not start, says why, and leaves its folder alone', () => {
    const folder = removedAtEnd(mkdtempSync(path.join(os.tmpdir(), 'tabular-engine-')));
    const start = `
      const { startService } = require(${JSON.stringify(path.join(root, 'dist', 'src', 'service'))});
      startService({ dataDir: ${JSON.stringify(folder)} }).then(
        () => console.log('started'),
        ({ code, message }) => console.log(JSON.stringify({ code, message })),
      );
    `;
    const said = execFileSync(process.execPath, ['--no-expose-wasm', '-e', start], { encoding: 'utf8' });
    const { code, message } = JSON.parse(said) as { code: string; message: string };
    assert.equal(code, 'engine.unsupported');
    assert.match(message, /WebAssembly with SIMD.*SSE4\.1.*NEON.*--jitless.*on-premises/);
    assert.deepEqual(readdirSync(folder), []);
  });
});
