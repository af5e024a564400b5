import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { root } from '../../helpers/node-red';
import { removedAtEnd } from '../../helpers/temporary';

const script = path.join(root, 'scripts', 'bench-tables.mjs');

const run = (...args: string[]) => spawnSync(process.execPath, [script, ...args], { encoding: 'utf8' });

const MEASURED = { date: '2026-01-02', node: 'v20.20.0', machine: '2 cores, linux x64', learner: 24 };

/** A folder with the results of one bench, and a page with a place for a table of it. */
function folderOf(tables: object, place: string): { folder: string; page: string } {
  const folder = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-tables-')));
  const page = path.join(folder, 'docs', 'benchmarks', 'x.md');
  fs.mkdirSync(path.dirname(page), { recursive: true });
  fs.mkdirSync(path.join(folder, 'bench', 'x'), { recursive: true });
  fs.writeFileSync(path.join(folder, 'bench', 'x', 'x.results.json'), JSON.stringify(tables));
  fs.writeFileSync(page, `# X\n\nBefore.\n\n<!-- ${place} -->\nold\n<!-- end -->\n\nAfter.\n`);
  return { folder, page };
}

describe('the tables of docs/benchmarks', () => {
  it('are as the results beside the benches have them', () => {
    const { status, stderr } = run('--check');
    assert.equal(stderr, '');
    assert.equal(status, 0);
  });

  it('are written from the results, with when and where they were measured', () => {
    const table = { measured: MEASURED, columns: ['a', 'b'], rows: [['1', '']] };
    const { folder, page } = folderOf({ times: table }, 'bench/x/x.results.json times');
    assert.equal(run('--check', folder).status, 1);
    assert.match(fs.readFileSync(page, 'utf8'), /\nold\n/);
    assert.equal(run(folder).status, 0);
    assert.equal(
      fs.readFileSync(page, 'utf8'),
      '# X\n\nBefore.\n\n<!-- bench/x/x.results.json times -->\n\n| a | b |\n|---|---|\n| 1 |  |\n\n' +
        '_Measured on 2026-01-02: Node v20.20.0, 2 cores, linux x64, learner 24._\n\n<!-- end -->\n\nAfter.\n',
    );
    assert.equal(run('--check', folder).status, 0);
  });

  it('are neither left out nor missing', () => {
    const { folder } = folderOf(
      { times: { measured: MEASURED, columns: [], rows: [] } },
      'bench/x/x.results.json other',
    );
    const { status, stderr } = run(folder);
    assert.equal(status, 1);
    assert.match(stderr, /there is no table "other" in bench\/x\/x\.results\.json/);
    assert.match(stderr, /No page shows the table "times" of bench\/x\/x\.results\.json/);
  });
});
