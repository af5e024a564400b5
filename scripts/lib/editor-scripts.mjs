/*
 * The scripts that the editor loads at each start, of the sidebar Models and of the dialogs: the files of each, and what
 * they share with src/, as one.
 */
import { rmSync } from 'node:fs';
import path from 'node:path';

import { buildSync } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..', '..');
/** Where each begins, by its file. */
const SCRIPTS = {
  'resources/models.js': 'plugins/models/index.js',
  'resources/dialogs.js': 'nodes/dialogs/index.js',
};

export function removeEditorScripts() {
  for (const file of Object.keys(SCRIPTS)) {
    rmSync(path.join(root, file), { force: true });
  }
}

/** Made small: what the editor loads is half of what stands in the files. */
export function writeEditorScripts() {
  for (const [file, entry] of Object.entries(SCRIPTS)) {
    buildSync({
      entryPoints: [path.join(root, entry)],
      outfile: path.join(root, file),
      bundle: true,
      format: 'iife',
      minify: true,
      charset: 'utf8',
      target: 'es2022',
      logLevel: 'warning',
    });
  }
}
