import assert from 'node:assert/strict';

import { ServiceError, toServiceError } from '../../doors/wire';

describe('ServiceError', () => {
  it('keeps code and message as own enumerable properties, so that a cloned message still has them', () => {
    const error = new ServiceError('queue.full', 'The queue is full.', { status: 429 });
    assert.deepEqual(Object.assign({}, error), {
      name: 'ServiceError',
      code: 'queue.full',
      message: 'The queue is full.',
      cause: { status: 429 },
    });
  });

  it('turns an abort into closed and anything else into internal', () => {
    assert.equal(toServiceError(new DOMException('x', 'AbortError')).code, 'closed');
    assert.equal(toServiceError(new TypeError('boom')).code, 'internal');
    assert.equal(toServiceError('text').code, 'internal');
    assert.equal(toServiceError(Object.create(null)).code, 'internal');
    const broken = Object.defineProperty(new Error(), 'message', { get: () => fail() });
    assert.equal(toServiceError(broken).code, 'internal');
  });

  it('reads as its message alone, as a Catch node shows it', () => {
    assert.equal(String(new ServiceError('table.empty', 'The table has no rows.')), 'The table has no rows.');
  });
});

function fail(): never {
  throw new Error('read');
}
