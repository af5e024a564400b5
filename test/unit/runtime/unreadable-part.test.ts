import assert from 'node:assert/strict';

import { unreadablePart } from '../../doors/runtime';

const boom = (): never => {
  throw new Error('boom');
};
const throwing = (name: string): object => Object.defineProperty({}, name, { get: boom, enumerable: true });
const revoked = (): object => {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
};

describe('What of a message throws as it is read', () => {
  const cyclic: Record<string, unknown> = { x: 1 };
  cyclic.own = cyclic;
  const cases: [name: string, msg: object, said: RegExp | undefined][] = [
    ['a property of it', { payload: throwing('x') }, /^msg\.payload\.x cannot be read: boom$/],
    ['a property of a row', { payload: [{ x: 1 }, throwing('x')] }, /^msg\.payload\[1\]\.x cannot be read/],
    ['a Proxy that answers to no name', { series: new Proxy({}, { get: boom }) }, /^msg\.series cannot/],
    ['a Proxy that has no names', { types: new Proxy({}, { ownKeys: boom }) }, /^msg\.types cannot/],
    ['a Proxy that is gone', { payload: { row: revoked() } }, /^msg\.payload\.row cannot.*revoked/],
    ['nothing', { payload: [{ x: 1 }], flag: null, text: 'a' }, undefined],
    ['nothing of what holds itself', { payload: cyclic }, undefined],
    ['nothing of a million places', { payload: new Array(1e9) }, undefined],
  ];
  for (const [name, msg, said] of cases) {
    it(name, () => {
      const problem = unreadablePart(msg);
      assert.ok(said === undefined ? problem === undefined : said.test(problem ?? ''), problem);
    });
  }
});
