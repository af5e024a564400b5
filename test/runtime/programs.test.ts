import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { root } from '../helpers/node-red';
import { installedPackage } from '../helpers/packed';

describe('docs/programs.md', function () {
  this.timeout(120_000);

  it('has an example that runs as it stands, on the packed package', () => {
    const page = fs.readFileSync(path.join(root, 'docs', 'programs.md'), 'utf8');
    const [, program] = /```js\n([\s\S]+?)```/.exec(page)!;
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-program-'));
    try {
      fs.mkdirSync(path.join(folder, 'node_modules'));
      fs.symlinkSync(
        installedPackage(),
        path.join(folder, 'node_modules', 'node-red-contrib-tabular-prediction'),
        'junction',
      );
      fs.writeFileSync(
        path.join(folder, 'main.js'),
        program!.replace('console.log(prediction)', 'console.log(JSON.stringify(prediction))'),
      );
      const printed = execFileSync(process.execPath, ['main.js'], { cwd: folder, encoding: 'utf8' });
      const { kind, values } = JSON.parse(printed) as { kind: string; values: number[][] };
      assert.equal(kind, 'quantiles');
      const [first] = values[1]!;
      assert.ok(Math.abs(first! - 17) < 4, `the median for 5 hours and load 2 is ${first}, the truth 17`);
      assert.ok(values[0]!.every((low, i) => low <= values[2]![i]!));
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  });
});
