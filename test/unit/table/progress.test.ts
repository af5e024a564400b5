import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import {
  closeEncoder,
  encodeBatches,
  openTable,
  openTableFile,
  type TableSource,
} from '../../../dist/src/table';
import { bytesOf } from './helpers';

const ROWS = 60_000;

describe('the part of a table that has been read', function () {
  this.timeout(60_000);
  let folder: string;
  const csv = () =>
    `名前,x,y\n${Array.from({ length: ROWS }, (_, i) => `東京都千代田区${i},${i},${i % 7}`).join('\n')}\n`;

  before(() => {
    folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-progress-'));
  });

  after(async () => {
    await closeEncoder();
    fs.rmSync(folder, { recursive: true, force: true });
  });

  /** Rises by small steps to the end. */
  function demandSteady(told: number[], least: number): void {
    assert.ok(told.length >= least, `told ${told.length} times`);
    assert.deepEqual(
      told,
      [...told].sort((a, b) => a - b),
    );
    assert.equal(told.at(-1), 1);
    const steps = told.map((part, i) => part - (told[i - 1] ?? 0));
    assert.ok(Math.max(...steps) < 0.5, `a step of ${Math.max(...steps)}`);
  }

  const profiled = async (source: TableSource) => {
    const told: number[] = [];
    await profileTable(source, { onRead: (part) => told.push(part) });
    return told;
  };
  const read = async (source: TableSource) => {
    const told: number[] = [];
    const { columns } = await profileTable(source);
    const options = { maxRows: 5000, onRead: (part: number) => told.push(part) };
    for await (const batch of readBatches(source, columns, options)) {
      assert.ok(batch.rows > 0);
    }
    return told;
  };

  it('CSV text and bytes, by their size, whatever a character takes', async () => {
    for (const value of [csv(), Buffer.from(csv())]) {
      demandSteady(await profiled(await openTable(value)), 10);
      demandSteady(await read(await openTable(value)), 10);
    }
  });

  it('a CSV file on disk, by its size: told from the thread that reads it, a percent at a time', async () => {
    const file = path.join(folder, 'table.csv');
    fs.writeFileSync(file, csv());
    const told = await profiled(await openTableFile(file));
    demandSteady(told, 8);
    assert.ok(told.length <= 101);
    demandSteady(await read(await openTableFile(file)), 8);
  });

  it('a Parquet file on disk and rows in memory, by their number', async () => {
    const rows = Array.from({ length: ROWS }, (_, i) => ({ x: i, y: i % 7 }));
    const source = await openTable(rows);
    demandSteady(await profiled(source), 10);
    const { columns } = await profileTable(source);
    const encoded = await encodeBatches(columns, readBatches(source, columns));
    const file = path.join(folder, 'table.parquet');
    fs.writeFileSync(file, await bytesOf(encoded));
    await encoded.dispose();
    demandSteady(await profiled(await openTableFile(file)), 3);
  });
});
