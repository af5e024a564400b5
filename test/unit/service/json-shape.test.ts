import assert from 'node:assert/strict';

import { assertJsonShape, canonical } from '../../doors/service';

const shape = (text: string): void => assertJsonShape(Buffer.from(text));

describe('The shape of a JSON body', () => {
  it('may be a list of a million numbers, but not half a million properties or small lists', () => {
    shape(`{"rows":[${'1,'.repeat(1_000_000)}1]}`);
    const many = 20_001;
    for (const text of [
      `{${Array.from({ length: many }, (_, i) => `"k${i}":0`).join()}}`,
      `[${'[],'.repeat(many)}1]`,
      `[${'{},'.repeat(many)}1]`,
    ]) {
      assert.throws(() => shape(text), {
        status: 422,
        message: /more than 20000 lists, objects and properties/,
      });
    }
    shape(`[${'[],'.repeat(19_000)}1]`);
  });

  it('may not be millions of numbers, or hundred thousands of texts', () => {
    for (const text of [`{"rows":[${'1,'.repeat(1_600_000)}1]}`, `{"rows":[${'"a",'.repeat(160_000)}1]}`]) {
      assert.throws(() => shape(text), { status: 422, message: /more than 1500000 values, or 150000 texts/ });
      assertJsonShape(Buffer.from(text), { nodes: 10, values: Infinity, texts: Infinity });
    }
    shape(`{"rows":[${'"a",'.repeat(140_000)}1]}`);
  });

  it('is at most 64 levels deep', () => {
    shape('['.repeat(64) + ']'.repeat(64));
    assert.throws(() => shape('{"a":['.repeat(33) + ']}'.repeat(33)), { status: 422, message: /64 levels/ });
  });

  it('is not that of texts in it, escaped quotes and backslashes among them', () => {
    const text = JSON.stringify({
      text: '[{:'.repeat(30_000),
      other: `\\"${'['.repeat(100)}\\\\`,
      'é"': '\\',
    });
    shape(text);
    assert.throws(() => shape(`{"a":"\\\\",${'"b":[],'.repeat(20_000)}"c":"\\""}`), /20000/);
    shape('"no end \\" [[[');
  });
});

describe('Canonical JSON', () => {
  it('has one text for equal values', () => {
    const value = { b: [3, { d: 1, c: [undefined, null, 'x'] }], a: undefined, é: true, '"': -0, n: NaN };
    assert.equal(canonical(value), '{"\\"":0,"b":[3,{"c":[null,null,"x"],"d":1}],"n":null,"é":true}');
    assert.equal(canonical(JSON.parse(canonical(value))), canonical(value));
    assert.equal(canonical([1, 2, 'x', null]), '[1,2,"x",null]');
  });
});
