import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import { Fifo } from '../../doors/scoring';
import { cpuWatch } from '../../helpers/clock';
import { garbageCollector } from '../../helpers/garbage';

describe('Fifo', () => {
  it('answers the item that has been in it longest, whatever came and left', () => {
    const step = fc.record({ add: fc.boolean(), at: fc.nat() });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const fifo = new Fifo<number>();
        const model: number[] = [];
        steps.forEach(({ add, at }, id) => {
          if (add || model.length === 0) {
            fifo.add(id);
            model.push(id);
          } else {
            fifo.delete(model.splice(at % 3 === 0 ? 0 : at % model.length, 1)[0]!);
          }
          assert.equal(fifo.first(), model[0]);
          assert.equal(fifo.size, model.length);
        });
        assert.deepEqual([...fifo], model);
      }),
    );
  });

  it('takes no longer per item where 200,000 wait than where a few do', () => {
    const fifo = new Fifo<object>();
    for (let i = 0; i < 200_000; i++) {
      fifo.add({ i });
    }
    const spent = cpuWatch();
    for (let first = fifo.first(); first !== undefined; first = fifo.first()) {
      fifo.delete(first);
    }
    assert.ok(spent() < 1000, 'a scan for each item takes several seconds');
  });

  it('holds nothing that has left, while others always wait and nobody asks for the first', async () => {
    const fifo = new Fifo<object>();
    const left = passThrough(fifo, 10_000, 100);
    // A WeakRef keeps its object until the turn of the event loop in which it was made is over.
    await new Promise<void>((resolve) => setImmediate(resolve));
    garbageCollector()();
    const held = left.filter((item) => item.deref() !== undefined);
    assert.equal(held.length, 0, `${held.length} of ${left.length} are held`);
    assert.equal(fifo.size, 100);
  });
});

/** Lets items come and go, in this order, of which so many wait at a time. Answers those that have left. */
function passThrough(fifo: Fifo<object>, count: number, waiting: number): WeakRef<object>[] {
  const items: object[] = [];
  const left: WeakRef<object>[] = [];
  for (let i = 0; i < count; i++) {
    const item = { i };
    fifo.add(item);
    items.push(item);
    if (items.length > waiting) {
      const oldest = items.shift()!;
      fifo.delete(oldest);
      left.push(new WeakRef(oldest));
    }
  }
  return left;
}
