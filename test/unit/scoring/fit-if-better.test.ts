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

  it('while it is compared, nothing removes it from the service', async () => {
    at = await bench();
    await fit(200);
    const removable: string[][] = [];
    at.service.fault('predict', () => {
      removable.push(at.cards.superfluous().map(({ fitted }) => fitted));
      return undefined;
    });
    await fit(400);
    // The model in charge is asked first, then the challenger.
    assert.deepEqual(removable, [[], []]);
  });

  it('the train set of a version that is no longer in charge does not bring it back', async () => {
    at = await bench();
    const train = (rows: number) =>
      at.connection.train({ table: { value: history(rows) }, target: 'species', model: 'pets' });
    await train(200);
    const { card } = await train(400);
    const { challenger, card: kept, reused } = await fit(200);
    assert.deepEqual([challenger!.why, reused, kept.version], ['unchanged', true, 2]);
    assert.deepEqual(at.cards.get('pets'), card);
  });

  it('a fit that was asked for whatever is known is not taken for the same', async () => {
    at = await bench();
    await fit(200);
    for (const forced of [{ forceRefit: true }, { forceReupload: true }]) {
      const { challenger, reused } = await at.connection.train({
        ...{ table: { value: history(200) }, target: 'species', model: 'pets', replace: 'better' },
        ...forced,
      });
      assert.deepEqual([challenger!.why, reused], ['too_few_rows', false]);
    }
  });

  it('the rows of a machine that the model in charge does not know are new to it', async () => {
    at = await bench();
    const of = (machine: string) =>
      history(200).map((row, minute) => ({
        ...row,
        machine,
        time: new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString(),
      }));
    const train = (table: unknown) =>
      at.connection.train({
        ...{ table: { value: table }, target: 'species', model: 'pets', group: 'machine' },
        replace: 'better',
      });
    await train(of('a'));
    const { challenger } = await train([...of('a'), ...of('b')]);
    assert.equal(challenger!.why === 'too_few_rows', false, challenger!.text);
    assert.ok(challenger!.scores!.rows > 0);
  });
});
