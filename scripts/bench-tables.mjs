/*
 * npm run bench:tables: writes the tables of docs/benchmarks from the results that stand beside the benches. `--check`
 * fails where a page differs from them, or where nobody shows a table. A folder that is named stands for the repository.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

import { markdownTable } from '../bench/results.mjs';

const [folder] = process.argv.slice(2).filter((one) => one !== '--check');
const root = path.resolve(folder ?? path.join(import.meta.dirname, '..'));
/** Files of a folder and those in it, by the end of their names, from the root on. */
const find = (within, ending) =>
  readdirSync(path.join(root, within), { recursive: true })
    .filter((name) => name.endsWith(ending) && !name.includes('node_modules'))
    .map((name) => `${within}/${name.replaceAll(path.sep, '/')}`)
    .sort();
/** `<!-- bench/unlike/unlike.results.json ranks -->`, the table, `<!-- end -->`. */
const PLACE = /<!-- (bench\/\S+\.results\.json) (\S+) -->\n[\s\S]*?<!-- end -->/g;

const results = Object.fromEntries(
  find('bench', '.results.json').map((file) => [
    file,
    JSON.parse(readFileSync(path.join(root, file), 'utf8')),
  ]),
);

/** When and where a table was measured; of one that a page had before results were kept, when it was there. */
function told({ date, node, machine, learner }) {
  return node === undefined
    ? `_As this page had it on ${date}._`
    : `_Measured on ${date}: Node ${node}, ${machine}, learner ${learner}._`;
}

const problems = [];
const shown = new Set();

function place(page, whole, file, id) {
  const table = results[file]?.[id];
  if (table === undefined) {
    problems.push(`${page}: there is no table "${id}" in ${file}.`);
    return whole;
  }
  shown.add(`${file} ${id}`);
  const { columns, rows, measured } = table;
  return `<!-- ${file} ${id} -->\n\n${markdownTable(columns, rows)}\n\n${told(measured)}\n\n<!-- end -->`;
}

for (const page of find('docs/benchmarks', '.md')) {
  const file = path.join(root, page);
  const before = readFileSync(file, 'utf8');
  const after = before.replace(PLACE, (whole, from, id) => place(page, whole, from, id));
  if (after !== before && process.argv.includes('--check')) {
    problems.push(`${page} differs from the results beside the benches: npm run bench:tables writes it.`);
  } else if (after !== before) {
    writeFileSync(file, after);
  }
}
for (const [file, tables] of Object.entries(results)) {
  for (const id of Object.keys(tables)) {
    if (!shown.has(`${file} ${id}`)) {
      problems.push(`No page shows the table "${id}" of ${file}.`);
    }
  }
}
for (const problem of problems) {
  console.error(problem);
}
process.exitCode = problems.length > 0 ? 1 : 0;
