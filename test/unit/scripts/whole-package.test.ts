import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { missingFiles } from '../../../scripts/lib/whole-package.mjs';
import { root } from '../../helpers/node-red';
import { removedAtEnd } from '../../helpers/temporary';

describe('the check that nothing is missing from the package', () => {
  it('finds all there after a build', () => {
    assert.deepEqual(missingFiles(root), []);
  });

  const examples = [
    'dist/src/index.js',
    'dist/src/index.d.ts',
    'dist/src/service/cli.js',
    'dist/nodes/predict.js',
    'dist/nodes/predict.html',
    'dist/plugins/models.html',
    // What dialogs and the plugin name.
    'resources/models.js',
    'resources/models.css',
    'resources/dialogs.js',
    'dist/nodes/icons/tabular-predict.svg',
    // What no page names.
    'dist/nodes/locales/de/predict.html',
    'dist/nodes/locales/ja/config.json',
    'dist/plugins/locales/de/models.json',
    'dist/src/learner/index.js',
    'dist/src/table/index.js',
    'dist',
    'docs',
    'examples',
    'CHANGELOG.md',
  ];
  for (const file of examples) {
    it(`misses ${file}`, () => {
      assert.ok(fs.existsSync(path.join(root, file)), 'the test names a file that there is');
      const exists = (found: string): boolean => found !== path.join(root, file) && fs.existsSync(found);
      assert.deepEqual(missingFiles(root, exists), [file]);
    });
  }

  it('names all where nothing is built', () => {
    const missing = missingFiles(root, (file) => !file.startsWith(path.join(root, 'dist')));
    assert.ok(missing.length > 300, `${missing.length} files`);
  });
});

describe('the build', function () {
  this.timeout(60_000);

  it('fails where the compiler made part of it alone, and keeps no script of an earlier build', () => {
    const folder = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-build-')));
    const copied = [
      'src',
      'nodes',
      'plugins',
      'icons',
      'scripts',
      'resources',
      'package.json',
      'tsconfig.json',
    ];
    for (const name of copied) {
      fs.cpSync(path.join(root, name), path.join(folder, name), { recursive: true });
    }
    fs.symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'), 'junction');
    // One kernel: all of them take as long to compile as everything else together.
    const kernel = 'export function one(): i32 {\n  return 1;\n}\n';
    fs.writeFileSync(path.join(folder, 'src', 'learner', 'kernels', 'index.as.ts'), kernel);
    for (const [config, file] of [
      ['tsconfig.json', 'src/wire/vocabulary.ts'],
      ['src/learner/tsconfig.json', 'version.ts'],
    ]) {
      const place = path.join(folder, config!);
      const options = JSON.parse(fs.readFileSync(place, 'utf8')) as object;
      fs.writeFileSync(place, JSON.stringify({ ...options, include: [file] }));
    }
    const built = spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: folder, encoding: 'utf8' });
    assert.equal(built.status, 1, built.stderr);
    assert.match(built.stderr, /The package would lack .*dist\/nodes\/fit\.js.*resources\/models\.js/);
    for (const script of ['models.js', 'dialogs.js']) {
      assert.ok(!fs.existsSync(path.join(folder, 'resources', script)));
    }
    assert.ok(fs.existsSync(path.join(folder, 'dist', 'src', 'wire', 'vocabulary.js')));
  });
});
