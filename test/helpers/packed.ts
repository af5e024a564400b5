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

let packed: Packed | undefined;
let installed: string | undefined;

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
  process.on('exit', () => fs.rmSync(copy, { recursive: true, force: true }));
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
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-pack-'));
    process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
    const answer = JSON.parse(
      npm(['pack', '--json', '--ignore-scripts', '--pack-destination', folder], withoutMaps()),
    ) as Record<string, { filename: string; files: { path: string }[] }>;
    const [made] = Object.values(answer);
    packed = { tarball: path.join(folder, made!.filename), files: made!.files.map((file) => file.path) };
  }
  return packed;
}

/** The folder of the package as a user's npm installs it: the tarball and its dependencies, nothing else. */
export function installedPackage(): string {
  if (installed === undefined) {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-installed-'));
    process.on('exit', () => fs.rmSync(folder, { recursive: true, force: true }));
    fs.writeFileSync(
      path.join(folder, 'package.json'),
      JSON.stringify({ name: 'user-folder', private: true }),
    );
    npm(
      ['install', '--no-audit', '--no-fund', '--prefer-offline', '--omit=dev', packedPackage().tarball],
      folder,
    );
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
