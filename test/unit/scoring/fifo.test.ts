import { strict as assert } from 'node:assert';

import fc from 'fast-check';

import { Fifo } from '../../doors/scoring';

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
    const began = performance.now();
    for (let first = fifo.first(); first !== undefined; first = fifo.first()) {
      fifo.delete(first);
    }
    assert.ok(performance.now() - began < 1000, 'a scan for each item takes several seconds');
  });
});
