import { strict as assert } from 'node:assert';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { type Column, listCells, openTable } from '../../../dist/src/table';
import { collect } from './helpers';

const now = new Date().getUTCFullYear();
const digits = (year: number): string => String(year % 100).padStart(2, '0');

async function read(
  cells: readonly string[],
  columns?: readonly Column[],
): Promise<{ column: Column; years: number[]; warnings: string[] }> {
  const source = await openTable(`day,y\n${cells.map((cell, row) => `${cell},${row}`).join('\n')}\n`);
  const profile = await profileTable(source);
  const [column] = columns ?? profile.columns;
  const batches = await collect(readBatches(source, [column!]));
  const dates = batches.flatMap(({ columns: [found] }) => listCells(found!));
  return {
    column: column!,
    years: dates.map((date) => (date as Date).getUTCFullYear()),
    warnings: profile.warnings,
  };
}

describe('Years of two digits', () => {
  for (const [name, write] of [
    ['day and month in numbers', (year: number) => `13/2/${digits(year)}`],
    ['with points', (year: number) => `13.02.${digits(year)}`],
    ['with the month by name', (year: number) => `13-Feb-${digits(year)}`],
    ['with a weekday', (year: number) => `Mon 13/2/${digits(year)}`],
    ['with a time', (year: number) => `13/2/${digits(year)} 10:05`],
  ] as const) {
    it(`never put a birth into the future, and say where they decided: ${name}`, async () => {
      const births = Array.from({ length: 90 }, (_, age) => now - age);
      const { column, years, warnings } = await read(births.map(write));
      assert.deepEqual(years, births);
      assert.equal(column.years, now);
      assert.match(
        warnings.join(),
        new RegExp(
          `"day" has dates whose year has two digits, .* ${now - 99} to ${now}: ".*" \\(row 90\\) is of ${now - 89}`,
        ),
      );
    });
  }

  it('are past where all of them could be ahead', async () => {
    const { years } = await read(['1/13/30', '2/14/35', '3/15/40']);
    assert.deepEqual(years, [1930, 1935, 1940]);
  });

  it('may be ahead where a plan has both, and tell nothing then', async () => {
    const plan = [now - 2, now, now + 1, now + 9];
    const { column, years, warnings } = await read(plan.map((year) => `13/2/${digits(year)}`));
    assert.deepEqual([years, column.years, warnings], [plan, now + 20, []]);
  });

  it('are read by the model as in its train set; a card without the year as ever', async () => {
    const { column } = await read(['1/13/58', '2/14/62', '3/15/99']);
    assert.deepEqual((await read(['1/13/60'], [column])).years, [1960]);
    const before: Column = { name: 'day', type: 'date', order: 'mdy' };
    assert.deepEqual((await read(['1/13/60', '1/13/70'], [before])).years, [2060, 1970]);
  });

  it('are nothing to dates of four digits', async () => {
    const { column, warnings } = await read(['13/2/1958', '14/2/1999']);
    assert.deepEqual([column, warnings], [{ name: 'day', type: 'date', order: 'dmy' }, []]);
  });
});
