/* The script of the sidebar Models: its files as one, which the editor loads at each start. */
import { readFileSync } from 'node:fs';
import path from 'node:path';

const folder = path.resolve(import.meta.dirname, '..', '..', 'plugins', 'models');
/** What a file needs stands before it. */
const FILES = ['dom', 'pictures', 'list', 'model', 'live', 'try', 'actions', 'sidebar'];

/** Without comments and indentation: they are a quarter of it. No text of it goes over several lines. */
export function sidebarScript() {
  const files = FILES.map((name) => readFileSync(path.join(folder, `${name}.js`), 'utf8'));
  return files
    .join('')
    .replace(/^ *\/\*[\s\S]*?\*\/\n/gm, '')
    .replace(/^ +/gm, '');
}
