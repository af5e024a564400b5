/*
 * The tables of a bench: printed as they are measured and, with `npm run bench -- NAME --save`, kept in NAME.results.json
 * beside the bench. `npm run bench:tables` makes the tables of docs/benchmarks from these files.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import { fileURLToPath } from 'node:url';

import { format } from 'oxfmt';

const require = createRequire(import.meta.url);

/** A table as Markdown, without a line end after it. @param rows lists of cells */
export function markdownTable(columns, rows) {
  return [markdownRow(columns), `|${'---|'.repeat(columns.length)}`, ...rows.map(markdownRow)].join('\n');
}

function markdownRow(cells) {
  return `| ${cells.join(' | ')} |`;
}

/**
 * @param bench the file of the bench, or its URL
 * @returns `table` begins one; `save` keeps those that have rows, in place of what was kept of them, if that is asked for
 */
export function openResults(bench) {
  const file = (bench.startsWith('file:') ? fileURLToPath(bench) : bench).replace(/\.\w+$/, '.results.json');
  const tables = {};
  return {
    /** @param id names it on the page @param title a sentence above it, printed only */
    table(id, columns, title) {
      const rows = [];
      tables[id] = { columns, rows };
      console.log(`${title === undefined ? '' : `\n${title}\n\n`}${markdownTable(columns, [])}`);
      return {
        row(...cells) {
          const texts = cells.map((cell) => String(cell ?? ''));
          rows.push(texts);
          console.log(markdownRow(texts));
        },
      };
    },
    async save() {
      if (process.env.BENCH_SAVE !== '1') {
        return;
      }
      const kept = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {};
      const { LEARNER_VERSION } = require('../dist/src/learner/version.js');
      const measured = {
        date: new Date().toISOString().slice(0, 10),
        node: process.version,
        machine: `${os.cpus().length} cores, ${process.platform} ${process.arch}`,
        learner: LEARNER_VERSION,
      };
      for (const [id, table] of Object.entries(tables)) {
        if (table.rows.length > 0) {
          kept[id] = { measured, ...table };
        }
      }
      writeFileSync(file, await formatted(kept));
    },
  };
}

/** As `npm run format` has it. */
async function formatted(results) {
  const options = JSON.parse(readFileSync(new URL('../.oxfmtrc.json', import.meta.url), 'utf8'));
  const { code } = await format('results.json', JSON.stringify(results), options);
  return code;
}
