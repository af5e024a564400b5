import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { root } from './node-red';

interface Packed {
  /** Path of the tarball. */
  tarball: string;
  /** Paths inside the package. */
  files: string[];
}

/** A folder that the processes of one run of the tests share, where there are several. */
const SHARED = process.env.TABULAR_TESTS_SHARED;
const LOOK_MS = 100;
const PATIENCE_MS = 170_000;

let packed: Packed | undefined;
let installed: string | undefined;

/** A folder that is removed at the end, with what `make` puts there: once for all processes of a run. */
function madeOnce(name: string, make: (folder: string) => void): string {
  if (SHARED === undefined) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), `tabular-${name}-`));
    process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
    make(folder);
    return folder;
  }
  const folder = path.join(SHARED, name);
  const done = `${folder}.done`;
  const end = Date.now() + PATIENCE_MS;
  for (; !fs.existsSync(done); Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS)) {
    if (Date.now() > end) {
      throw new Error(`another process of this run does not come to an end with ${folder}`);
    }
    if (fs.mkdirSync(`${folder}.taken`, { recursive: true }) === undefined) {
      continue;
    }
    try {
      fs.mkdirSync(folder);
      make(folder);
      fs.writeFileSync(done, '');
    } catch (error) {
      fs.rmSync(folder, { recursive: true, force: true });
      fs.rmdirSync(`${folder}.taken`);
      throw error;
    }
  }
  return folder;
}

/** npm as the one that runs us, where npm runs us; answers what it printed. */
export function npm(args: string[], cwd: string): string {
  const cli = process.env.npm_execpath;
  const [command, first] = cli?.endsWith('.js') ? [process.execPath, [cli]] : ['npm', []];
  return execFileSync(command, [...first, ...args], {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Packs a folder that holds `package/`, as the tarballs of npm do. */
function pack(folder: string, tarball: string): void {
  execFileSync('tar', ['-czf', tarball, '-C', folder, 'package']);
}

function unpack(tarball: string, folder: string): string {
  execFileSync('tar', ['-xzf', tarball, '-C', folder]);
  return path.join(folder, 'package');
}

/** What is published is built without source maps; dist/ of a test run has them, and its files name them. */
function dropMaps(unpacked: string, files: readonly string[]): void {
  for (const file of files.filter((name) => name.endsWith('.js'))) {
    const full = path.join(unpacked, file);
    fs.writeFileSync(full, fs.readFileSync(full, 'utf8').replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
  }
}

interface Answer {
  filename: string;
  files: { path: string }[];
}

/** The package as `npm pack` makes it from what is built, made once per test run. */
export function packedPackage(): Packed {
  if (packed === undefined) {
    const folder = madeOnce('pack', (made) => {
      const answer = npm(['pack', '--json', '--ignore-scripts', '--pack-destination', made], root);
      const [{ filename, files }] = Object.values(JSON.parse(answer) as Record<string, Answer>) as [Answer];
      const list = files.map((file) => file.path);
      dropMaps(unpack(path.join(made, filename), made), list);
      pack(made, path.join(made, filename));
      fs.writeFileSync(path.join(made, 'packed.json'), JSON.stringify({ filename, files: list }));
    });
    const { filename, files } = JSON.parse(fs.readFileSync(path.join(folder, 'packed.json'), 'utf8')) as {
      filename: string;
      files: string[];
    };
    packed = { tarball: path.join(folder, filename), files };
  }
  return packed;
}

/**
 * The folder of the package as npm installs it for a user: the tarball and the dependencies that the lock file names for
 * it, nothing else. npm itself installs it in install.test.ts.
 */
export function installedPackage(): string {
  if (installed === undefined) {
    const { tarball } = packedPackage();
    const folder = madeOnce('installed', (made) => {
      fs.writeFileSync(
        path.join(made, 'package.json'),
        JSON.stringify({ name: 'user-folder', private: true }),
      );
      const lock = JSON.parse(fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8')) as {
        packages: Record<string, { dev?: boolean; devOptional?: boolean }>;
      };
      for (const [place, { dev, devOptional }] of Object.entries(lock.packages)) {
        if (place !== '' && !dev && !devOptional) {
          fs.cpSync(path.join(root, place), path.join(made, place), { recursive: true });
        }
      }
      fs.renameSync(
        unpack(tarball, made),
        path.join(made, 'node_modules', 'node-red-contrib-tabular-prediction'),
      );
    });
    installed = path.join(folder, 'node_modules', 'node-red-contrib-tabular-prediction');
  }
  return installed;
}

/** The same package under another version, as an earlier or a later release would be. Answers the tarball's path. */
export function packedAs(version: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-release-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  const file = path.join(unpack(packedPackage().tarball, folder), 'package.json');
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
  fs.writeFileSync(file, JSON.stringify({ ...manifest, version }, null, 2));
  const tarball = path.join(folder, `package-${version}.tgz`);
  pack(folder, tarball);
  return tarball;
}
