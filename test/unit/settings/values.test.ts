import assert from 'node:assert/strict';

import {
  choice,
  column,
  flag,
  freeText,
  isUnsaid,
  list,
  numberIn,
  object,
  parseSetting,
  problemWith,
  quantiles,
  type Setting,
  several,
  types,
  word,
  zone,
} from '../../doors/settings';

/** What a dialog or a message says by a value: `unsaid`, the value that is read, or what is wrong. */
function read(setting: Setting, value: unknown): unknown {
  if (isUnsaid(setting, value)) {
    return 'unsaid';
  }
  const parsed = parseSetting(setting, value);
  return problemWith(setting, parsed, 'form') ?? { is: parsed };
}

const is = (value: unknown) => ({ is: value });
const NUMBER = 'must be a whole number of at least 1 and at most 4';
const TEXTS = 'must be an array of texts or names separated by commas';
const OBJECT = 'must be an object, or JSON text of one';
const QUANTILES = 'must be numbers between 0 and 1, separated by commas, such as 0.1,0.5,0.9';
const circle: Record<string, unknown> = {};
circle.itself = circle;

const CASES: [string, Setting, [value: unknown, expected: unknown][]][] = [
  [
    'a text',
    freeText(),
    [
      [' a ', is('a')],
      [7, is('7')],
      ['  ', 'unsaid'],
      [[], 'must be a text'],
    ],
  ],
  [
    'the name of a column',
    column(),
    [
      [' a ', is(' a ')],
      [7, is('7')],
      [true, 'must be a text'],
    ],
  ],
  [
    'a word',
    word('predict'),
    [
      ['fit', is('fit')],
      ['two words', 'must be one word, such as predict'],
    ],
  ],
  [
    'a choice',
    choice(['x', 'y']),
    [
      ['y', is('y')],
      ['z', 'must be one of x, y'],
      [1, 'must be one of x, y'],
    ],
  ],
  [
    'a check box',
    flag(),
    [
      [true, is(true)],
      ['true', is(true)],
      ['false', is(false)],
      ['', 'unsaid'],
    ],
  ],
  [
    'a number within bounds',
    numberIn({ min: 1, max: 4, integer: true }),
    [
      ['2', is(2)],
      [4, is(4)],
      ['', 'unsaid'],
      [' ', 'unsaid'],
      [0, NUMBER],
      [5, NUMBER],
      ['2.5', NUMBER],
      ['two', NUMBER],
    ],
  ],
  [
    'any number',
    numberIn({}),
    [
      ['2.5', is(2.5)],
      [0, is(0)],
      [NaN, 'must be a number'],
      ['two', 'must be a number'],
    ],
  ],
  [
    'a list',
    list(),
    [
      ['a, b ,c', is(['a', 'b', 'c'])],
      ['["a,b","c"]', is(['a,b', 'c'])],
      [['a'], is(['a'])],
      [[], 'unsaid'],
      [',', 'unsaid'],
      [[1], TEXTS],
      ['[broken', TEXTS],
    ],
  ],
  [
    'several of a list',
    several(['x', 'y']),
    [
      [['y'], is(['y'])],
      ['x,y', is(['x', 'y'])],
      [[], 'unsaid'],
      [['x', 'z'], 'names "z"; known are x, y'],
      [7, TEXTS],
    ],
  ],
  [
    'quantiles',
    quantiles({ fallback: [0.5] }),
    [
      ['0.1, 0.5', is([0.1, 0.5])],
      [[0.9, 0.1], is([0.9, 0.1])],
      ...['0', '1', '0.5,x', [], [2], [''], 7].map((wrong): [unknown, unknown] => [wrong, QUANTILES]),
    ],
  ],
  [
    'types of columns',
    types(['number', 'text']),
    [
      ['{"a":"text"}', is({ a: 'text' })],
      [{ a: 'number' }, is({ a: 'number' })],
      ['{}', 'unsaid'],
      ['{"a":"zork"}', 'gives the column "a" the type "zork"; known are number, text'],
      ['[1]', OBJECT],
      ['a', OBJECT],
    ],
  ],
  [
    'an object',
    object(),
    [
      ['{"a":1}', is({ a: 1 })],
      ['{}', 'unsaid'],
      [{}, 'unsaid'],
      ...['[1]', 'no', 3, [1], Promise.resolve({})].map((wrong): [unknown, unknown] => [wrong, OBJECT]),
      [{ n: 1n }, 'must be an object that can be written as JSON (Do not know how to serialize a BigInt)'],
      [circle, 'must be an object that can be written as JSON (Converting circular structure to JSON)'],
    ],
  ],
  [
    'a time zone',
    zone(),
    [
      [' UTC ', is('UTC')],
      ['Atlantis', 'must be the name of a time zone such as Europe/Berlin, America/New_York or UTC'],
    ],
  ],
];

describe('the kinds of settings', () => {
  for (const [name, setting, cases] of CASES) {
    it(`read ${name}`, () => {
      for (const [value, expected] of [...cases, [undefined, 'unsaid'], [null, 'unsaid'], ['', 'unsaid']]) {
        assert.deepEqual(read(setting, value), expected, typeof value);
      }
    });
  }

  it('take from a program only what needs no reading', () => {
    assert.equal(problemWith(list(), 'a', 'value'), 'must be an array of texts');
    assert.equal(problemWith(object(), '{}', 'value'), 'must be an object');
    assert.equal(problemWith(numberIn({}), '1', 'value'), 'must be a number');
  });
});
