import assert from 'node:assert/strict';

import { profileTable, readBatches } from '../../../dist/src/program-table';
import { type Column, type GivenType, listCells, openTable } from '../../../dist/src/table';
import { collect, rejectsWith } from './helpers';

interface Found {
  column: Column;
  warnings: string;
  cells: unknown[];
}

/** How the first column of a table is taken, and its cells. */
async function found(table: unknown, types?: Record<string, GivenType>): Promise<Found> {
  const source = await openTable(table);
  const { columns, warnings } = await profileTable(source, { types });
  const batches = await collect(readBatches(source, columns.slice(0, 1)));
  return {
    column: columns[0]!,
    warnings: warnings.join(' | '),
    cells: batches.flatMap((batch) => listCells(batch.columns[0]!)),
  };
}

/** The same cells as objects, as a comma-separated file and as a matrix. */
const forms: [string, (cells: string[]) => unknown][] = [
  ['objects', (cells) => cells.map((v) => ({ v, w: 1 }))],
  ['CSV', (cells) => `v,w\n${cells.map((v) => `"${v}",1`).join('\n')}\n`],
  ['a matrix', (cells) => [['v', 'w'], ...cells.map((v) => [v, 1])]],
  ['columns', (cells) => ({ v: cells, w: cells.map(() => 1) })],
];

describe('Text that reads as numbers', () => {
  const cases: [string, string[], number[], string][] = [
    ['a decimal comma', ['0,5', '1,250', '12'], [0.5, 1.25, 12], '"0,5", row 1'],
    ['grouped with points', ['12', '1.100,50', '1.100'], [12, 1100.5, 1100], '"1.100,50", row 2'],
    ['grouped with commas', ['1,100.50', '3', '-1,000,000'], [1100.5, 3, -1e6], '"1,100.50", row 1'],
    ['grouped, points first', ['1.100', '0,5'], [1100, 0.5], '"0,5", row 2'],
  ];
  for (const [form, table] of forms) {
    // In a CSV file a comma that can only group thousands shows the mark.
    const texts = cases.filter(([name]) => form !== 'CSV' || name !== 'grouped with commas');
    for (const [name, cells, numbers, example] of texts) {
      it(`${form}: ${name}`, async () => {
        const plain = await found(table(cells));
        assert.equal(plain.column.type, 'text');
        assert.deepEqual(plain.cells, cells);
        assert.ok(plain.warnings.includes(`Column "v" is text that reads as numbers (`), plain.warnings);
        assert.ok(plain.warnings.includes('set Column types {"v":"number"}'), plain.warnings);
        // A point that groups is seen as such only later in a CSV file.
        assert.ok(plain.warnings.includes(form === 'objects' ? example : 'row '), plain.warnings);
        const given = await found(table(cells), { v: 'number' });
        assert.deepEqual(given.cells, numbers);
        assert.equal(given.warnings, '');
        assert.equal((await found(table(cells), { v: 'text' })).warnings, '');
      });
    }
  }

  it('plain numbers of a database driver stay text, with a warning', async () => {
    const { column, warnings } = await found(['10.50', '3', '1e5', null].map((v) => ({ v, w: 1 })));
    assert.deepEqual(column, { name: 'v', type: 'text' });
    assert.match(warnings, /"v" is text that reads as numbers \("10.50", row 1\)/);
    const given = await found(
      ['10.50', '3', '1.500'].map((v) => ({ v, w: 1 })),
      { v: 'number' },
    );
    assert.deepEqual([given.column, given.cells], [{ name: 'v', type: 'number' }, [10.5, 3, 1.5]]);
  });

  it('says nothing of text that is no number, or an id', async () => {
    for (const cells of [
      ['0,5', 'x'],
      ['007', '1,5'],
      ['1,5', '1.5'],
      ['9007199254740993', '1'],
      ['1.2.3', '1,5'],
      ['1.00,5', '2'],
      ['1,', '2'],
    ]) {
      assert.equal((await found(cells.map((v) => ({ v, w: 1 })))).warnings, '', cells.join(' '));
    }
  });

  it('does not guess where a comma can be two things', async () => {
    for (const table of [
      ['1,234', '12,345'].map((v) => ({ v, w: 1 })),
      'v,w\n"1,234",1\n"12,345",1\n',
      'v\tw\n1,234\t1\n12,345\t1\n',
    ]) {
      const { column, warnings } = await found(table);
      assert.equal(column.type, 'text');
      assert.match(
        warnings,
        /"v" is text that reads as numbers \("1,234", row 1\), but this can mean 1.234 or 1234/,
      );
      await rejectsWith(
        found(table, { v: 'number' }),
        'table.invalid',
        /Column "v", row 1: "1,234" can mean 1.234 or 1234/,
      );
    }
  });

  it('names the cell that does not fit the others', async () => {
    const rows = ['0,5', 'n/v', '1,5'].map((v) => ({ v, w: 1 }));
    await rejectsWith(
      found(rows, { v: 'number' }),
      'table.invalid',
      /Column "v", row 2: "n\/v" is not a number/,
    );
    const points = ['0,5', '1.5'].map((v) => ({ v, w: 1 }));
    await rejectsWith(
      found(points, { v: 'number' }),
      'table.invalid',
      /row 2: "1.5" is not a number with a decimal comma/,
    );
  });

  it('the columns of a model keep the decimal mark', async () => {
    const { column } = await found(
      ['0,5', '1,250'].map((v) => ({ v, w: 1 })),
      { v: 'number' },
    );
    assert.deepEqual(column, { name: 'v', type: 'number', decimal: ',' });
    const read = async (v: unknown, as: Column = column): Promise<unknown> => {
      const [batch] = await collect(readBatches(await openTable({ v }), [as]));
      return listCells(batch!.columns[0]!)[0];
    };
    assert.equal(await read('2,500'), 2.5);
    assert.equal(await read(2.5), 2.5);
    assert.equal(await read('NA'), null);
    await rejectsWith(read('2.5'), 'table.invalid', /not a number with a decimal comma/);
    // A file whose fields are parted by ";" tells the mark itself, so its columns name none.
    const plain: Column = { name: 'v', type: 'number' };
    assert.deepEqual(
      await Promise.all(['2,5', '1.002,5', '1,002.5', '2.500'].map((v) => read(v, plain))),
      [2.5, 1002.5, 1002.5, 2.5],
    );
    await rejectsWith(read('2,500', plain), 'table.invalid', /"2,500" can mean 2.5 or 2500/);
  });

  it('one warning for all columns that look alike', async () => {
    const row = Object.fromEntries(Array.from({ length: 7 }, (_, i) => [`c${i}`, '0,5']));
    const { warnings } = await profileTable(await openTable([row, row]));
    assert.equal(warnings.length, 1);
    assert.match(warnings[0]!, /Columns "c0", .*"c4" and 2 more are text.*"0,5", column "c0", row 1/);
  });

  it('is found far down too, and in Arrow text', async () => {
    const cells = Array.from({ length: 9000 }, (_, i) => (i === 8999 ? 'end' : `${i},5`));
    assert.match(
      (await found(cells.map((v) => ({ v, w: 1 })))).warnings,
      /1 of its 9000 cells does not read as numbers: "end" \(row 9000\)/,
    );
    const { tableFromArrays } = await import('apache-arrow');
    const arrow = tableFromArrays({ v: ['0,5', '1,5'], w: [1, 2] });
    assert.match((await found(arrow)).warnings, /"v" is text that reads as numbers \("0,5", row 1\)/);
    assert.deepEqual((await found(arrow, { v: 'number' })).cells, [0.5, 1.5]);
  });
});

describe('Decimal commas in files', () => {
  it('cells copied from a spreadsheet, with tabs', async () => {
    const { column, cells, warnings } = await found('a\tb\n1,5\t2,5\n1,250\t3\n');
    assert.deepEqual(column, { name: 'a', type: 'number', decimal: ',' });
    assert.deepEqual([cells, warnings], [[1.5, 1.25], '']);
    const points = await found('a\tb\n1.5\t2,5\n1.250\t3\n');
    assert.deepEqual([points.column, points.cells], [{ name: 'a', type: 'number' }, [1.5, 1.25]]);
  });

  it('a tab-separated row for a model of numbers: a comma that can be only one thing', async () => {
    const read = async (text: string): Promise<unknown[]> => {
      const columns = [{ name: 'a', type: 'number' }] as const;
      const [batch] = await collect(readBatches(await openTable(text), columns));
      return listCells(batch!.columns[0]!);
    };
    assert.deepEqual(await read('a\tb\n1,5\tx\n1,234.5\ty\n1.5\tz\n'), [1.5, 1234.5, 1.5]);
    await rejectsWith(read('a\tb\n1,234\tx\n'), 'table.invalid', /can mean 1.234 or 1234/);
  });

  it('with ";", as ever; grouped ones where there is no doubt', async () => {
    const { column, cells, warnings } = await found('a;b\n1,234;2\n5,678;3\n');
    assert.deepEqual([column, cells, warnings], [{ name: 'a', type: 'number' }, [1.234, 5.678], '']);
    assert.deepEqual((await found('a;b\n900,50;2\n1.100;3\n')).cells, [900.5, 1100]);
    assert.deepEqual((await found('a;b\n900,50;2\n1.100,50;3\n', { a: 'number' })).cells, [900.5, 1100.5]);
    assert.deepEqual((await found('a;b\n0,5;2\n1.5;3\n', { a: 'number' })).cells, [0.5, 1.5]);
  });
});

describe('Dates as people write them', () => {
  for (const [form, table] of forms) {
    it(`${form}: are dates where their order is certain`, async () => {
      for (const [cells, order] of [
        [['05.03.2024', '31.12.2024'], 'dmy'],
        [['03/05/2024 10:00', '12/31/2024 9:30 PM'], 'mdy'],
        [['5.3.2024', '05.03.2024'], 'dmy'],
        [['2024/03/05', '2024/3/6 10:00:00'], 'ymd'],
        [['05/03/2024', 'NA', '31/12/2024'], 'dmy'],
      ] as const) {
        const { column, warnings } = await found(table([...cells]));
        assert.deepEqual([column, warnings], [{ name: 'v', type: 'date', order }, ''], cells.join(' '));
        assert.equal((await found(table([...cells]), { v: 'text' })).column.type, 'text');
      }
    });
    it(`${form}: what is no date is text`, async () => {
      for (const cells of [
        ['1.2.10', '2.0.11'],
        ['32.01.2024'],
        ['29.02.2023'],
        ['1/2', '3/4'],
        ['1/2/2024 13:00 PM'],
      ]) {
        const { column, warnings } = await found(table(cells));
        assert.deepEqual([column.type, warnings], ['text', ''], cells.join(' '));
      }
    });
    it(`${form}: the order is asked for where it could be two`, async () => {
      const cells = ['03/05/2024', '04/06/2024'];
      const { column, warnings } = await found(table(cells));
      assert.equal(column.type, 'text');
      assert.match(
        warnings,
        /the day may come first or the month: set Column types \{"v":"date-dmy"\} or \{"v":"date-mdy"\}/,
      );
      await rejectsWith(
        found(table(cells), { v: 'date' }),
        'table.invalid',
        /"03\/05\/2024" can mean 2024-05-03 or 2024-03-05/,
      );
      assert.deepEqual((await found(table(cells), { v: 'date-dmy' })).cells[0], new Date('2024-05-03'));
      assert.deepEqual((await found(table(cells), { v: 'date-mdy' })).cells[0], new Date('2024-03-05'));
    });
  }

  it('times have seconds, fractions and halves of the day', async () => {
    const texts = ['1/31/2024 12:05 AM', '1/31/2024, 12:05:30 pm', '1/31/24 11:59:59.5 PM'];
    const { cells } = await found(texts.map((v) => ({ v, w: 1 })));
    const times = ['2024-01-31T00:05Z', '2024-01-31T12:05:30Z', '2024-01-31T23:59:59.500Z'];
    assert.deepEqual(
      cells,
      times.map((time) => new Date(time)),
    );
  });

  it('ISO text in objects is a date, as in CSV text', async () => {
    const rows = ['2024-11-21 00:00:00', '2024-01-02T10:00:00Z', null].map((v) => ({ v, w: 1 }));
    const { column, warnings, cells } = await found(rows);
    assert.deepEqual([column, warnings], [{ name: 'v', type: 'date' }, '']);
    assert.deepEqual(cells, [new Date('2024-11-21T00:00:00Z'), new Date('2024-01-02T10:00:00Z'), null]);
  });

  it('given as dates, numbers are times since 1970 in their unit', async () => {
    const rows = [1732147200, 1732147200000, '1732147200', '2024-11-21', 1.7e21].map((v) => ({ v, w: 1 }));
    const day = new Date('2024-11-21T00:00:00Z');
    const { cells } = await found(rows.slice(0, 4), { v: 'date' });
    assert.deepEqual(cells, [day, day, day, day]);
    await rejectsWith(found(rows, { v: 'date' }), 'table.invalid', /row 5: 1.7e\+21 is not a date/);
  });

  it('says of intervals that they stay text', async () => {
    for (const cells of [
      ['2024-01-01/2024-01-02', '2024-01-02/2024-01-03'],
      ['2020-06-01T12:00:00.0/2020-06-01T12:01:00.0', '2020-06-01T12:01:00.0/2020-06-01T12:02:00.0'],
      ['2024-01-01T00:00Z/PT15M', '2024-01-01T00:15Z/PT15M'],
      ['PT15M/2024-01-01T00:15Z', 'PT15M/2024-01-01T00:30Z'],
    ]) {
      for (const [, table] of forms) {
        const { column, warnings } = await found(table(cells));
        assert.equal(column.type, 'text');
        assert.ok(warnings.includes(cells[0]!.slice(0, 35)), `${cells[0]}: ${warnings}`);
      }
    }
  });
});
