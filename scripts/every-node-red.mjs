/*
 * npm run test:every: what npm test leaves out. The tests of test/large/, and properties with all their cases; then what
 * takes long, on your Node with Node-RED 4.1; then the runtime tests (the packed package in a real Node-RED) and those in a
 * browser on the newest Node and Node-RED, which brings a dark theme. The learner's golden hashes are held against each
 * Node that users have: the same table and seed give the same bits on all of them.
 * The npm packages node-<platform>-<arch> carry Node's own binaries.
 */
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { buildOnce, installOnce, npm } from './lib/prepare.mjs';
import { printFailures, runFolders, runInFull, runLarge, runLong, runMocha } from './lib/tests.mjs';

const VERSIONS = [{ node: '22' }, { node: '24', nodeRed: '5' }];
/**
 * Seen on your Node by then: the first two start no Node-RED, but programs on the Node that runs the tests, and what
 * the third looks at is a page of the dashboard's package, drawn by Chromium. The others are long stories, with brokers or
 * fits, that ask nothing of Node-RED which those that stay do not ask: by V8's coverage on Node-RED 5 they reach 63 lines
 * of the nodes that examples, restart, redeploys, strict, hostile and watch do not, texts and arithmetic.
 */
const SAME = [
  'runtime/package runtime/programs e2e/dashboard',
  'runtime/amqp runtime/motor runtime/progress runtime/scale-out',
].flatMap((names) => names.split(' ').map((name) => path.join('test', `${name}.test.ts`)));

await installOnce();
await buildOnce();

const system = process.platform === 'win32' ? 'win' : process.platform;
const binaryPackage = `node-${system}-${process.arch}`;
const folder = mkdtempSync(path.join(os.tmpdir(), 'tabular-every-'));

/** Installs a Node, and a Node-RED where one is named. */
async function install({ node, nodeRed }) {
  const own = path.join(folder, node);
  mkdirSync(own);
  writeFileSync(path.join(own, 'package.json'), JSON.stringify({ name: 'every', private: true }));
  const wanted = [`${binaryPackage}@${node}`, ...(nodeRed === undefined ? [] : [`node-red@~${nodeRed}`])];
  // The binary is for the tests alone: Node-RED's engines are checked against the Node that runs npm.
  await npm(own, 'install', '--no-audit', '--no-fund', '--loglevel=error', '--prefer-offline', ...wanted);
}

const modulesOf = ({ node }) => path.join(folder, node, 'node_modules');

/** The file of a Node that `install` has brought. */
const binaryIn = (modules) =>
  [path.join('bin', 'node'), 'node.exe']
    .map((name) => path.join(modules, binaryPackage, name))
    .find((file) => existsSync(file));

/** Each keeps one core busy. */
function golden(version) {
  const binary = binaryIn(modulesOf(version));
  const title = `The learner's golden hashes on Node ${version.node}`;
  const files = ['golden', 'explain-golden'].map((name) => `test/unit/learner/${name}.test.ts`);
  return runMocha(files, { binary, title });
}

function onNodeRed(version) {
  const { node, nodeRed } = version;
  const modules = modulesOf(version);
  console.log(`\nNode-RED ${nodeRed} on Node ${node}`);
  const env = {
    ...process.env,
    NODE_BINARY: binaryIn(modules),
    NODE_RED: path.join(modules, 'node-red'),
    // Some forty Node-REDs start: from the second on with what the first has compiled, in two thirds of the processor time.
    NODE_COMPILE_CACHE: path.join(folder, 'compiled'),
  };
  return runFolders({ folders: ['runtime', 'e2e'], without: SAME, env });
}

try {
  const passed = [await runLarge(), await runInFull()];
  // Beside what takes long: npm waits for the network most of the time.
  const [long, ...installs] = await Promise.allSettled([runLong(), ...VERSIONS.map(install)]);
  for (const { status, reason } of [long, ...installs]) {
    if (status === 'rejected') {
      throw reason;
    }
  }
  passed.push(long.value, ...(await Promise.all(VERSIONS.map(golden))));
  passed.push(await onNodeRed(VERSIONS.find(({ nodeRed }) => nodeRed !== undefined)));
  printFailures();
  process.exitCode = passed.every(Boolean) ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}
