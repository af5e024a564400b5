import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { promisify } from 'node:util';

import { loadInParts } from '../../doors/util';

const failing = (code: string) => Object.assign(new Error(code), { code });

describe('Loading a package in parts', () => {
  it('loads one after the other and lets the event loop have a turn after each', async () => {
    const seen: string[] = [];
    const turns = setInterval(() => undefined, 1);
    const each = (name: string): void => {
      seen.push(name);
      setImmediate(() => seen.push(`turn after ${name}`));
    };
    await loadInParts(each, ['a', 'b']);
    clearInterval(turns);
    assert.deepEqual(seen, ['a', 'turn after a', 'b', 'turn after b']);
  });

  it('passes over what another version of the package does not have, and nothing else', async () => {
    const seen: string[] = [];
    const load = (name: string): void => {
      seen.push(name);
      if (name !== 'whole') {
        throw failing(name);
      }
    };
    await loadInParts(load, ['MODULE_NOT_FOUND', 'ERR_PACKAGE_PATH_NOT_EXPORTED', 'whole']);
    assert.equal(seen.length, 3);
    await assert.rejects(loadInParts(load, ['EMFILE', 'whole']), { code: 'EMFILE' });
  });

  it('loads the HTTP client and the schemas with fewer than 105 files in one turn', async () => {
    const entry = path.resolve(__dirname, '../../../dist/src/client');
    const script = `
      const { ServiceClient } = require(${JSON.stringify(entry)});
      const client = new ServiceClient({ baseUrl: 'http://127.0.0.1:9', token: 't' });
      const loaded = () => Object.keys(require.cache).length;
      const first = loaded();
      let last = first, most = 0, running = true;
      const turn = () => { most = Math.max(most, loaded() - last); last = loaded(); if (running) setImmediate(turn); };
      setImmediate(turn);
      client.warm().then(() => { running = false; console.log(JSON.stringify([loaded() - first, most])); });`;
    const { stdout } = await promisify(execFile)(process.execPath, ['-e', script], { timeout: 30_000 });
    const [all, most] = JSON.parse(stdout) as [number, number];
    assert.ok(all > 300, `${all} files are loaded`);
    assert.ok(most < 105, `${most} files in one turn`);
  });
});
