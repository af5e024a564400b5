import assert from 'node:assert/strict';

import {
  candidates,
  choiceField,
  flagField,
  listField,
  numberField,
  objectField,
  quantilesField,
  textField,
} from '../../doors/runtime';

const both = (dialog: unknown, message: unknown) =>
  candidates('Target', dialog, 'target', { target: message });
const one = (value: unknown) => ({ place: 'The field X', value });
const refused = (place: RegExp, code = 'config.invalid') => ({ code, message: place });

describe('fields of dialog and message', () => {
  it('the dialog wins; a field left empty is taken from the message', () => {
    assert.equal(textField(...both('a', 'b')), 'a');
    for (const empty of ['', undefined, null]) {
      assert.equal(textField(...both(empty, 'b')), 'b');
    }
    assert.equal(textField(...both('', '')), undefined);
  });

  it('names the place of a wrong value', () => {
    assert.throws(
      () => textField(...both('', {})),
      refused(/^msg\.target must be a text/, 'validation.failed'),
    );
    assert.throws(() => textField(...both([], 'b')), refused(/^The field Target must be/));
  });

  it('takes one of a list of words', () => {
    assert.equal(choiceField(['x', 'y'], one('y')), 'y');
    assert.throws(() => choiceField(['x', 'y'], one('z')), refused(/one of x, y/));
  });

  it('takes numbers within bounds, as number or text', () => {
    assert.equal(numberField({ min: 1 }, one('2.5')), 2.5);
    assert.equal(numberField({ min: 0 }, one(0)), 0);
    assert.throws(() => numberField({ min: 1 }, one(0)), refused(/at least 1/));
    assert.throws(() => numberField({ min: 1, max: 4, integer: true }, one('2.5')), refused(/whole number/));
    assert.throws(() => numberField({}, one('two')), refused(/a number/));
    assert.throws(() => numberField({}, one(NaN)), refused(/a number/));
  });

  it('takes objects and JSON text, and an empty object as nothing said', () => {
    assert.deepEqual(objectField(one('{"a":1}')), { a: 1 });
    assert.deepEqual(objectField(...both('{}', { b: 2 })), { b: 2 });
    assert.equal(objectField(one({})), undefined);
    for (const wrong of ['[1]', 'no', 3, [1]]) {
      assert.throws(() => objectField(one(wrong)), refused(/an object/));
    }
  });

  it('takes lists with commas, JSON arrays and arrays', () => {
    assert.deepEqual(listField(one('a, b ,c')), ['a', 'b', 'c']);
    assert.deepEqual(listField(one('["a,b","c"]')), ['a,b', 'c']);
    assert.deepEqual(listField(one(['a'])), ['a']);
    assert.equal(listField(one([])), undefined);
    assert.throws(() => listField(one([1])), refused(/names/));
    assert.throws(() => listField(one('[broken')), refused(/names/));
  });

  it('takes quantiles strictly between 0 and 1', () => {
    assert.deepEqual(quantilesField(one('0.1, 0.5')), [0.1, 0.5]);
    assert.deepEqual(quantilesField(one([0.9, 0.1])), [0.9, 0.1]);
    for (const wrong of ['0', '1', '0.5,x', [], [2], ['']]) {
      assert.throws(() => quantilesField(one(wrong)), refused(/between 0 and 1/), JSON.stringify(wrong));
    }
  });

  it('raises a check box by dialog or message', () => {
    assert.equal(flagField(true, undefined), true);
    assert.equal(flagField(false, true), true);
    assert.equal(flagField(undefined, false), false);
    assert.equal(flagField('', 'no'), false);
  });
});
