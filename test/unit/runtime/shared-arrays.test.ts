import assert from 'node:assert/strict';

import { util } from '@node-red/util';
import { tableFromArrays } from 'apache-arrow';

import { withSharedArrays } from '../../doors/runtime';

type Named = Record<string, unknown>;

/** The copy that Node-RED makes of a message meanwhile. */
const copyOf = <T extends object>(msg: T): T =>
  withSharedArrays(msg, () => util.cloneMessage(msg as never) as T);

const tagOf = (value: unknown): string => Object.prototype.toString.call(value);

describe('Large typed arrays of a message', () => {
  const floats = Float64Array.from({ length: 1_000_000 }, (_, index) => index / 3);
  const bytes = new Uint8Array(2_000_000).fill(7);

  it('are shared with the copies that Node-RED makes of it, wherever they are, and stay what they are', () => {
    const nested = {
      _msgid: '1',
      payload: { a: floats, b: [1, { c: bytes }] },
      map: new Map([['m', floats]]),
    };
    const copy = copyOf(nested);
    assert.notEqual(copy, nested);
    assert.notEqual(copy.payload, nested.payload);
    assert.equal(copy.payload.a, floats);
    assert.equal((copy.payload.b[1] as Named)['c'], bytes);
    assert.equal(copy.map.get('m'), floats);
    assert.equal(tagOf(floats), '[object Float64Array]');
    assert.equal(tagOf(bytes), '[object Uint8Array]');
    assert.ok(!Object.hasOwn(floats, Symbol.toStringTag));
  });

  it('are found in an Arrow table, and behind a long list', () => {
    const table = tableFromArrays({ a: floats });
    const copy = copyOf({ payload: table });
    const values = (of: typeof table): unknown => of.batches[0]!.data.children[0]!.values;
    assert.equal(values(copy.payload), values(table));
    assert.equal(copyOf({ payload: { list: new Array(100_000).fill(1), bytes } }).payload.bytes, bytes);
  });

  it('small ones and Buffers are copied as ever', () => {
    const small = Float32Array.of(1, 2, 3);
    const buffer = Buffer.alloc(5_000, 1);
    const copy = copyOf({ small, buffer });
    assert.deepEqual(copy, { small, buffer });
    assert.notEqual(copy.small, small);
    assert.notEqual(copy.buffer, buffer);
  });

  it('go back to what they were where the work fails, and stay as they are where they cannot be changed', () => {
    assert.throws(() =>
      withSharedArrays({ bytes }, () => {
        throw new Error('no');
      }),
    );
    assert.equal(tagOf(bytes), '[object Uint8Array]');
    const fixed = Object.preventExtensions(new Uint8Array(5_000));
    const own = Object.defineProperty(new Uint8Array(5_000), Symbol.toStringTag, { value: 'Mine' });
    withSharedArrays({ fixed, own }, () => assert.equal(tagOf(fixed), '[object Uint8Array]'));
    assert.equal(tagOf(own), '[object Mine]');
  });

  it('a message that throws as it is read is no obstacle', () => {
    const msg = {
      bytes,
      get payload(): unknown {
        throw new Error('no');
      },
      more: floats,
    };
    assert.equal(
      withSharedArrays(msg, () => 'done'),
      'done',
    );
    assert.equal(
      withSharedArrays([null, [msg, null]], () => 'done'),
      'done',
    );
  });
});
