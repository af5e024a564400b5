import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';

import { root } from '../helpers/node-red';
import { installedPackage, packedPackage } from '../helpers/packed';

const manifest = JSON.parse(fs.readFileSync(path.join(root, 'package.json'), 'utf8')) as {
  main: string;
  types: string;
  bin: Record<string, string>;
  dependencies: Record<string, string>;
  keywords: string[];
  engines: { node: string };
  'node-red': { version: string; nodes: Record<string, string> };
};

describe('the package as npm packs it', function () {
  this.timeout(180_000);

  let files: string[];
  before(() => {
    files = packedPackage().files;
  });

  it('holds each node with its dialog, its catalogue and its help, and the icons', () => {
    for (const file of Object.values(manifest['node-red'].nodes)) {
      assert.ok(files.includes(file), file);
      assert.ok(files.includes(file.replace(/\.js$/, '.html')), `${file}'s dialog`);
    }
    for (const language of ['en-US', 'de', 'ja']) {
      assert.ok(
        files.some((file) => file.startsWith(`dist/nodes/locales/${language}/`)),
        language,
      );
    }
    for (const file of [
      'dist/plugins/models.html',
      'resources/models.js',
      'resources/dialogs.js',
      'resources/models.css',
    ]) {
      assert.ok(files.includes(file), file);
    }
    assert.ok(files.some((file) => /^dist\/nodes\/icons\/.+\.svg$/.test(file)));
  });

  it('holds its face for programs, its types, its command, its examples, its licence', () => {
    for (const file of [manifest.main, manifest.types, ...Object.values(manifest.bin)]) {
      assert.ok(files.includes(file.replace(/^\.\//, '')), file);
    }
    for (const file of ['README.md', 'LICENSE', 'CHANGELOG.md', 'package.json']) {
      assert.ok(files.includes(file), file);
    }
    const examples = fs
      .readdirSync(path.join(root, 'examples'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.json'))
      .map((name) => `examples/${name}`);
    assert.deepEqual(files.filter((file) => file.startsWith('examples/')).sort(), examples.sort());
  });

  it('holds nothing else: no sources, tests, maps, benches or state', () => {
    const known =
      /^(dist\/(src|nodes|plugins)\/.+\.(js|d\.ts|html|json|svg)|docs\/(benchmarks\/)?\w[\w-]*\.md|docs\/deploy\/(Dockerfile|[\w-]+\.service)|examples\/.+\.json|resources\/[\w-]+\.(js|css)|README\.md|LICENSE|CHANGELOG\.md|CONTRIBUTING\.md|package\.json)$/;
    assert.deepEqual(
      files.filter((file) => !known.test(file)),
      [],
    );
    const mapped = files.filter(
      (file) =>
        file.endsWith('.js') &&
        fs.readFileSync(path.join(installedPackage(), file), 'utf8').includes('sourceMappingURL='),
    );
    assert.deepEqual(mapped, [], 'names a map that is not there');
  });

  it('has what the scorecard of the flow library asks for', () => {
    assert.ok(Object.keys(manifest.dependencies).length <= 6);
    assert.ok(manifest.keywords.includes('node-red'));
    assert.match(manifest['node-red'].version, /^>=\d/);
    assert.match(manifest.engines.node, /^>=\d/);
    const examples = fs.readdirSync(path.join(root, 'examples')).filter((name) => name.endsWith('.json'));
    const used = new Set(
      examples
        .flatMap(
          (name) =>
            JSON.parse(fs.readFileSync(path.join(root, 'examples', name), 'utf8')) as { type: string }[],
        )
        .map(({ type }) => type),
    );
    for (const type of Object.keys(manifest['node-red'].nodes)) {
      assert.ok(used.has(type), `an example with ${type}`);
      // The library finds out how a node looks without running its dialog.
      const dialog = fs.readFileSync(
        path.join(root, manifest['node-red'].nodes[type]!).replace(/\.js$/, '.html'),
        'utf8',
      );
      assert.ok(dialog.includes(`registerType('${type}', {`), type);
      if (type === 'tabular-config') {
        continue;
      }
      for (const look of [
        /category: '[\w ]+',/,
        /color: '#\w+',/,
        /icon: '[\w.-]+',/,
        /inputs: \d,/,
        /outputs: \d,/,
      ]) {
        assert.match(dialog, look, type);
      }
      assert.doesNotMatch(dialog.split('defaults: {')[1]!.split('\n            },')[0]!, /\.\.\./, type);
    }
  });

  it('has in the lock file no address of a registry', () => {
    const lock = fs.readFileSync(path.join(root, 'package-lock.json'), 'utf8');
    assert.doesNotMatch(lock, /"resolved": "https?:/);
  });

  it('loads from a bare folder with its own dependencies alone, and all its nodes load little', () => {
    const folder = installedPackage();
    const nodes = Object.values(manifest['node-red'].nodes).map((file) => path.join(folder, file));
    const program = `
      const face = require(${JSON.stringify(folder)});
      for (const name of ['ServiceClient', 'startService', 'openTable', 'ServiceError']) {
        if (typeof face[name] !== 'function') throw new Error('missing ' + name);
      }
      const before = Object.keys(require.cache).length;
      for (const file of ${JSON.stringify(nodes)}) if (typeof require(file) !== 'function') throw new Error(file);
      const heavy = ['apache-arrow', 'parquet-wasm', 'undici'];
      console.log(JSON.stringify(Object.keys(require.cache).filter((f) => heavy.some((h) => f.includes('/' + h + '/')))));
    `;
    const answer = execFileSync(process.execPath, ['-e', program], {
      cwd: path.dirname(folder),
      encoding: 'utf8',
    });
    assert.deepEqual(JSON.parse(answer), []);
  });
});
