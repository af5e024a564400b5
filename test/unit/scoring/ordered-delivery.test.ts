import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import { OrderedDelivery, Outbox } from '../../doors/scoring';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('OrderedDelivery', () => {
  it('delivers in order of entry per key, whatever the order of leaving; taken back ones are passed over', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ key: fc.constantFrom('a', 'b'), gone: fc.boolean() }), { maxLength: 30 }),
        fc.infiniteStream(fc.nat()),
        async (entries, random) => {
          const turns = new OrderedDelivery(new Outbox());
          const delivered: number[] = [];
          const open = entries.map(({ key, gone }, id) => ({ id, gone, turn: turns.enter(key) }));
          while (open.length > 0) {
            const [one] = open.splice(random.next().value % open.length, 1);
            turns.leave(one!.turn, one!.gone ? undefined : () => delivered.push(one!.id));
          }
          await turn();
          for (const key of ['a', 'b']) {
            const ids = entries.flatMap((entry, id) => (entry.key === key && !entry.gone ? [id] : []));
            assert.deepEqual(
              delivered.filter((id) => entries[id]!.key === key),
              ids,
            );
          }
        },
      ),
    );
  });

  it('a result that waits may still be taken back, and holds nobody up', async () => {
    const turns = new OrderedDelivery(new Outbox());
    const delivered: string[] = [];
    const [first, second, third] = [turns.enter('m'), turns.enter('m'), turns.enter('m')];
    turns.leave(second, () => delivered.push('second'));
    turns.leave(third, () => delivered.push('third'));
    turns.leave(second);
    turns.leave(first, () => delivered.push('first'));
    await turn();
    assert.deepEqual(delivered, ['first', 'third']);
  });

  it('while one result is long in coming, those that fail behind it leave nothing behind', () => {
    const turns = new OrderedDelivery(new Outbox());
    turns.enter('m');
    for (let i = 0; i < 10_000; i++) {
      turns.leave(turns.enter('m'));
    }
    assert.equal(turns.size, 1);
  });
});
