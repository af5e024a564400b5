import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { root } from '../helpers/node-red';
import { installedPackage } from '../helpers/packed';

describe('docs/programs.md', function () {
  this.timeout(120_000);

  const page = fs.readFileSync(path.join(root, 'docs', 'programs.md'), 'utf8');
  const programs = [...page.matchAll(/```js\n([\s\S]+?)```/g)].map((match) => match[1]!);

  /** In a folder of its own, where the packed package is installed. */
  function inProgram<T>(work: (folder: string) => T): T {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-program-'));
    try {
      fs.mkdirSync(path.join(folder, 'node_modules'));
      fs.symlinkSync(
        installedPackage(),
        path.join(folder, 'node_modules', 'node-red-contrib-tabular-prediction'),
        'junction',
      );
      return work(folder);
    } finally {
      fs.rmSync(folder, { recursive: true, force: true });
    }
  }

  /** What the program prints. */
  function run(program: string, name: string): unknown {
    return inProgram((folder) => {
      const printing = program.replace(`console.log(${name})`, `console.log(JSON.stringify(${name}))`);
      fs.writeFileSync(path.join(folder, 'main.js'), printing);
      return JSON.parse(execFileSync(process.execPath, ['main.js'], { cwd: folder, encoding: 'utf8' }));
    });
  }

  function assertNearTruth(low: number, middle: number, high: number): void {
    assert.ok(Math.abs(middle - 17) < 4, `the median for 5 hours and load 2 is ${middle}, the truth 17`);
    assert.ok(low <= middle && middle <= high);
  }

  it('trains and predicts in ten lines, as it stands, on the packed package', () => {
    const lines = programs[0]!.split('async function main() {\n')[1]!.split('\n}')[0]!.split('\n');
    assert.ok(lines.length <= 10);
    const [first, second] = run(programs[0]!, 'table') as {
      prediction: Record<string, number>;
      load: number;
    }[];
    assertNearTruth(first!.prediction['0.1']!, first!.prediction['0.5']!, first!.prediction['0.9']!);
    assert.equal(second!.load, null);
  });

  it('does it in parts too', () => {
    const { kind, values } = run(programs[1]!, 'prediction') as { kind: string; values: number[][] };
    assert.equal(kind, 'quantiles');
    assertNearTruth(values[0]![0]!, values[1]![0]!, values[2]![0]!);
  });

  it('has types behind every door, and no other doors', () => {
    const name = 'node-red-contrib-tabular-prediction';
    const doors = ['', '/client', '/table', '/service', '/learner'];
    inProgram((folder) => {
      const imports = doors.map((door, i) => `import * as door${i} from '${name}${door}';`);
      const uses = [
        'const called: Function[] = [door0.connect, door1.ServiceClient, door2.openTable, door3.startService, door4.trainModel];',
        '// @ts-expect-error: this is not a number, if types are known at all',
        'const wrong: number[] = [door0.connect, door1.ServiceClient, door2.openTable, door3.startService];',
        '// @ts-expect-error: nor is this',
        'door4.loadModel(1);',
        'void called, void wrong;',
      ];
      fs.writeFileSync(path.join(folder, 'main.mts'), [...imports, ...uses].join('\n'));
      const tsc = path.join(root, 'node_modules', 'typescript-7', 'bin', 'tsc');
      const options = ['--noEmit', '--strict', '--module', 'node16', '--target', 'es2022'];
      const types = ['--typeRoots', path.join(root, 'node_modules', '@types'), '--types', 'node'];
      execFileSync(process.execPath, [tsc, ...options, ...types, 'main.mts'], { cwd: folder, stdio: 'pipe' });
      const refused = execFileSync(
        process.execPath,
        ['-e', `try { require('${name}/dist/src/index.js') } catch ({ code }) { console.log(code) }`],
        { cwd: folder, encoding: 'utf8' },
      );
      assert.equal(refused.trim(), 'ERR_PACKAGE_PATH_NOT_EXPORTED');
      assert.ok(
        JSON.parse(
          execFileSync(process.execPath, ['-p', `JSON.stringify(require('${name}/package.json').exports)`], {
            cwd: folder,
            encoding: 'utf8',
          }),
        ),
      );
    });
  });

  it('learns without a service', () => {
    const { scores, low, median, high } = run(programs[2]!, 'table') as {
      scores: { rmse: number };
      low: number[];
      median: number[];
      high: number[];
    };
    assert.ok(scores.rmse < 2, `${scores.rmse}`);
    assertNearTruth(low[0]!, median[0]!, high[0]!);
    assert.equal(high.length, 2);
  });

  it('makes rows from readings, learns from them and predicts ten minutes ahead', () => {
    const { prediction, temperature } = run(programs[3]!, 'table') as {
      prediction: Record<string, number>;
      temperature: number;
    };
    const truth = 60 + 10 * Math.sin(609 / 20);
    assert.ok(Math.abs(temperature - (60 + 10 * Math.sin(599 / 20))) < 1e-9);
    assert.ok(Math.abs(prediction['0.5']! - truth) < 2, `${prediction['0.5']} where ${truth} comes`);
    assert.ok(prediction['0.1']! <= prediction['0.5']! && prediction['0.5']! <= prediction['0.9']!);
  });

  it('learns what is usual from a table, and names the sensor that is off', () => {
    const [first] = run(programs[3]!, 'sensors') as { column: string; value: number; low: number }[];
    assert.deepEqual([first!.column, first!.value], ['engine.heat', 95]);
    assert.ok(first!.low < 53);
  });
});
