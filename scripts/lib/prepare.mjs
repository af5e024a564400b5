/**
 * Brings a checkout to where it can run: installs what package-lock.json names and builds dist/, each only when
 * something has changed since the last time. Nothing but Node is needed before it has run.
 */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { missingFiles } from './whole-package.mjs';

export const root = path.resolve(import.meta.dirname, '..', '..');

const installStamp = path.join(root, 'node_modules', '.installed-for');
const buildStamp = path.join(root, 'dist', '.built-from');

async function run(folder, command, args) {
  const child = spawn(command, args, { cwd: folder, stdio: 'inherit', shell: process.platform === 'win32' });
  const [code, signal] = await once(child, 'close');
  if (code !== 0) {
    throw new Error(`${path.basename(command)} ${args.join(' ')} ended with ${code ?? signal}`);
  }
}

/** npm as the one that runs us, where npm runs us; else the one on the path. */
export function npm(folder, ...args) {
  const cli = process.env.npm_execpath;
  return cli?.endsWith('.js') ? run(folder, process.execPath, [cli, ...args]) : run(folder, 'npm', args);
}

function digest(files) {
  const hash = createHash('sha256');
  for (const file of files) {
    hash.update(path.relative(root, file)).update('\0').update(readFileSync(file)).update('\0');
  }
  return hash.digest('hex');
}

function filesBelow(folder) {
  if (!existsSync(folder)) {
    return [];
  }
  return readdirSync(folder, { recursive: true })
    .map((name) => path.join(folder, name))
    .filter((file) => statSync(file).isFile())
    .sort();
}

function isStamped(stamp, value) {
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === value;
}

export async function installOnce() {
  const wanted = digest([path.join(root, 'package-lock.json')]);
  if (isStamped(installStamp, wanted)) {
    return;
  }
  // npm ci empties the folder that it installs into: behind a link, that would be another checkout's.
  if (lstatSync(path.dirname(installStamp), { throwIfNoEntry: false })?.isSymbolicLink()) {
    console.warn('node_modules is a link: nothing is installed, it is used as it is.');
    return;
  }
  console.log('Installing the packages that package-lock.json names (the first time only) …');
  await npm(root, 'ci', '--no-audit', '--no-fund', '--loglevel=error');
  writeFileSync(installStamp, wanted);
}

export async function buildOnce() {
  // Without what the build writes among them.
  const sources = ['src', 'nodes', 'icons', 'plugins'].flatMap((folder) =>
    filesBelow(path.join(root, folder)).filter((file) => path.basename(file) !== 'bytes.d.ts'),
  );
  const wanted = digest([
    ...sources,
    path.join(root, 'tsconfig.json'),
    path.join(root, 'scripts', 'build.mjs'),
    ...filesBelow(path.join(root, 'scripts', 'help')),
  ]);
  if (isStamped(buildStamp, wanted) && missingFiles(root).length === 0) {
    return;
  }
  console.log('Building dist/, about a minute (once, and after a change) …');
  // With source maps: a stack trace then points into TypeScript. What is published is built without.
  await run(root, process.execPath, [path.join(root, 'scripts', 'build.mjs'), '--sourceMap']);
  writeFileSync(buildStamp, wanted);
}
