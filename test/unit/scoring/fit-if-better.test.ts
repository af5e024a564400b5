import { strict as assert } from 'node:assert';

import { type Bench, bench, history } from './stand-in';

describe('a challenger on a metered service', () => {
  let at: Bench;
  afterEach(() => at.close());
  const warnings: string[] = [];
  const fit = (rows: number) =>
    at.connection.train(
      { table: { value: history(rows) }, target: 'species', model: 'pets', replace: 'better' },
      { onWarning: (text) => warnings.push(text) },
    );
  const comparing = () => warnings.filter((text) => text.startsWith('Comparing'));

  it('one warning says what it costs, before anything is sent; and it costs no more', async () => {
    at = await bench();
    warnings.length = 0;
    await fit(200);
    assert.deepEqual(comparing(), []);
    assert.equal(at.service.seen('fit').length, 1);
    const before = at.service.requests.length;
    const { challenger, card } = await fit(400);
    assert.equal(challenger!.scores!.rows, 80);
    assert.equal(comparing().length, 1);
    assert.match(
      comparing()[0]!,
      /one more fit and two predicts of 80 rows, which are estimated to cost \d+/,
    );
    const routes = at.service.requests.slice(before).map(({ route }) => route);
    assert.ok(routes.indexOf('estimate_cost') < routes.findIndex((route) => route.startsWith('prepare_')));
    assert.equal(routes.filter((route) => route === 'predict').length, 2);
    assert.equal(routes.filter((route) => route === 'fit').length, challenger!.taken ? 2 : 1);
    assert.equal(card.version, challenger!.taken ? 2 : 1);
    assert.deepEqual(at.service.breaches, []);
  });

  it('a service that fails in between: the error is told, and the model in charge stays', async () => {
    at = await bench();
    const { card } = await fit(200);
    at.service.fault('predict', () => ({ status: 422, body: { detail: 'no' } }));
    await assert.rejects(fit(400), { code: 'validation.failed' });
    assert.deepEqual(at.cards.get('pets'), card);
  });
});
