import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { Turnstile } from '../../doors/util';

describe('Turnstile', () => {
  it('runs no more than its number at once, in order, failures included', async () => {
    const turnstile = new Turnstile(2, 64, () => new Error('full'));
    let inside = 0;
    let most = 0;
    const order: number[] = [];
    const jobs = Array.from({ length: 9 }, (_, i) =>
      turnstile.run(async () => {
        order.push(i);
        most = Math.max(most, ++inside);
        await sleep(5);
        inside -= 1;
        if (i % 3 === 0) {
          throw new Error(`job ${i}`);
        }
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

  it('refuses what comes when as many wait as may, and takes others once there is room again', async () => {
    const turnstile = new Turnstile(1, 2, () => new Error('full'));
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => ends.push(resolve));
    const admitted = [turnstile.run(work), turnstile.run(work), turnstile.run(work)];
    let begun = false;
    const late = () => Promise.resolve((begun = true));
    await assert.rejects(turnstile.run(late), /full/);
    assert.equal(begun, false);
    for (const job of admitted) {
      ends.shift()!();
      await job;
      await sleep(1);
    }
    assert.equal(await turnstile.run(late), true);
  });
});
