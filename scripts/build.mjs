/*
 * Builds dist/ and the scripts of the editor: TypeScript by its compiler (arguments of the command are passed to it), the
 * scripts of threads as one file each, then what Node-RED looks for beside each node's .js: dialogs with their defaults,
 * help, icons, catalogues. It fails where a file is missing in the end, and leaves nothing of an earlier build, so that npm
 * never packs half a package.
 */
import { cpSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

import { helpPages } from './help/pages.mjs';
import { compile } from './lib/compile.mjs';
import { withDefaults } from './lib/dialog-defaults.mjs';
import { removeEditorScripts, writeEditorScripts } from './lib/editor-scripts.mjs';
import { compileKernels, declareKernels } from './lib/kernels.mjs';
import { joinThreadScripts } from './lib/thread-scripts.mjs';
import { COPIED, missingFiles } from './lib/whole-package.mjs';

/** Not on standard output, which `npm pack --json` writes its answer to. */
const say = (step) => console.error(`  ${step} …`);
const root = path.resolve(import.meta.dirname, '..');
const dist = path.join(root, 'dist');
const require = createRequire(import.meta.url);

rmSync(dist, { recursive: true, force: true });
removeEditorScripts();
const options = process.argv.slice(2);
declareKernels();
// The learner first: it has compiler options of its own, and the rest reads its declarations.
const failed = [
  ['src/learner', 'the learner'],
  ['.', 'the nodes and the service'],
].filter(([project, what]) => {
  say(`compiling ${what}`);
  return !compile(project, ...options);
});
say('compiling the kernels of the learner');
if (!compileKernels()) {
  failed.push('the kernels');
}
if (failed.length === 0) {
  say('joining the scripts of threads');
  joinThreadScripts({ sourcemap: options.includes('--sourceMap') });
}
say('writing the dialogs, their help and the sidebar');
const settings = path.join(dist, 'src', 'settings', 'nodes.js');
for (const file of existsSync(settings) ? readdirSync(path.join(root, 'nodes')) : []) {
  if (file.endsWith('.html')) {
    const node = path.basename(file, '.html');
    const html = readFileSync(path.join(root, 'nodes', file), 'utf8');
    writeFileSync(
      path.join(dist, 'nodes', file),
      withDefaults(html, node, require(settings).NODE_SETTINGS[node]),
    );
  }
}
for (const [from, to] of Object.entries(COPIED)) {
  cpSync(path.join(root, from), path.join(dist, to), { recursive: true });
}
const shapes = path.join(dist, 'src', 'messages', 'shapes', 'index.js');
const vocabulary = path.join(dist, 'src', 'wire', 'vocabulary.js');
if (existsSync(shapes) && existsSync(vocabulary)) {
  const known = { shapes: require(shapes).SHAPES, outputs: require(vocabulary).OUTPUTS };
  for (const { file, html } of helpPages(known)) {
    writeFileSync(path.join(dist, 'nodes', 'locales', file), html);
  }
}
if (existsSync(settings)) {
  writeEditorScripts();
}
const missing = missingFiles(root);
if (missing.length > 0) {
  console.error(`The package would lack ${missing.join(', ')}.`);
}
process.exitCode = failed.length > 0 || missing.length > 0 ? 1 : 0;
