import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { Turnstile } from '../../../dist/src/service/work/turnstile';

describe('Turnstile', () => {
  it('runs no more than its number at once, in order, failures included', async () => {
    const turnstile = new Turnstile(2);
    let inside = 0;
    let most = 0;
    const order: number[] = [];
    const jobs = Array.from({ length: 9 }, (_, i) =>
      turnstile.run(async () => {
        order.push(i);
        most = Math.max(most, ++inside);
        await sleep(5);
        inside -= 1;
        if (i % 3 === 0) throw new Error(`job ${i}`);
        return i;
      }),
    );
    const outcomes = await Promise.allSettled(jobs);
    assert.deepEqual(
      outcomes.map(({ status }) => status === 'rejected'),
      Array.from({ length: 9 }, (_, i) => i % 3 === 0),
    );
    assert.equal(most, 2);
    assert.deepEqual(order, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
    assert.equal(await turnstile.run(() => Promise.resolve('after')), 'after');
  });
});
