import assert from 'node:assert/strict';

import { check, type Schema, type Static, Type } from '../../doors/wire';

const Body = Type.object({
  id: Type.text({ pattern: /^[a-f]+$/, description: 'an id' }),
  rows: Type.integer({ minimum: 1 }),
  share: Type.optional(Type.number({ exclusiveMinimum: 0, exclusiveMaximum: 1 })),
  kind: Type.optional(Type.oneOf(['csv', 'parquet'])),
  files: Type.optional(
    Type.array(Type.object({ name: Type.text({ minLength: 1 }) }, { additionalProperties: false }), {
      minItems: 1,
    }),
  ),
  headers: Type.optional(Type.record(Type.text())),
  limits: Type.maybe(
    Type.object({ most: Type.maybe(Type.integer({ minimum: 0 }), 'a whole number from 0') }),
    'limits',
  ),
  answer: Type.optional(
    Type.anyOf([Type.array(Type.unknown()), Type.record(Type.unknown())], 'an array or an object'),
  ),
  sure: Type.optional(Type.boolean()),
});
const good: Static<typeof Body> = { id: 'abc', rows: 3 };

describe('the check of a body', () => {
  const faultOf = (more: object, schema: Schema = Body): string | undefined => {
    const fault = check(schema, { ...good, ...more });
    return fault && `${fault.path} ${fault.message}`;
  };

  for (const more of [
    {},
    { other: 1, constructor: 2 },
    { share: undefined, kind: 'csv', files: [{ name: 'a' }], headers: {} },
    { limits: null },
    { limits: { most: null, least: 'x' } },
    { answer: [null, {}], headers: { a: 'b' }, sure: false },
    { answer: { a: NaN } },
  ]) {
    it(`takes ${JSON.stringify(more)}`, () => assert.equal(faultOf(more), undefined));
  }

  for (const [more, fault] of [
    [{ id: 'xyz' }, 'id must be an id'],
    [{ id: 7 }, 'id must be an id'],
    [{ id: undefined }, 'id must be an id'],
    [{ rows: 0 }, 'rows must be a whole number of at least 1'],
    [{ rows: 1.5 }, 'rows must be a whole number of at least 1'],
    [{ rows: '1' }, 'rows must be a whole number of at least 1'],
    [{ share: 0 }, 'share must be a number greater than 0 and less than 1'],
    [{ share: 1 }, 'share must be a number greater than 0 and less than 1'],
    [{ share: NaN }, 'share must be a number greater than 0 and less than 1'],
    [{ kind: 'xml' }, 'kind must be one of csv, parquet'],
    [{ kind: null }, 'kind must be one of csv, parquet'],
    [{ files: {} }, 'files must be an array of at least 1 item'],
    [{ files: [] }, 'files must be an array of at least 1 item'],
    [{ files: [{ name: 'a' }, {}] }, 'files[1].name is required'],
    [{ files: [{ name: '' }] }, 'files[0].name must be text of at least 1 character'],
    [{ files: [{ name: 'a', size: 1 }] }, 'files[0].size is an unknown property'],
    [{ headers: { 'a.b': 1 } }, 'headers.a.b must be text'],
    [{ headers: [] }, 'headers must be an object'],
    [{ limits: 3 }, 'limits must be limits'],
    [{ limits: { most: -1 } }, 'limits.most must be a whole number from 0'],
    [{ answer: 3 }, 'answer must be an array or an object'],
    [{ sure: 'yes' }, 'sure must be true or false'],
  ] as const) {
    it(`says of ${JSON.stringify(more)} that ${fault}`, () => assert.equal(faultOf(more), fault));
  }

  it('names what is missing first, and the body where it is no object', () => {
    assert.deepEqual(check(Body, { id: 7 }), { path: 'rows', message: 'is required' });
    for (const body of [null, [], 'text', undefined]) {
      assert.deepEqual(check(Body, body), { path: 'body', message: 'must be an object' });
    }
  });
});
