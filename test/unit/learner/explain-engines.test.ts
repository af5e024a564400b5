import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { type Model, saveModel, trainModel } from '../../../dist/src/learner';
import { classify, normals, numbers, regress } from './tables';

const learner = path.join(__dirname, '../../../dist/src/learner');

/** Prints whether the engine has WebAssembly, and the effects of the first rows of each table as bytes. */
const EXPLAIN = `
  const { readFileSync } = require('node:fs');
  const { explain, loadModel, predict } = require(${JSON.stringify(learner)});
  const hex = (list) => Buffer.from(Float64Array.from(list).buffer).toString('hex');
  const effects = JSON.parse(readFileSync(process.argv[1], 'utf8')).map(({ file, columns, options }) => {
    const model = loadModel(readFileSync(file));
    const features = columns.map(({ name, values }) => ({ name, kind: 'number', values: Float64Array.from(values) }));
    const found = explain(model, features, predict(model, features, columns[0].values.length), options);
    return [hex(found.effects), hex(found.bases)];
  });
  console.log(JSON.stringify({ hasWasm: typeof WebAssembly === 'object', effects }));
`;

interface Told {
  hasWasm: boolean;
  effects: string[][];
}

function explainIn(flags: string[], tables: string): Told {
  const args = [...flags, '-e', EXPLAIN, tables];
  return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })) as Told;
}

/** What a member is made of: trees by how many values a leaf has, Gaussian processes by outputs, and points beyond fours. */
const partsOf = ({ members }: Model) =>
  members[0]!.parts.map((part) =>
    part.kind === 'gaussian'
      ? `process of ${part.base.length}, ${(part.gaussian.weights.length / part.base.length) % 4} more`
      : 'trees' in part
        ? `${part.kind} of ${part.trees.width}`
        : part.kind,
  );

describe('explanations on an engine without WebAssembly', () => {
  const rows = 131;
  const columnsOf = (count: number) => Array.from({ length: count }, (_, i) => normals(rows, i + 1));
  const score = (columns: Float64Array[], row: number) =>
    2 * columns[0]![row]! + columns[1]![row]! * columns[2]![row]! + Math.sin(3 * columns[3]![row]!);
  const labelled = (columns: Float64Array[], cuts: number[]) =>
    Array.from({ length: rows }, (_, row) => `c${cuts.filter((cut) => score(columns, row) > cut).length}`);
  /** Of as many classes, by coalitions (few columns) or along permutations; a number has one score. */
  const tables = [
    { columns: columnsOf(13), cuts: [0] },
    { columns: columnsOf(13), cuts: [-1, 1] },
    { columns: columnsOf(5), cuts: [0] },
    { columns: columnsOf(4), cuts: [-1, 1] },
    { columns: columnsOf(6), cuts: [-2, -1, 0, 1, 2] },
    { columns: columnsOf(6), cuts: Array.from({ length: 12 }, (_, i) => 0.4 * (i - 6)) },
    { columns: columnsOf(9), cuts: [] },
  ];

  const folder = mkdtempSync(path.join(os.tmpdir(), 'tabular-engines-'));
  after(() => rmSync(folder, { recursive: true, force: true }));

  it('are the same to the bit', () => {
    const parts = new Set<string>();
    const asked = tables.map(({ columns, cuts }, i) => {
      const features = columns.map((values, j) => numbers(`x${j}`, values));
      const isNumber = cuts.length === 0;
      const values = Array.from({ length: rows }, (_, row) => score(columns, row));
      const model = trainModel(
        isNumber
          ? regress(features, values, { n_estimators: 3 })
          : classify(features, labelled(columns, cuts), { n_estimators: 3 }),
      );
      partsOf(model).forEach((part) => parts.add(part));
      const file = path.join(folder, `${i}.bin`);
      writeFileSync(file, saveModel(model));
      const first = features.map(({ name }, j) => ({ name, values: [...columns[j]!.subarray(0, 5)] }));
      return { file, columns: first, options: isNumber ? {} : { of: 1 } };
    });
    const file = path.join(folder, 'tables.json');
    writeFileSync(file, JSON.stringify(asked));
    const [quick, slow] = [explainIn([], file), explainIn(['--no-expose-wasm'], file)];
    assert.deepEqual([quick.hasWasm, slow.hasWasm], [true, false]);
    assert.deepEqual(quick.effects, slow.effects);
    assert.equal(new Set(quick.effects.map(([effects]) => effects)).size, tables.length);
    // Sums of four at a time have a rest where points are not a multiple of four, pairs of classes where these are odd.
    for (const part of [
      ...['trees of 1', 'trees of 13', 'votes of 3', 'votes of 6'],
      ...['process of 1, 0 more', 'process of 3, 0 more', 'process of 3, 1 more'],
    ]) {
      assert.ok(parts.has(part), `${part} is not among ${[...parts].join('; ')}`);
    }
  });
});
