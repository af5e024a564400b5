import assert from 'node:assert/strict';

import fc from 'fast-check';
import Papa from 'papaparse';

import { profileTable, readRows } from '../../../dist/src/program-table';
import { openTable } from '../../../dist/src/table';
import { CsvParser, CsvSource, stringPieces } from '../../doors/table';
import { SliceSizer } from '../../doors/util';
import { collect, rejectsWith } from './helpers';

/** All rows of a text that is pushed in pieces of this size, the header first. */
function parse(text: string, size: number, delimiter = ','): string[][] {
  const parser = new CsvParser(delimiter);
  const rows: string[][] = [];
  const take = (): void => {
    const { rows: count, columns } = parser.take();
    for (let row = 0; row < count; row++) {
      rows.push(columns.map((column) => column[row]!));
    }
  };
  for (let at = 0; at < text.length; at += size) {
    parser.push(text.slice(at, at + size), false);
    take();
  }
  parser.push('', true);
  take();
  return [parser.names!, ...rows];
}

const field = fc.string({
  unit: fc.constantFrom('a', 'é', '😀', '"', ',', ';', '\n', '\r', ' ', '1'),
  maxLength: 6,
});

describe('CSV parser', () => {
  it('reads what papaparse writes, in pieces of any size', () => {
    fc.assert(
      fc.property(
        fc
          .integer({ min: 2, max: 5 })
          .chain((width) =>
            fc.array(fc.array(field, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
          ),
        fc.integer({ min: 1, max: 40 }),
        fc.constantFrom('\n', '\r\n'),
        (rows, size, newline) => {
          const text = Papa.unparse(rows, { newline, quotes: true });
          assert.deepEqual(parse(text, size), rows);
        },
      ),
      { numRuns: 400 },
    );
  });

  it('agrees with papaparse on unquoted text', () => {
    const plain = fc.string({
      unit: fc.constantFrom('a', 'b', ' ', '1', '.', 'é'),
      minLength: 1,
      maxLength: 5,
    });
    fc.assert(
      fc.property(
        fc.array(fc.tuple(plain, plain, plain), { minLength: 1, maxLength: 10 }),
        fc.integer({ min: 1, max: 20 }),
        (rows, size) => {
          const text = rows.map((row) => row.join(',')).join('\n');
          assert.deepEqual(parse(text, size), Papa.parse(text, { delimiter: ',', newline: '\n' }).data);
        },
      ),
    );
  });

  it('takes LF, CRLF and CR, also mixed, and skips empty lines', () => {
    const rows = [
      ['a', 'b'],
      ['1', '2'],
      ['3', '4'],
      ['5', '6'],
    ];
    for (const size of [1, 2, 3, 100]) {
      assert.deepEqual(parse('a,b\r\n1,2\n\n3,4\r5,6\r\n\r\n', size), rows);
    }
  });

  it('keeps quotes inside unquoted text', () => {
    assert.deepEqual(parse('size,n\n5" pipe,1\n', 4), [
      ['size', 'n'],
      ['5" pipe', '1'],
    ]);
  });

  it('names the row that has too many or too few fields', () => {
    assert.throws(
      () => parse('a,b\n1,2\n1,2,3\n', 100),
      /Row 2 has 3 fields, the header has 2. Put text that holds "," in quotes/,
    );
    assert.throws(() => parse('a,b\n1\n', 100), /Row 1 has 1 field, the header has 2. Leave an empty field/);
  });

  it('names the row whose quote is never closed', () => {
    assert.throws(() => parse('a,b\n1,2\n"3,4\n5,6\n', 3), /Row 2: the quote before "3,4.*is never closed/);
    assert.throws(() => parse('a,b\n"1"x,2\n', 3), /Row 1: text follows the closing quote of field 1/);
  });

  it('agrees with itself on text of any kind, in pieces of any size', () => {
    const text = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r', ' '), maxLength: 30 });
    const outcome = (csv: string, size: number): unknown => {
      try {
        return parse(csv, size);
      } catch (error) {
        return (error as Error).message;
      }
    };
    fc.assert(
      fc.property(text, fc.integer({ min: 1, max: 12 }), (body, size) => {
        const csv = `x,y\n${body}`;
        assert.deepEqual(outcome(csv, size), outcome(csv, csv.length));
      }),
      { numRuns: 3000 },
    );
  });

  it('parts fields at any number of spaces, in pieces of any size', () => {
    const word = fc.stringMatching(/^(?:[a-z]{1,4}|"[a-z ]{0,4}")$/);
    const gap = fc.stringMatching(/^ {1,3}$/);
    fc.assert(
      fc.property(
        fc.array(fc.tuple(word, gap, word, gap), { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 9 }),
        (rows, size) => {
          const text = `x y\n${rows.map((row) => row.join('')).join(' \n \r\n')}`;
          const cells = rows.map(([a, , b]) => [a, b].map((cell) => cell.replaceAll('"', '')));
          assert.deepEqual(parse(text, size, ' '), [['x', 'y'], ...cells]);
        },
      ),
    );
  });

  it('names the row of a quote that is not closed for too long', () => {
    const parser = new CsvParser(',');
    const piece = 'x,y\n'.repeat(16_000);
    assert.throws(() => {
      parser.push('a,b\n1,2\n"3,4\n', false);
      for (let i = 0; i < 400; i++) {
        parser.push(piece, false);
      }
    }, /Row 2: the quote before "3,4\\nx,y.*" is not closed within 16 million characters/);
  });

  it('does not gather a row without an end for ever', () => {
    const parser = new CsvParser(',');
    parser.push('a,b\n', false);
    const push = (piece: string) => (): void => {
      for (let i = 0; i < 400; i++) {
        parser.push(piece, false);
      }
    };
    assert.throws(push('x,'.repeat(32_000)), /Row 1 is longer than 16 million characters/);
    assert.throws(push('x'.repeat(64_000)), /Row 1 is longer than 16 million characters/);
  });

  it('looks at a long field once', () => {
    // With all that is left over looked at anew for each piece, twice the text takes four times as long.
    const cpu = (megabytes: number, unit: string): number => {
      const piece = unit.repeat(4096 / unit.length);
      const times = Array.from({ length: 3 }, () => {
        const parser = new CsvParser(',');
        const start = process.cpuUsage();
        parser.push('a,b\n1,"', false);
        for (let i = 0; i < megabytes * 256; i++) {
          parser.push(piece, false);
        }
        parser.push('"\n', false);
        assert.equal(parser.ready, 1);
        const { user, system } = process.cpuUsage(start);
        return user + system;
      });
      return Math.min(...times);
    };
    for (const unit of ['x,y\n', `${'x'.repeat(255)}\r`]) {
      const [small, large] = [cpu(1, unit), cpu(8, unit)];
      assert.ok(large < 24 * small + 20_000, `${small} µs for 1 MB, ${large} µs for 8 MB`);
    }
  }).timeout(60_000);
});

describe('CSV text as a table', () => {
  it('finds the delimiter out', async () => {
    for (const [text, names] of [
      ['a,b\n1,2\n', ['a', 'b']],
      ['a;b\n1,5;2,5\n', ['a', 'b']],
      ['a\tb\n1,5\t2;5\n', ['a', 'b']],
      ['a,b;c\n"x,y",2;3\n', ['a', 'b;c']],
      ['a\n1\n2\n', ['a']],
    ] as const) {
      assert.deepEqual(
        (await profileTable(await openTable(text))).columns.map(({ name }) => name),
        names,
      );
    }
  });

  it('gives the event loop its turns while a long field is read', async () => {
    const source = await CsvSource.open('parsed', stringPieces(`a,y\n1,"${'2,3\n'.repeat(1_000_000)}"\n`));
    const sizer = new SliceSizer(2);
    let steps = 0;
    sizer.step = () => {
      steps++;
      return Promise.resolve();
    };
    const slices = await collect(source.slices({ sizer }));
    assert.deepEqual(
      slices.map(({ rows }) => rows),
      [1],
    );
    assert.ok(steps > 50, `${steps} steps in 4 MB`);
    await rejectsWith(
      profileTable(await openTable(`a,y\n1,"${'2,3\n'.repeat(3_500_000)}`)),
      'table.invalid',
      /Row 1: the quote before "2,3.*is never closed/,
    );
  });

  it('reads text with a byte order mark, and UTF-16', async () => {
    const rows = [{ naïve: 'é', n: 1 }];
    assert.deepEqual(await readRows(await openTable('\ufeffnaïve,n\né,1\n')), rows);
    assert.deepEqual(await readRows(await openTable(Buffer.from('\ufeffnaïve,n\né,1\n'))), rows);
    const wide = Buffer.from('\ufeffnaïve\tn\né\t1\n', 'utf16le');
    assert.deepEqual(await readRows(await openTable(wide)), rows);
    assert.deepEqual(await readRows(await openTable(Buffer.from(wide).swap16())), rows);
    const json = Buffer.from(`\ufeff${JSON.stringify(rows)}`, 'utf16le').swap16();
    assert.deepEqual(await readRows(await openTable(json)), rows);
  });

  it('keeps characters whole that lie across two pieces', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => ({ t: '😀é漢'.repeat((i % 3) + 1), n: i }));
    const text = `t,n\n${rows.map(({ t, n }) => `${t},${n}`).join('\n')}\n`;
    assert.deepEqual(await readRows(await openTable(Buffer.from(text))), rows);
  });

  it('reads Windows-1252, with a warning, where the first bytes beyond ASCII are no UTF-8', async () => {
    const euro = Buffer.concat([Buffer.from('a,b\n'), Buffer.from([0x80]), Buffer.from(',1\n')]);
    const late = 'plain,1\n'.repeat(30_000);
    const french = 'a,b\ncréée à Noël,1\ncôté,2\n';
    for (const [bytes, first, last] of [
      [Buffer.from('a,b\nM\xfcller,1\n', 'latin1'), 'Müller', 'Müller'],
      [euro, '€', '€'],
      [Buffer.from(`a,b\n${late}K\xf6ln,1\n`, 'latin1'), 'plain', 'Köln'],
      [Buffer.from(french, 'latin1'), 'créée à Noël', 'côté'],
      [Buffer.from('a,b\nGröße,1\nmäßig,2\n', 'latin1'), 'Größe', 'mäßig'],
    ] as const) {
      // Also where the letter lies at the end of one of the pieces that are read.
      for (const table of [bytes, Buffer.concat([Buffer.from('\n'.repeat(65_531)), bytes])]) {
        const source = await openTable(table);
        const { warnings } = await profileTable(source, {});
        assert.match(warnings[0]!, /not UTF-8; it was read as Windows-1252/);
        const rows = await readRows(source);
        assert.deepEqual([rows[0]!.a, rows.at(-1)!.a], [first, last]);
      }
    }
    assert.deepEqual((await profileTable(await openTable(Buffer.from(french)), {})).warnings, []);
  });

  it('refuses bytes that are neither, instead of changing them', async () => {
    const chinese = Buffer.from([0xc8, 0xd5, 0xc6, 0xda, 0x2c, 0xd6, 0xb5, 0x0a]);
    const cyrillic = Buffer.from([0xc2, 0xf0, 0xe5, 0xec, 0xff, 0x2c, 0x62, 0x0a]);
    const mixed = Buffer.concat([Buffer.from('é,b\nM'), Buffer.from([0xfc]), Buffer.from('ller,1\n')]);
    for (const [bytes, message] of [
      [
        Buffer.concat([chinese, Buffer.from('1,2\n')]),
        /Line 1 of the text is not UTF-8 \(byte 0xd5 at position 1\)/,
      ],
      [Buffer.concat([cyrillic, Buffer.from('1,2\n')]), /Line 1 of the text is not UTF-8/],
      [mixed, /Line 2 of the text is not UTF-8 \(byte 0xfc at position 6\)/],
    ] as const) {
      await rejectsWith(
        openTable(bytes).then((table) => readRows(table)),
        'table.invalid',
        message,
      );
    }
  });

  it('names the line of a byte that is no UTF-8, wherever it is', async () => {
    const good = Buffer.from('a,b\n' + 'é😀,1\n'.repeat(30_000));
    for (const [wrong, byte] of [
      ['4dfc6c6c6572', '0xfc'],
      ['e9', '0xe9'],
      ['80', '0x80'],
    ] as const) {
      // Also where a character lies across two of the pieces that are read.
      for (const shift of [0, 1, 2, 3]) {
        const head = Buffer.concat([Buffer.from('x'.repeat(shift)), good]);
        const bytes = Buffer.concat([head, Buffer.from(wrong, 'hex'), Buffer.from(',1\nx,2\n')]);
        const at = head.length + (wrong.length > 2 ? 1 : 0);
        await rejectsWith(
          openTable(bytes).then((table) => readRows(table)),
          'table.invalid',
          new RegExp(`Line 30002 of the text is not UTF-8 \\(byte ${byte} at position ${at}\\)`),
        );
      }
    }
    const cut = Buffer.from('a,b\n1,é').subarray(0, -1);
    await rejectsWith(
      openTable(cut).then((table) => readRows(table)),
      'table.invalid',
      /Line 2 of the text is not UTF-8 \(byte 0xc3 at position 6\)/,
    );
  });

  it('skips lines of spaces, but not in a table of one column', async () => {
    assert.deepEqual(await readRows(await openTable('a,b\n1,2\n  \n3,4\n   \n')), [
      { a: 1, b: 2 },
      { a: 3, b: 4 },
    ]);
    assert.equal((await readRows(await openTable('a\nx\n \n'))).length, 2);
  });

  it('takes the delimiter from a first line "sep="', async () => {
    for (const [text, mark] of [
      ['sep=;\r\n', ';'],
      ['"sep=|"\n', '|'],
      ['\ufeffSEP=\t\r\n', '\t'],
    ] as const) {
      for (const value of [
        `${text}n${mark}t\r\n7${mark}x,y\r\n`,
        Buffer.from(`${text}n${mark}t\n7${mark}x,y\n`),
      ]) {
        const source = await openTable(value);
        assert.deepEqual(await readRows(source), [{ n: 7, t: 'x,y' }]);
        assert.deepEqual(await readRows(source), [{ n: 7, t: 'x,y' }]);
      }
    }
  });

  it('refuses a header of numbers', async () => {
    await rejectsWith(openTable('1.5,2\n3,4\n'), 'table.invalid', /needs a header line/);
  });

  it('refuses text without rows', async () => {
    await rejectsWith(openTable(' \n'), 'table.empty', /empty/);
    await rejectsWith(
      openTable('a,b\n').then((source) => profileTable(source)),
      'table.empty',
      /no rows/,
    );
  });

  it('reads each type as it is', async () => {
    const text =
      'n,i,big,flag,day,t\n1.5,7,9007199254740993,true,2024-02-29,007\n,,,,,\n-2e3,-1,1,False,2024-01-01T01:00:00+01:00," x"\n';
    assert.deepEqual(await readRows(await openTable(text)), [
      { n: 1.5, i: 7, big: 9007199254740993n, flag: true, day: new Date('2024-02-29T00:00:00Z'), t: '007' },
      { n: null, i: null, big: null, flag: null, day: null, t: null },
      { n: -2000, i: -1, big: 1n, flag: false, day: new Date('2024-01-01T00:00:00Z'), t: ' x' },
    ]);
  });
});
