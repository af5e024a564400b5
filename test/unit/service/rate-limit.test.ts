import assert from 'node:assert/strict';

import { RateLimiter, Refusal } from '../../doors/service';

describe('RateLimiter', () => {
  let now = 0;
  const retryAfter = (limiter: RateLimiter, kind: 'upload' | 'fit' | 'predict') => {
    try {
      limiter.take(kind);
    } catch (error) {
      assert.ok(error instanceof Refusal);
      assert.equal(error.status, 429);
      return error.body.retryAfter;
    }
    return undefined;
  };
  beforeEach(() => {
    now = 1_000_000;
  });

  it('says exactly when the next place in the minute is free', () => {
    const limiter = new RateLimiter({ predict: { perMinute: 2 } }, () => now);
    assert.equal(retryAfter(limiter, 'predict'), undefined);
    now += 20_000;
    assert.equal(retryAfter(limiter, 'predict'), undefined);
    now += 10_000;
    assert.equal(retryAfter(limiter, 'predict'), 30);
    now += 29_999;
    assert.equal(retryAfter(limiter, 'predict'), 1);
    now += 1;
    assert.equal(retryAfter(limiter, 'predict'), undefined);
    assert.equal(retryAfter(limiter, 'predict'), 20, 'until the second of the first two has left');
  });

  it('keeps the hour and the minute, and kinds apart', () => {
    const limiter = new RateLimiter({ fit: { perMinute: 5, perHour: 2 } }, () => now);
    assert.equal(retryAfter(limiter, 'fit'), undefined);
    assert.equal(retryAfter(limiter, 'fit'), undefined);
    assert.equal(retryAfter(limiter, 'fit'), 3600);
    assert.equal(retryAfter(limiter, 'upload'), undefined);
    now += 3_600_000;
    assert.equal(retryAfter(limiter, 'fit'), undefined);
  });

  it('remembers a request for an hour, and none for longer', () => {
    const limiter = new RateLimiter({ fit: { perHour: 2 } }, () => now);
    const remembered = (): number => JSON.stringify(limiter).length;
    assert.equal(retryAfter(limiter, 'fit'), undefined);
    const one = remembered();
    now += 3_599_999;
    assert.equal(retryAfter(limiter, 'fit'), undefined);
    assert.ok(remembered() > one);
    assert.equal(retryAfter(limiter, 'fit'), 1, 'the first has a millisecond left');
    for (let hour = 0; hour < 100; hour++) {
      now += 3_600_000;
      assert.equal(retryAfter(limiter, 'fit'), undefined);
      assert.ok(remembered() <= one + 2, 'a service that runs for a year would fill its memory');
    }
  });
});
