import assert from 'node:assert/strict';

import { soak, soakFaults } from '../helpers/soak';

describe('a stream through a real Node-RED, under random faults and redeploys', function () {
  this.timeout(180_000);

  it('accounts for each of 3,000 messages, mixes none up, and leaves nothing behind', async () => {
    const seed = 20_260_117;
    const summary = await soak({ messages: 3_000, seed, redeploys: 2 });
    const text = JSON.stringify({ ...summary, log: undefined });
    assert.deepEqual(soakFaults(summary, 3_000), [], text);
    assert.equal(summary.redeploys, 2);
    const kinds = Object.keys(summary.faults).length;
    assert.ok(kinds > 10, `${kinds} kinds of faults were injected`);
    assert.ok(summary.state.fits.taken > 3, 'models were fitted anew on the way');
  });
});
