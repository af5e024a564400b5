import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import path from 'node:path';

const nodes = path.resolve(__dirname, '../../dist/nodes');

/** Milliseconds that requiring all node files takes in a fresh process, and what it loads of others. */
function load(): { ms: number; foreign: string[] } {
  const script = `
    const start = performance.now();
    for (const name of ['config', 'limits', 'upload', 'series', 'fit', 'predict', 'watch', 'cost']) require(${JSON.stringify(nodes)} + '/' + name + '.js');
    const ms = performance.now() - start;
    const foreign = Object.keys(require.cache).filter((file) => file.includes('node_modules'));
    console.log(JSON.stringify({ ms, foreign }));`;
  return JSON.parse(execFileSync(process.execPath, ['-e', script], { encoding: 'utf8' })) as ReturnType<
    typeof load
  >;
}

describe('loading all nodes', () => {
  it('loads no dependency before a message needs it', () => {
    assert.deepEqual(load().foreign, []);
  });

  it('takes at most 60 ms (the best of five, since other work shares the machine)', function () {
    this.timeout(30_000);
    const times = Array.from({ length: 5 }, () => load().ms);
    assert.ok(Math.min(...times) <= 60, `took ${times.map((ms) => ms.toFixed(0)).join(', ')} ms`);
  });
});
