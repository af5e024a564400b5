import assert from 'node:assert/strict';

import { profileTable, readBatches, readRows } from '../../../dist/src/program-table';
import { type Column, listCells, openTable, type ProfileOptions } from '../../../dist/src/table';
import { collect, rejectsWith } from './helpers';

interface Read {
  columns: Column[];
  cells: unknown[][];
  warnings: string;
}

async function read(table: unknown, options: ProfileOptions = {}): Promise<Read> {
  const source = await openTable(table);
  const { columns, warnings } = await profileTable(source, options);
  const batches = await collect(readBatches(source, columns));
  const cells = columns.map((_, at) => batches.flatMap((batch) => listCells(batch.columns[at]!)));
  return { columns, cells, warnings: warnings.join('\n') };
}

/** A file of one column beside a counter, its cells in quotes. */
function csv(cell: (i: number) => string, delimiter = ',', rows = 9): string {
  const lines = Array.from({ length: rows }, (_, i) => `${i}${delimiter}"${cell(i).replaceAll('"', '""')}"`);
  return `n${delimiter}v\n${lines.join('\n')}\n`;
}

const day = (date: string): Date => new Date(date);

describe('Numbers as people write them, in a file', () => {
  const cases: [name: string, cell: (i: number) => string, second: number, unit?: string][] = [
    ['thousands in spaces', (i) => `1 ${230 + i}`, 1231],
    ['thousands in no-break spaces', (i) => (i % 2 ? `1\u00a0${230 + i}` : '999'), 1231],
    ['thousands in thin spaces', (i) => `1\u2009${230 + i}`, 1231],
    ['thousands in apostrophes', (i) => `1’${230 + i}`, 1231],
    ['Indian thousands', (i) => `12,34,56${i}`, 1234561],
    ['the sign for minus', (i) => (i % 2 ? `\u2212${i}.5` : `${i}`), -1.5],
    ['parentheses', (i) => (i % 2 ? `(${i}.50)` : `${i}.50`), -1.5],
    ['parentheses and a currency', (i) => (i % 2 ? `$(1,23${i}.50)` : `$${i}.50`), -1231.5, '$'],
    ['a minus behind', (i) => `${i}.50-`, -1.5],
    ['full-width digits', (i) => `１２．${i}`, 12.1],
    ['the shell of a formula', (i) => `="${i}.5"`, 1.5],
    ['percent', (i) => `${i}.5%`, 1.5, '%'],
    ['a code of a currency', (i) => `EUR ${i}.50`, 1.5, 'EUR'],
    ['yen', (i) => `￥${i}`, 1, '¥'],
    ['a temperature', (i) => `-${i}.5 ℃`, -1.5, '°C'],
    ['a unit without a space', (i) => `${i}.5kWh`, 1.5, 'kWh'],
    ['times of day', (i) => `0${i}:30`, 5400, 'h:mm'],
    ['yen with thousands', (i) => `¥1,23${i}`, 1231, '¥'],
    ['won with thousands', (i) => `1,234,56${i} KRW`, 1234561, 'KRW'],
    ['digits of Arabic', (i) => `١٢${'٠١٢٣٤٥٦٧٨٩'[i]}`, 121],
    ['digits of Devanagari', (i) => `१२${'०१२३४५६७८९'[i]}`, 121],
    ['a space of no width', (i) => `${i}.5\u200b`, 1.5],
    ['thousands', (i) => (i % 2 ? `${i}.5k` : `${i}`), 1500],
    ['millions', (i) => `-${i}.5M`, -1_500_000],
    ['halves and quarters', (i) => (i % 2 ? `${i} 1/2` : `${i}-3/4`), 1.5],
    ['their signs', (i) => `${i} ⅜`, 1.375],
    ['hours of half a day', (i) => `${i + 1} PM`, 14 * 3600, 'h:mm'],
    ['times in Japanese', (i) => `1${i}時05分`, 11 * 3600 + 300, 'h:mm'],
    ['halves of the day in Japanese', (i) => `午後${i}時5分30秒`, 13 * 3600 + 330, 'h:mm'],
    ['a minus behind a space', (i) => `${i}.50 -`, -1.5],
    ['times with a point', (i) => `1${i}.05 Uhr`, 11 * 3600 + 300, 'h:mm'],
    ['times with a letter', (i) => `1${i}h05`, 11 * 3600 + 300, 'h:mm'],
    ['durations of programs', (i) => `PT${i}H30M0.5S`, 5400.5, 'h:mm'],
    ['durations with days', (i) => `-P${i}DT12H`, -36 * 3600, 'h:mm'],
    ['durations in words', (i) => `${i} hours 30 min`, 5400, 'h:mm'],
    ['days and a time', (i) => (i % 2 ? `${i} day, 0:30:00` : `${i}.00:30:00`), 88_200, 'h:mm'],
    ['times of half a day', (i) => `${i + 1}:05:07 PM`, 14 * 3600 + 307, 'h:mm'],
  ];
  for (const [name, cell, second, unit] of cases) {
    it(`${name}: are numbers`, async () => {
      const { columns, cells, warnings } = await read(csv(cell));
      assert.ok(['number', 'integer'].includes(columns[1]!.type), columns[1]!.type);
      assert.deepEqual([cells[1]![1], columns[1]!.unit, warnings], [second, unit, '']);
    });
  }

  it('with commas for decimals, beside semicolons', async () => {
    const { cells, warnings } = await read(csv((i) => `\u22121.23${i},50 €`, ';'));
    assert.deepEqual([cells[1]![1], warnings], [-1231.5, '']);
  });

  it('with cents or without, whatever stands between the fields', async () => {
    for (const [cell, delimiter, second] of [
      [(i: number) => `¥1,23${i}`, ';', 1231],
      [(i: number) => `Rp 1.23${i}`, ',', 1231],
      [(i: number) => `${i} 1/2`, ';', 1.5],
      [(i: number) => `${i},5k`, ';', 1500],
    ] as const) {
      const { cells, warnings } = await read(csv(cell, delimiter));
      assert.deepEqual([cells[1]![1], warnings], [second, ''], cell(1));
    }
  });

  it('money with three digits after its mark is told, since these may be thousands', async () => {
    for (const [cell, delimiter, mark] of [
      [(i: number) => `€1,23${i}`, ';', 'comma'],
      [(i: number) => `1.23${i} €`, ',', 'point'],
      [(i: number) => `$1.23${i}`, ';', 'point'],
    ] as const) {
      const { cells, warnings } = await read(csv(cell, delimiter));
      assert.equal(cells[1]![1], 1.231);
      assert.match(warnings, new RegExp(`a decimal ${mark}, .* can mean .*1.23.*: where ${mark}s group`));
      const other = mark === 'comma' ? 'number-point' : 'number-comma';
      const given = await read(csv(cell, delimiter), { types: { v: other } });
      assert.deepEqual([given.cells[1]![1], given.warnings], [1231, '']);
    }
    assert.match((await read(csv((i) => `$1,23${i}`))).warnings, /can mean 1.23 or 1230/);
  });

  it('what is not certain stays text, and is told', async () => {
    for (const cell of [
      (i: number) => `~${i}`,
      (i: number) => `<0.${i}`,
      (i: number) => `${i} ± 1`,
      (i: number) => `${i},5E+05`,
      (i: number) => `P1Y${i}M`,
      (i: number) => `48°${i}'30"`,
      (i: number) => `Feb-2${i}`,
      (i: number) => `${i + 1}. März`,
      (i: number) => `0${i + 1}.2024`,
      (i: number) => `2024-03-1${i}T10:00:00[Europe/Berlin]`,
    ]) {
      const { columns, warnings } = await read(csv(cell));
      assert.equal(columns[1]!.type, 'text', cell(1));
      assert.match(
        warnings,
        /"v" is text that looks like numbers or dates \(.*row 1\), but is not read/,
        cell(1),
      );
    }
  });

  it('what only looks like it stays text', async () => {
    for (const cell of [
      (i: number) => `030 123 45${i}`,
      (i: number) => `1.2.${i + 10}`,
      (i: number) => `${i}x`,
      (i: number) => `ABC ${i}`,
      (i: number) => `9 007 199 254 740 99${i}`,
      (i: number) => `16:${i}`,
      (i: number) => `${i + 1}/4`,
      (i: number) => `${i}G`,
      (i: number) => `2024-10${i}`,
    ]) {
      const { columns, warnings } = await read(csv(cell));
      assert.equal(columns[1]!.type, 'text', cell(1));
      assert.doesNotMatch(warnings, /looks like/, cell(1));
    }
  });

  it('a number without the unit of the others is told, and refused later', async () => {
    const { columns, warnings } = await read(csv((i) => (i === 5 ? '0.4' : `${i} %`)));
    assert.equal(columns[1]!.type, 'text');
    assert.match(warnings, /"v" holds numbers and text.*"0.4" in row 6/);
    const percent: Column[] = [{ name: 'v', type: 'number', unit: '%' }];
    const batches = async (v: unknown): Promise<unknown> => {
      const [batch] = await collect(readBatches(await openTable({ v }), percent));
      return listCells(batch!.columns[0]!)[0];
    };
    assert.deepEqual([await batches('4 %'), await batches(4), await batches('NA')], [4, 4, null]);
    await rejectsWith(batches('0.4'), 'table.invalid', /"0.4" has no unit, and .* have "%"/);
    await rejectsWith(batches('4 €'), 'table.invalid', /"4 €" has the unit "€"/);
  });

  it('rows that leave again keep their text', async () => {
    const rows = await readRows(await openTable(csv((i) => `0${i}:30`)));
    assert.deepEqual(rows[1], { n: 1, v: '01:30' });
  });

  it('text of messages that reads so is told, and read once its type is given', async () => {
    const rows = ['(1 234,50) €', '2,50 €'].map((v) => ({ v, n: 1 }));
    assert.match(
      (await read(rows)).warnings,
      /"v" is text that reads as numbers \("\(1 234,50\) €", row 1\)/,
    );
    const { cells } = await read(rows, { types: { v: 'number' } });
    assert.deepEqual(cells[0], [-1234.5, 2.5]);
  });
});

describe('Dates as people and programs write them', () => {
  const cases: [cell: (i: number) => string, second: Date][] = [
    [(i) => `Jan ${i + 1}, 2024`, day('2024-01-02')],
    [(i) => `September ${i + 1}st, 2024 5:0${i} PM`, day('2024-09-02T17:01Z')],
    [(i) => `Mon, ${i + 1} Jan 2024 10:00:00 +0100`, day('2024-01-02T09:00Z')],
    [(i) => new Date(Date.UTC(2024, 0, i + 1)).toString(), day('2024-01-02')],
    [(i) => `2024112${i}T0905`, day('2024-11-21T09:05Z')],
    [(i) => `2024112${i}:0905`, day('2024-11-21T09:05Z')],
    [(i) => `2024112${i} 090507`, day('2024-11-21T09:05:07Z')],
    [(i) => `2024112${i}T090507Z`, day('2024-11-21T09:05:07Z')],
    [(i) => `2024112${i}`, day('2024-11-21')],
    [(i) => `2024112${i}0905`, day('2024-11-21T09:05Z')],
    [(i) => `2024-11-2${i} 10:00:00 UTC`, day('2024-11-21T10:00Z')],
    [(i) => `2024-11-2${i}, 10:00`, day('2024-11-21T10:00Z')],
    [(i) => `2024-0${i + 1}`, day('2024-02-01')],
    [(i) => `${['January', 'February', 'March', 'April', 'May'][i % 5]!}-2024`, day('2024-02-01')],
    [(i) => `2024M0${i + 1}`, day('2024-02-01')],
    [(i) => `1/${i + 13}/24, 3:05\u202fPM`, day('2024-01-14T15:05Z')],
    [(i) => `Di., ${i + 1}.01.2024 14:05 Uhr`, day('2024-01-02T14:05Z')],
    [(i) => `${i + 13}/01/2024 14h05`, day('2024-01-14T14:05Z')],
    [(i) => `令和6年1月${i + 1}日(火)`, day('2024-01-02')],
    [(i) => `2024/11/2${i} 午後3:05`, day('2024-11-21T15:05Z')],
    [(i) => `0${i + 1}.01.2024 24:00`, day('2024-01-03')],
    [(i) => `2024-W1${i}`, day('2024-03-11')],
    [(i) => `2020W53${(i % 7) + 1}`, day('2020-12-29')],
    [(i) => `2024-Q${(i % 4) + 1}`, day('2024-04-01')],
    [(i) => `${['Jan', 'März', 'may'][i % 3]} 2024`, day('2024-03-01')],
    [(i) => `${i + 1}/2024`, day('2024-02-01')],
    [(i) => `${['Jan', 'Mar'][i % 2]} 5, 202${i}`, day('2021-03-05')],
    [(i) => `Thu Mar  ${i + 1} 10:00:00 2024`, day('2024-03-02T10:00Z')],
    [(i) => `1${i}/Mar/2024:10:00:00 +0100`, day('2024-03-11T09:00Z')],
    [(i) => `2024-03-1${i} 10:00:00 +0000 UTC`, day('2024-03-11T10:00Z')],
    [(i) => `2024-03-1${i}T10:00:00+01:00[Europe/Berlin]`, day('2024-03-11T09:00Z')],
    [(i) => `2024年3月${i + 1}日 下午3:05`, day('2024-03-02T15:05Z')],
    [(i) => `${i + 1} марта 2024 г.`, day('2024-03-02')],
  ];
  for (const [cell, second] of cases) {
    it(`${cell(1)}: is a date, in a file and in objects`, async () => {
      const table = csv(cell);
      const { columns, cells, warnings } = await read(table);
      assert.deepEqual([columns[1]!.type, cells[1]![1], warnings], ['date', second, '']);
      // Digits alone are a number to JavaScript programs, until the type is given.
      const objects = Array.from({ length: 9 }, (_, i) => ({ v: cell(i), n: 1 }));
      const given = await read(objects, { types: { v: 'date' } });
      assert.deepEqual(given.cells[0]![1], second);
    });
  }

  it('a year of two digits that may come first is told, unless the column tells', async () => {
    const { columns, warnings } = await read(csv((i) => `24-03-1${i}`));
    assert.equal(columns[1]!.type, 'text');
    assert.match(warnings, /"24-03-10", row 1\), but the day, the month or the year may come first/);
    const given = await read(
      csv((i) => `24-03-1${i}`),
      { types: { v: 'date-dmy' } },
    );
    assert.deepEqual(given.cells[1]![1], day('2011-03-24'));
    assert.deepEqual((await read(csv((i) => `5${i}-03-11`))).cells[1]![1], day('1951-03-11'));
    assert.deepEqual((await read(csv((i) => `2${i}-03-99`))).cells[1]![1], day('1999-03-21'));
  });

  it('numbers of a date column: days of a spreadsheet, digits, or seconds since 1970', async () => {
    const types = { v: 'date' } as const;
    for (const [numbers, second] of [
      [[45000, 45292.5], day('2024-01-01T12:00Z')],
      [[20240131, 20241121], day('2024-11-21')],
      [[2024013100, 2024112109], day('2024-11-21T09:00Z')],
      [[1732000000, 1732147200], day('2024-11-21')],
      [[45000, 1732147200], day('2024-11-21')],
    ] as const) {
      for (const table of [numbers.map((v) => ({ v, n: 1 })), `v,n\n${numbers.join(',1\n')},1\n`]) {
        assert.deepEqual((await read(table, { types })).cells[0]![1], second, String(numbers));
      }
    }
  });

  it('dates in digits are dates in rows as they are in a file, as numbers and as text', async () => {
    const forms = [
      ['20240131', '20240229', '20241121', '2024-11-21'],
      ['2024013100', '2024022923', '2024112109', '2024-11-21T09:00Z'],
      ['202401310000', '202402292359', '202411210905', '2024-11-21T09:05Z'],
    ];
    for (const [first = '', second = '', third = '', last = ''] of forms) {
      const texts = [first, second, third];
      for (const table of [
        texts.map((v, n) => ({ v, n })),
        texts.map((v, n) => ({ v: Number(v), n })),
        [...texts.map((v, n) => ({ v: Number(v), n })), { v: null, n: 1 }, { v: 'NA', n: 1 }],
        { v: Float64Array.from(texts, Number), n: [1, 2, 3] },
        `v,n\n${texts.join(',1\n')},1\n`,
      ]) {
        const { columns, cells, warnings } = await read(table);
        assert.deepEqual([columns[0]!.type, columns[0]!.numbers, warnings], ['date', 'digits', '']);
        assert.deepEqual(cells[0]![2], day(last));
      }
      // No month has so many days; two may be by chance; labels stay.
      for (const other of ['20240231', '20240131.5', 'x']) {
        const { columns } = await read([...texts, other].map((v, n) => ({ v, n })));
        assert.equal(columns[0]!.type, 'text');
      }
      const few = await read(texts.slice(0, 2).map((v, n) => ({ date: Number(v), n })));
      assert.equal(few.columns[0]!.type, 'integer');
      assert.match(few.warnings, /may be dates/);
      const target = await read(
        texts.map((v, n) => ({ v: Number(v), n })),
        { target: 'v' },
      );
      assert.equal(target.columns[0]!.type, 'integer');
    }
  });

  it('numbers that may be dates by name and size are told', async () => {
    for (const [name, value, told] of [
      ['Datum', 45292, true],
      ['lastChanged_ts', 1732000000, true],
      ['time', 1732000000000, true],
      ['time', 45292, false],
      ['time', 202401310900, true],
      ['count', 1732000000, false],
      ['date', 7, false],
    ] as const) {
      const { warnings } = await read([1, 2].map((i) => ({ [name]: value + i, n: i })));
      assert.equal(/may be dates: set Column types/.test(warnings), told, `${name} ${value}`);
    }
    const options: ProfileOptions = { types: { Datum: 'integer' } };
    assert.equal((await read([{ Datum: 45292, n: 1 }], options)).warnings, '');
  });
});

describe('The decimal mark of a file', () => {
  it('is that of its other columns, where a number could have either', async () => {
    const german = await read('a;b\n1.234;0,5\n2.500;1,5\n');
    assert.deepEqual([german.cells[0], german.warnings], [[1234, 2500], '']);
    const program = await read('a;b\n1.234;0.5\n2.500;1.5\n');
    assert.deepEqual([program.cells[0], program.warnings], [[1.234, 2.5], '']);
    const american = await read('a,b\n"1,234",0.5\n"2,500",1.5\n');
    assert.deepEqual([american.cells[0], american.warnings], [[1234, 2500], '']);
  });

  it('is told, and can be given, where nothing else tells it', async () => {
    const text = 'a;b\n1.234;1\n2.500;2\n';
    const { cells, warnings } = await read(text);
    assert.deepEqual(cells[0], [1.234, 2.5]);
    assert.match(warnings, /"1.234" \(row 1\) can mean 1234 or 1.234: .*\{"a":"number-comma"\}/);
    const comma = await read(text, { types: { a: 'number-comma' } });
    assert.deepEqual([comma.cells[0], comma.warnings], [[1234, 2500], '']);
    const point = await read(text, { types: { a: 'number-point' } });
    assert.deepEqual([point.cells[0], point.warnings], [[1.234, 2.5], '']);
    const doubtful = await read('a,b\n"1,234",1\n"2,500",2\n', { types: { a: 'number-point' } });
    assert.deepEqual(doubtful.cells[0], [1234, 2500]);
  });
});

describe('Files of Japan', () => {
  it('are read as Shift-JIS, with a warning, wherever a piece ends', async () => {
    // 日付,電力量 and 稼働, as Excel saves them there.
    const head = Buffer.from('93fa95742c936497cd97ca', 'hex');
    const state = Buffer.from('89d293ad', 'hex');
    const row = Buffer.concat([Buffer.from('2024/11/21,'), state, Buffer.from('\r\n')]);
    const bytes = Buffer.concat([head, Buffer.from('\r\n'), ...new Array<Buffer>(6000).fill(row)]);
    const { columns, cells, warnings } = await read(bytes);
    assert.deepEqual(
      columns.map(({ name, type }) => [name, type]),
      [
        ['日付', 'date'],
        ['電力量', 'text'],
      ],
    );
    assert.deepEqual([...new Set(cells[1])], ['稼働']);
    assert.match(warnings, /read as Shift-JIS/);
  });

  it('other encodings are not taken for it', async () => {
    for (const hex of ['c4ead2c62c76616c7565', 'cfeef2f0e5e1ebe5ede8e5', 'a4d5a4a9a4c8']) {
      const bytes = Buffer.concat([Buffer.from(hex, 'hex'), Buffer.from(',n\n1,2\n')]);
      await rejectsWith(read(bytes), 'table.invalid', /is not UTF-8/);
    }
  });
});
