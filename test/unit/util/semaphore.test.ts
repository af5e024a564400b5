import assert from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';

import { Semaphore } from '../../doors/util';

describe('Semaphore', () => {
  it('runs no more than its number at once, in order, failures included', async () => {
    const semaphore = new Semaphore(2);
    let inside = 0;
    let most = 0;
    const order: number[] = [];
    const jobs = Array.from({ length: 9 }, (_, i) =>
      semaphore.run(async () => {
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
    assert.equal(await semaphore.run(() => Promise.resolve('after')), 'after');
  });

  it('refuses what comes when as many wait as may, and takes others once there is room again', async () => {
    const semaphore = new Semaphore(1, 2);
    const ends: (() => void)[] = [];
    const work = () => new Promise<void>((resolve) => ends.push(resolve));
    const admitted = [semaphore.run(work), semaphore.run(work), semaphore.run(work)];
    const full = () => new Error('full');
    let begun = false;
    const late = () => Promise.resolve((begun = true));
    await assert.rejects(semaphore.run(late, full), /full/);
    assert.equal(begun, false);
    for (const job of admitted) {
      ends.shift()!();
      await job;
      await sleep(1);
    }
    assert.equal(await semaphore.run(late), true);
  });
});
