/* The script of the sidebar Models: its files, and what they share with src/, as one, which the editor loads at each start. */
import path from 'node:path';

import { buildSync } from 'esbuild';

const root = path.resolve(import.meta.dirname, '..', '..');

/** Made small: what the editor loads is half of what stands in the files. */
export function writeSidebarScript(file) {
  buildSync({
    entryPoints: [path.join(root, 'plugins', 'models', 'index.js')],
    outfile: file,
    bundle: true,
    format: 'iife',
    minify: true,
    charset: 'utf8',
    target: 'es2022',
    logLevel: 'warning',
  });
}
