import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';

import fc from 'fast-check';

import { Refusal, signUpload, verifyUpload } from '../../doors/service';

const secret = Buffer.alloc(32, 7);
const target = { uploadId: randomUUID(), part: 'x' as const, chunk: 3 };
const headers = { 'content-type': 'text/csv', 'x-upload-id': target.uploadId };
const signed = signUpload(secret, target, 1000, headers);
const verify = (url: string, sent: Record<string, string> = headers, now = 999, key = secret) =>
  verifyUpload(key, new URL(url, 'http://localhost'), sent, now);

describe('signed URLs', () => {
  it('lead back to what they were signed for', () => {
    assert.deepEqual(verify(signed), target);
    assert.deepEqual(verify(signed, { ...headers, 'user-agent': 'any' }), target);
  });

  it('hold neither after their time nor under another secret', () => {
    assert.throws(() => verify(signed, headers, 1000), /expired/);
    assert.throws(() => verify(signed, headers, 1, Buffer.alloc(32, 8)), /signature/);
  });

  it('break when any one character is changed', () => {
    fc.assert(
      fc.property(
        fc.nat(signed.length - 1),
        fc.constantFrom(...Array.from('0129abcdefxyz/&=;%')),
        (at, char) => {
          fc.pre(signed[at] !== char);
          const changed = signed.slice(0, at) + char + signed.slice(at + 1);
          let found: unknown;
          try {
            found = verify(changed);
          } catch (error) {
            assert.ok(error instanceof Refusal && error.status === 403, String(error));
            return;
          }
          // Another spelling of the same hexadecimal digits or escapes is the same URL.
          assert.deepEqual(found, target);
        },
      ),
      { numRuns: 500 },
    );
  });

  it('need every required header as it was given', () => {
    assert.throws(() => verify(signed, { 'content-type': 'text/csv' }), /x-upload-id/);
    assert.throws(() => verify(signed, { ...headers, 'content-type': 'text/plain' }), /signature/);
  });
});
