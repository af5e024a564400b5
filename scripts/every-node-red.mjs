/*
 * npm run test:every: the tests of test/large/, which npm test leaves out; then the runtime tests (the packed package in a
 * real Node-RED) and those in a browser, on the other Node-RED and Node versions that users have; Node-RED 5 brings a dark
 * theme. The learner's golden hashes are held against each Node too: the same table and seed give the same bits on all of
 * them.
 * The npm packages node-<platform>-<arch> carry Node's own binaries.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { buildOnce, installOnce, npm } from './lib/prepare.mjs';
import { runFolders, runLarge, runMocha } from './lib/tests.mjs';

const PAIRS = [
  { node: '22', nodeRed: '4.1' },
  { node: '24', nodeRed: '5' },
];

installOnce();
buildOnce();

const system = process.platform === 'win32' ? 'win' : process.platform;
const binaryPackage = `node-${system}-${process.arch}`;
let failed = runLarge() ? 0 : 1;
for (const pair of PAIRS) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tabular-every-'));
  try {
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'every', private: true }));
    const wanted = [`${binaryPackage}@${pair.node}`, `node-red@~${pair.nodeRed}`];
    // The binary is for the tests alone: Node-RED's engines are checked against the Node that runs npm.
    npm(folder, 'install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', ...wanted);
    const binary = [path.join('bin', 'node'), 'node.exe']
      .map((name) => path.join(folder, 'node_modules', binaryPackage, name))
      .find((file) => existsSync(file));
    console.log(`\nNode-RED ${pair.nodeRed} on Node ${pair.node}`);
    const env = {
      ...process.env,
      NODE_BINARY: binary,
      NODE_RED: path.join(folder, 'node_modules', 'node-red'),
    };
    if (!runMocha(['test/unit/learner/golden.test.ts'], { env, binary })) {
      failed += 1;
    }
    if (!runFolders(['runtime', 'e2e'], [], { env })) {
      failed += 1;
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed ? 1 : 0;
