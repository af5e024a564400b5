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

/** Where the files to publish are, as prepack builds them: dist/ of a test run has source maps, that one has not. */
function withoutMaps(): string {
  const [listed] = Object.values(
    JSON.parse(npm(['pack', '--json', '--dry-run', '--ignore-scripts'], root)) as Record<
      string,
      { files: { path: string }[] }
    >,
  );
  const copy = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-publish-'));
  for (const { path: file } of listed!.files) {
    fs.cpSync(path.join(root, file), path.join(copy, file));
    if (file.endsWith('.js')) {
      const text = fs.readFileSync(path.join(copy, file), 'utf8');
      fs.writeFileSync(path.join(copy, file), text.replace(/^\/\/# sourceMappingURL=.*\n?/m, ''));
    }
  }
  return copy;
}

/** The package as `npm pack` makes it from what is built, made once per test run. */
export function packedPackage(): Packed {
  if (packed === undefined) {
    const folder = madeOnce('pack', (made) => {
      const copy = withoutMaps();
      const answer = npm(['pack', '--json', '--ignore-scripts', '--pack-destination', made], copy);
      fs.rmSync(copy, { recursive: true, force: true });
      fs.writeFileSync(path.join(made, 'answer.json'), answer);
    });
    const [made] = Object.values(
      JSON.parse(fs.readFileSync(path.join(folder, 'answer.json'), 'utf8')) as Record<
        string,
        { filename: string; files: { path: string }[] }
      >,
    );
    packed = { tarball: path.join(folder, made!.filename), files: made!.files.map((file) => file.path) };
  }
  return packed;
}

/** The folder of the package as a user's npm installs it: the tarball and its dependencies, nothing else. */
export function installedPackage(): string {
  if (installed === undefined) {
    const { tarball } = packedPackage();
    const folder = madeOnce('installed', (made) => {
      fs.writeFileSync(
        path.join(made, 'package.json'),
        JSON.stringify({ name: 'user-folder', private: true }),
      );
      npm(['install', '--no-audit', '--no-fund', '--prefer-offline', '--omit=dev', tarball], made);
    });
    installed = path.join(folder, 'node_modules', 'node-red-contrib-tabular-prediction');
  }
  return installed;
}

/** The same package under another version, as an earlier or a later release would be. Answers the tarball's path. */
export function packedAs(version: string): string {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-release-'));
  process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
  execFileSync('tar', ['-xzf', packedPackage().tarball, '-C', folder]);
  const unpacked = path.join(folder, 'package');
  const file = path.join(unpacked, 'package.json');
  const manifest = JSON.parse(fs.readFileSync(file, 'utf8')) as object;
  fs.writeFileSync(file, JSON.stringify({ ...manifest, version }, null, 2));
  npm(['pack', '--ignore-scripts', '--pack-destination', folder], unpacked);
  const tarball = fs.readdirSync(folder).find((name) => name.endsWith('.tgz'));
  return path.join(folder, tarball!);
}
