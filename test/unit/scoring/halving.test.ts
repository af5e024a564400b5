import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import { MAX_PREDICTS, scoreByHalves } from '../../doors/scoring';
import { ServiceError } from '../../doors/wire';

/** Scores items of which some are refused by the service, as it would. */
async function run(
  count: number,
  culprits: ReadonlySet<number>,
  code: ServiceError['code'] = 'validation.failed',
) {
  let calls = 0;
  const outcomes = new Map<number, string>();
  const results = scoreByHalves<number, 'ok'>(
    Array.from({ length: count }, (_, item) => item),
    {
      score: async function* (items) {
        calls++;
        await Promise.resolve();
        if (items.some((item) => culprits.has(item))) {
          throw new ServiceError(code, 'refused');
        }
        for (const message of items) {
          yield { message, outcome: 'ok', rows: 1, bytes: 1 };
        }
      },
      budget: { left: MAX_PREDICTS - 1 },
    },
  );
  for await (const result of results) {
    const { message: item } = result;
    assert.ok(!outcomes.has(item), `${item} has two outcomes`);
    outcomes.set(item, 'error' in result ? (result.error as ServiceError).code : result.outcome);
  }
  return { calls, outcomes };
}

describe('scoreByHalves', () => {
  it('one predict where nothing is refused', async () => {
    const { calls, outcomes } = await run(500, new Set());
    assert.equal(calls, 1);
    assert.equal(outcomes.size, 500);
  });

  it('spends no predict on a half that must be refused, its other half having been accepted', async () => {
    const { calls, outcomes } = await run(4, new Set([3]));
    // All four, the first two, the third, the fourth: not the last two together.
    assert.equal(calls, 4);
    assert.equal(outcomes.get(3), 'validation.failed');
  });

  it('finds one culprit among 500 and scores all others', async () => {
    for (const culprit of [0, 123, 250, 499]) {
      const { calls, outcomes } = await run(500, new Set([culprit]));
      assert.ok(calls <= 20, `${calls} predicts`);
      assert.equal([...outcomes.values()].filter((how) => how === 'ok').length, 499);
      assert.equal(outcomes.get(culprit), 'validation.failed');
    }
  });

  it('never more than 32 predicts; every item has one outcome, and no culprit passes', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 300 }),
        fc.array(fc.integer({ min: 0, max: 299 })),
        async (count, list) => {
          const culprits = new Set(list.filter((item) => item < count));
          const { calls, outcomes } = await run(count, culprits);
          assert.ok(calls <= 32);
          assert.equal(outcomes.size, count);
          for (const culprit of culprits) {
            assert.equal(outcomes.get(culprit), 'validation.failed');
          }
        },
      ),
    );
  });

  it('with one culprit and up to 4,096 items nobody else suffers', async () => {
    const { calls, outcomes } = await run(4096, new Set([1]));
    assert.ok(calls <= 32, `${calls} predicts`);
    assert.equal([...outcomes.values()].filter((how) => how !== 'ok').length, 1);
  });

  it('what is found too costly by an estimate does not count as a predict', async () => {
    const { outcomes } = await run(
      64,
      new Set(Array.from({ length: 64 }, (_, item) => item)),
      'cost.exceeded',
    );
    assert.ok([...outcomes.values()].every((how) => how === 'cost.exceeded'));
  });

  it('another error is shared at once', async () => {
    const { calls, outcomes } = await run(10, new Set([3]), 'service.unavailable');
    assert.equal(calls, 1);
    assert.equal(outcomes.get(9), 'service.unavailable');
  });
});
