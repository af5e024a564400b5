import assert from 'node:assert/strict';
import { openTable, profileTable } from '../../../dist/src/table';

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
    ['a unit', ['5 kg'], 'text'],
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
