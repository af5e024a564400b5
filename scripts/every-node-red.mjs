/*
 * npm run test:every: what npm test leaves out, which runs everything on Node 20 with Node-RED 4.1 where that Node is
 * yours. The tests of test/large/, and properties with all their cases; then the runtime tests (the packed package in a
 * real Node-RED) and those in a browser on the newest Node and Node-RED, which brings a dark theme. The learner's golden
 * hashes are held against each Node that users have: the same table and seed give the same bits on all of them.
 * The npm packages node-<platform>-<arch> carry Node's own binaries.
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { buildOnce, installOnce, npm } from './lib/prepare.mjs';
import { runFolders, runInFull, runLarge, runMocha } from './lib/tests.mjs';

const VERSIONS = [{ node: '22' }, { node: '24', nodeRed: '5' }];

installOnce();
buildOnce();

const system = process.platform === 'win32' ? 'win' : process.platform;
const binaryPackage = `node-${system}-${process.arch}`;
let failed = [runLarge(), runInFull()].filter((passed) => !passed).length;
for (const { node, nodeRed } of VERSIONS) {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'tabular-every-'));
  try {
    writeFileSync(path.join(folder, 'package.json'), JSON.stringify({ name: 'every', private: true }));
    const wanted = [`${binaryPackage}@${node}`, ...(nodeRed === undefined ? [] : [`node-red@~${nodeRed}`])];
    // The binary is for the tests alone: Node-RED's engines are checked against the Node that runs npm.
    npm(folder, 'install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', ...wanted);
    const binary = [path.join('bin', 'node'), 'node.exe']
      .map((name) => path.join(folder, 'node_modules', binaryPackage, name))
      .find((file) => existsSync(file));
    console.log(`\nThe learner's golden hashes on Node ${node}`);
    if (
      !runMocha(['test/unit/learner/golden.test.ts', 'test/unit/learner/explain-golden.test.ts'], { binary })
    ) {
      failed += 1;
    }
    if (nodeRed !== undefined) {
      console.log(`\nNode-RED ${nodeRed} on Node ${node}`);
      const env = {
        ...process.env,
        NODE_BINARY: binary,
        NODE_RED: path.join(folder, 'node_modules', 'node-red'),
      };
      if (!runFolders(['runtime', 'e2e'], [], { env })) {
        failed += 1;
      }
    }
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
process.exitCode = failed ? 1 : 0;
