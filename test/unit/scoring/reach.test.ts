import assert from 'node:assert/strict';

import { Reach } from '../../doors/scoring';
import { ServiceError } from '../../doors/wire';
import { bench, history } from './stand-in';

describe('whether a service is away', () => {
  it('is what its last answer says: none came, or one that refuses, or one that is right', async () => {
    const reach = new Reach();
    const fails = (code: 'service.timeout' | 'service.unavailable' | 'validation.failed') =>
      assert.rejects(reach.of(Promise.reject(new ServiceError(code, 'no'))));
    assert.equal(reach.isAway, false);
    for (const code of ['service.timeout', 'service.unavailable'] as const) {
      await fails(code);
      assert.equal(reach.isAway, true);
      await fails('validation.failed');
      assert.equal(reach.isAway, false, 'who refuses is there');
    }
    await fails('service.timeout');
    assert.equal(await reach.of(Promise.resolve(7)), 7);
    assert.equal(reach.isAway, false);
  });

  it('is known after a fit, and after a prediction that nobody answers', async () => {
    const at = await bench();
    const connection = at.connect({ clientOptions: { retries: 0 } });
    await connection.train({ table: { value: history() }, target: 'species', model: 'pets' });
    assert.equal(connection.isAway, false);
    await at.service.close();
    await assert.rejects(
      connection.predict({ table: { value: [{ id: 1, name: 'n', ok: true, size: 1 }] }, model: 'pets' }),
    );
    assert.equal(connection.isAway, true);
    await at.close();
  });
});
