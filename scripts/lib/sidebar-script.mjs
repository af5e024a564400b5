/* The script of the sidebar Models: its files as one, which the editor loads at each start. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { transformSync } from 'esbuild';

const folder = path.resolve(import.meta.dirname, '..', '..', 'plugins', 'models');
/** What a file needs stands before it. */
const FILES = [
  'dom',
  'pictures',
  'costs',
  'threshold',
  'list',
  'model',
  'changes',
  'live',
  'try',
  'actions',
  'sidebar',
  'add-forecast',
];

/** Made small: what the editor loads is half of what stands in the files. `constants` are those of src/ that they name. */
export function sidebarScript(constants) {
  const files = FILES.map((name) => readFileSync(path.join(folder, `${name}.js`), 'utf8'));
  return transformSync(files.join(''), {
    minify: true,
    charset: 'utf8',
    target: 'es2022',
    define: Object.fromEntries(
      Object.entries(constants).map(([name, value]) => [name, JSON.stringify(value)]),
    ),
  }).code;
}
