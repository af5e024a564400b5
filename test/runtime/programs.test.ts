import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { root } from '../helpers/node-red';
import { OWN_FLAGS } from '../helpers/own-flags';
import { installedPackage } from '../helpers/packed';

describe('docs/programs.md', function () {
  this.timeout(120_000);

  const page = fs.readFileSync(path.join(root, 'docs', 'programs.md'), 'utf8');
  /** The program under this heading of the page. */
  const programOf = (heading: string): string =>
    new RegExp(`\n## ${heading}\n(?:(?!\n## )[^])*?\`\`\`js\n([^]+?)\`\`\``).exec(page)![1]!;

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
      const args = [...OWN_FLAGS, 'main.js'];
      return JSON.parse(execFileSync(process.execPath, args, { cwd: folder, encoding: 'utf8' }));
    });
  }

  function assertNearTruth(low: number, middle: number, high: number): void {
    assert.ok(Math.abs(middle - 17) < 4, `the median for 5 hours and load 2 is ${middle}, the truth 17`);
    assert.ok(low <= middle && middle <= high);
  }

  it('trains and predicts in ten lines, as it stands, on the packed package', () => {
    const lines = programOf('Train and predict in ten lines')
      .split('async function main() {\n')[1]!
      .split('\n}')[0]!
      .split('\n');
    assert.ok(lines.length <= 10);
    const [first, second] = run(programOf('Train and predict in ten lines'), 'table') as {
      prediction: Record<string, number>;
      load: number;
    }[];
    assertNearTruth(first!.prediction['0.1']!, first!.prediction['0.5']!, first!.prediction['0.9']!);
    assert.equal(second!.load, null);
  });

  it('does it in parts too', () => {
    const { kind, values } = run(programOf('In parts'), 'prediction') as { kind: string; values: number[][] };
    assert.equal(kind, 'quantiles');
    assertNearTruth(values[0]![0]!, values[1]![0]!, values[2]![0]!);
  });

  it('has no other doors than those of the page', () => {
    const name = 'node-red-contrib-tabular-prediction';
    const opened = inProgram((folder) => {
      const tries = ['', '/client', '/table', '/service', '/learner', '/package.json', '/dist/src/index.js'];
      const program = `console.log(JSON.stringify(${JSON.stringify(tries)}.filter((door) => {
        try { return require('${name}' + door) } catch ({ code }) { return code !== 'ERR_PACKAGE_PATH_NOT_EXPORTED' }
      })))`;
      return execFileSync(process.execPath, ['-e', program], { cwd: folder, encoding: 'utf8' });
    });
    assert.deepEqual(JSON.parse(opened), ['', '/client', '/table', '/service', '/learner', '/package.json']);
  });

  it('learns without a service', () => {
    const { scores, low, median, high } = run(programOf('The learner alone'), 'table') as {
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
    // One member in the ensemble of its model is enough for a sine.
    const train = 'train({ ...past.training, options: { n_estimators: 1 } })';
    const program = programOf('Rows from readings').replace('train(past.training)', train);
    assert.ok(program.includes(train));
    const { prediction, temperature } = run(program, 'table') as {
      prediction: Record<string, number>;
      temperature: number;
    };
    const truth = 60 + 10 * Math.sin(609 / 20);
    assert.ok(Math.abs(temperature - (60 + 10 * Math.sin(599 / 20))) < 1e-9);
    assert.ok(Math.abs(prediction['0.5']! - truth) < 2, `${prediction['0.5']} where ${truth} comes`);
    assert.ok(prediction['0.1']! <= prediction['0.5']! && prediction['0.5']! <= prediction['0.9']!);
  });

  it('learns what is usual from a table, and names the sensor that is off', () => {
    const [first] = run(programOf('What is not usual'), 'sensors') as {
      column: string;
      value: number;
      low: number;
    }[];
    assert.deepEqual([first!.column, first!.value], ['engine.heat', 95]);
    assert.ok(first!.low < 53);
  });
});
