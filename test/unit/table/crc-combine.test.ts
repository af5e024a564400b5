import assert from 'node:assert/strict';

import fc from 'fast-check';

import { combineCrc32c, crc32c } from '../../doors/table';

describe('combineCrc32c', () => {
  it('gives the checksum of two byte strings joined, whatever their lengths', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.uint8Array({ maxLength: 300 }), (a, b) => {
        const joined = crc32c(Buffer.concat([a, b]));
        assert.equal(combineCrc32c(crc32c(a), crc32c(b), b.length), joined);
      }),
    );
  });

  it('works for a second part of many megabytes', () => {
    const a = Buffer.from('head');
    const b = Buffer.alloc(5_000_001, 'tail of it');
    assert.equal(combineCrc32c(crc32c(a), crc32c(b), b.length), crc32c(Buffer.concat([a, b])));
  });
});
