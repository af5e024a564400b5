import assert from 'node:assert/strict';

import fc from 'fast-check';

import { profileTable } from '../../../dist/src/program-table';
import { openTable } from '../../../dist/src/table';
import { parseDate, parseNumber } from '../../doors/table';

/** The type of a CSV column with these fields. */
async function typeOf(fields: string[], delimiter = ','): Promise<string> {
  const lines = fields.map((field) => `x${delimiter}${field}`);
  const source = await openTable(`a${delimiter}b\n${lines.join('\n')}\n`);
  return (await profileTable(source)).columns[1]!.type;
}

describe('Recognition of the fields of a text file', () => {
  const cases: [string, string[], string][] = [
    ['whole numbers', ['1', '-20', '+3', '0'], 'integer'],
    ['whole numbers with gaps', ['1', '', '3'], 'integer'],
    ['fractions', ['1.5', '2', '.5', '3.'], 'number'],
    ['exponents', ['1e5', '-2.5E-3'], 'number'],
    ['numbers within spaces', [' 1', '2 '], 'integer'],
    ['infinity', ['1.5', 'inf', '-Infinity'], 'number'],
    ['numbers with NA and its like', ['1', 'NA', 'N/A', 'NaN', 'null', 'nan'], 'integer'],
    ['nothing but NA', ['NA', 'NA'], 'text'],
    ['NA among words', ['yes', 'NA'], 'text'],
    ['leading zeros', ['007', '012'], 'text'],
    ['a zero before the point', ['0.5', '-0.25'], 'number'],
    ['numbers beyond 2^53', ['9007199254740993', '1'], 'bigint'],
    ['numbers beyond 64 bits', ['123456789012345678901234567890'], 'text'],
    ['hexadecimal', ['0x10'], 'text'],
    ['two points', ['1.2.3'], 'text'],
    ['one unit', ['5 kg', '6 kg'], 'integer'],
    ['several units', ['5 kg', '6 t'], 'text'],
    ['a unit, and none', ['5 kg', '6'], 'text'],
    ['a sign alone', ['-', '+'], 'text'],
    ['a point alone', ['.'], 'text'],
    ['an exponent without digits', ['1e'], 'text'],
    ['booleans in any case', ['true', 'FALSE', 'True'], 'boolean'],
    ['booleans and numbers', ['true', '1'], 'text'],
    ['dates', ['2024-02-29', '1999-12-31'], 'date'],
    [
      'dates with time',
      ['2024-01-01T12:00:00Z', '2024-01-01 12:00', '2024-01-01T12:00:00.123+02:00'],
      'date',
    ],
    ['a day that does not exist', ['2023-02-29'], 'text'],
    ['an hour that does not exist', ['2024-01-01T25:00:00Z'], 'text'],
    ['years', ['2023', '2024'], 'integer'],
    ['words', ['red', 'green'], 'text'],
    ['numbers, then a word', ['1', '2', 'three'], 'text'],
    ['nothing at all', ['', ''], 'text'],
    ['a decimal comma without semicolons', ['"1,5"'], 'text'],
  ];
  for (const [name, fields, type] of cases) {
    it(`${name}: ${type}`, async () => assert.equal(await typeOf(fields), type));
  }

  it('a decimal comma beside semicolons: number', async () => {
    assert.equal(await typeOf(['1,5', '2', '-0,25'], ';'), 'number');
  });

  it('a decimal point and a decimal comma in one column: text', async () => {
    assert.equal(await typeOf(['1,5', '2.5'], ';'), 'text');
  });
});

describe('Values of fields', () => {
  it('dates are what Date itself makes of ISO text', () => {
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date('0000-01-01T00:00:00Z'), max: new Date('9999-12-31') }),
        (date) => {
          assert.equal(parseDate(date.toISOString()), date.getTime());
          assert.equal(
            parseDate(date.toISOString().slice(0, 10)),
            Date.parse(date.toISOString().slice(0, 10)),
          );
        },
      ),
    );
    for (const [text, same] of [
      ['2024-01-01 10:00', '2024-01-01T10:00:00Z'],
      ['2024-01-01T10:00:00.5', '2024-01-01T10:00:00.500Z'],
      ['2024-01-01T10:00:00.123456789Z', '2024-01-01T10:00:00.123Z'],
      ['2024-01-01T10:00:00+05:30', '2024-01-01T04:30:00Z'],
      ['2024-01-01T10:00:00-0800', '2024-01-01T18:00:00Z'],
      ['2024-01-01T10:00:00+02', '2024-01-01T08:00:00Z'],
    ] as const) {
      assert.equal(parseDate(text), Date.parse(same), text);
    }
    for (const text of [
      '1900-02-29',
      '2024-13-01',
      '2024-00-10',
      '2024-01-32',
      '2024-1-1',
      '2024-01-01T10',
      '2024-01-01Z',
    ]) {
      assert.ok(Number.isNaN(parseDate(text)), text);
    }
  });

  it('numbers are what String makes of them', () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true }), (value) => {
        assert.equal(parseNumber(String(value), false), value === 0 ? Number(String(value)) : value);
      }),
    );
    assert.deepEqual(
      ['inf', '-INF', '+infinity', '', 'NA', ' 5 ', 'x'].map((text) => parseNumber(text, false)),
      [Infinity, -Infinity, Infinity, NaN, NaN, 5, undefined],
    );
    assert.deepEqual(
      ['1,5', '1.5', '-,5', '1,5e3', '1,2,3'].map((text) => parseNumber(text, true)),
      [1.5, 1.5, -0.5, 1500, undefined],
    );
  });
});
