import { strict as assert } from 'node:assert';

import { type Bench, bench, history, row } from './stand-in';

describe('an empty text in a request', () => {
  let at: Bench;
  afterEach(() => at.close());

  it('says as little as what is left out', async () => {
    at = await bench();
    const { connection, service } = at;
    const table = { value: history() };
    const pets = { table, target: 'species', model: 'pets' };
    const thinking = { effort: '', metric: '' };
    const empty = { trainSetUploadId: '', description: '', group: '', relativeTo: '', timezone: '' };
    await connection.train({ ...pets, ...empty, thinking });
    assert.equal((await connection.train(pets)).reused, true, 'the same fit');

    const fromId = { model: '', fittedTrainSetId: at.cards.get('pets')!.fitted_train_set_id };
    for (const named of [{ model: 'pets', fittedTrainSetId: '' }, fromId]) {
      const asked = { table: { value: row(1) }, testSetUploadId: '', property: '', timezone: '', ...named };
      const outcome = await connection.predict(asked);
      assert.ok('prediction' in (outcome.table as object));
    }
    const upload = await connection.upload({ ...pets, set: 'test', target: '', description: '' });
    assert.equal(upload.rows, table.value.length);
    assert.equal(
      await connection.estimateCost({ operation: '', modelVersion: '', model: '', testRows: 5 }),
      5,
    );
    assert.deepEqual(await connection.checkLimits({ table, target: '', modelVersion: '' }), []);
    assert.deepEqual(service.breaches, []);

    await assert.rejects(connection.train({ ...pets, target: '' }), { code: 'target.missing' });
    await assert.rejects(connection.predict({ api: 'v1', modelId: '', task: 'regression', table }), {
      code: 'model.unknown',
    });
  });
});
