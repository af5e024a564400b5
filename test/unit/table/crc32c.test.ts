import assert from 'node:assert/strict';

import fc from 'fast-check';

import { crc32c, crc32cToBase64 } from '../../../dist/src/table';

describe('CRC32C', () => {
  it('answers the known vectors as the service takes them', () => {
    assert.equal(crc32cToBase64(crc32c(Buffer.from('123456789'))), '4waSgw==');
    assert.equal(crc32cToBase64(crc32c(Buffer.alloc(0))), 'AAAAAA==');
    // RFC 3720, B.4
    assert.equal(crc32cToBase64(crc32c(Buffer.alloc(32))), Buffer.from('8a9136aa', 'hex').toString('base64'));
    assert.equal(
      crc32cToBase64(crc32c(Buffer.alloc(32, 0xff))),
      Buffer.from('62a8ab43', 'hex').toString('base64'),
    );
  });

  it('is the same for a whole and for its parts in order', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.nat(300), (bytes, cut) => {
        const parts = crc32c(bytes.subarray(cut), crc32c(bytes.subarray(0, cut)));
        assert.equal(parts, crc32c(bytes));
      }),
    );
  });
});
