import assert from 'node:assert/strict';

import type { FittedModel, TrainRequest } from '../../../dist/src/connection';
import { keptThreshold, readCosts, thresholdBy } from '../../doors/scoring';
import { type Bench, bench, codeOf, embeddedBench, history } from './stand-in';

/** Each tenth row is a fault, and `heat` says so more often than not. */
function readings(rows = 300): { heat: number; state: string }[] {
  return Array.from({ length: rows }, (_, i) => {
    const isFault = i % 10 === 0;
    return { heat: ((i * i * 31 + i * 17) % 97) + (isFault ? 40 : 0), state: isFault ? 'fault' : 'fine' };
  });
}

const CARD = {
  name: 'm',
  task: 'classification',
  classes: ['fault', 'fine'],
  thresholds: { label: 'fault', f1: { at: 0.3, value: 0.7 } },
} as FittedModel;

describe('a threshold', () => {
  it('is a probability of the rarer class, or the best for something that is known', () => {
    assert.deepEqual(thresholdBy(CARD, 0.2), { label: 'fault', at: 0.2 });
    assert.deepEqual(thresholdBy(CARD, 'f1'), { label: 'fault', at: 0.3, by: 'f1' });
    assert.deepEqual(thresholdBy({ ...CARD, thresholds: undefined }, 0.2), { label: 'fine', at: 0.2 });
    for (const [card, wish, said] of [
      [{ ...CARD, task: 'regression' }, 0.2, /predicts numbers/],
      [{ ...CARD, classes: ['a', 'b', 'c'] }, 0.2, /has 3 classes: a threshold is for two/],
      [{ ...CARD, classes: undefined, thresholds: undefined }, 0.2, /classes .* are not known/],
      [CARD, 1.5, /from 0 to 1/],
      [CARD, Number.NaN, /from 0 to 1/],
      [CARD, 'costs', /enter costs in the fit node/],
      [CARD, 'accuracy', /hold back rows/],
    ] as const) {
      assert.throws(() => thresholdBy(card as FittedModel, wish), said);
    }
  });

  it('stays with the next fit, found anew where it was the best; goes where its class does', () => {
    const chosen = { label: 'fault', at: 0.2 };
    assert.deepEqual(keptThreshold(chosen, CARD), chosen);
    assert.deepEqual(keptThreshold({ ...chosen, by: 'f1' }, CARD), { label: 'fault', at: 0.3, by: 'f1' });
    assert.deepEqual(keptThreshold({ ...chosen, by: 'costs' }, CARD), chosen, 'what is not known any more');
    assert.deepEqual(keptThreshold({ label: 'fine', at: 0.9, by: 'f1' }, CARD), { label: 'fine', at: 0.9 });
    assert.deepEqual(keptThreshold({ label: true, at: 0.5 }, { ...CARD, classes: ['False', 'True'] }), {
      label: true,
      at: 0.5,
    });
    for (const next of [{ classes: ['a', 'b'] }, { classes: ['fault', 'a', 'b'] }, { task: 'regression' }]) {
      assert.equal(keptThreshold(chosen, { ...CARD, ...next } as FittedModel), undefined);
    }
  });

  it('takes costs by label and answer, and refuses what they cannot be', () => {
    const costs = { fault: { fine: 5 } };
    assert.equal(readCosts(costs, ['fault', 'fine']), costs);
    assert.deepEqual(readCosts({ true: { false: 2 } }, [false, true]), { true: { false: 2 } });
    const errors = { missed: 20, false_alarm: 0 };
    assert.equal(readCosts(errors, ['fault', 'fine']), errors);
    assert.equal(readCosts({ missed: 20 }, undefined).missed, 20);
    for (const [given, classes, said] of [
      [{}, undefined, /Costs are two numbers/],
      [{ fault: 5 }, undefined, /Costs are two numbers/],
      [{ fault: { fine: '5' } }, undefined, /Costs are two numbers/],
      [{ missed: -1 }, undefined, /Costs are two numbers/],
      [{ missed: '20' }, undefined, /Costs are two numbers/],
      [{ missed: 20, fine: 1 }, undefined, /Costs are two numbers/],
      [errors, ['a', 'b', 'c'], /for two classes, and the target has 3/],
      [costs, ['a', 'b', 'c'], /for two classes, and the target has 3/],
      [{ fault: { fien: 5 } }, ['fault', 'fine'], /"fien".*"fault" and "fine"/],
    ] as const) {
      assert.throws(() => readCosts(given, classes), said);
    }
  });
});

describe('a threshold on the embedded service', function () {
  this.timeout(60_000);
  const at = embeddedBench();
  const fit = (more: Partial<TrainRequest> = {}, rows: object[] = readings(), warnings: string[] = []) =>
    at.connection.train(
      {
        table: { value: rows },
        target: 'state',
        model: 'faults',
        options: { n_estimators: 1 },
        ...more,
      },
      { onWarning: (text) => warnings.push(text) },
    );
  const ask = async (outputType: 'preds' | 'probas', more: object = {}) => {
    const { table, prediction } = await at.connection.predict({
      table: { value: readings(60).map(({ heat }) => ({ heat })) },
      model: 'faults',
      outputType,
      ...more,
    });
    return {
      rows: table as { prediction: string; prediction_probabilities?: Record<string, number> }[],
      prediction,
    };
  };
  const faults = (rows: { prediction: string }[]) => rows.filter((one) => one.prediction === 'fault').length;

  it('is what labels are answered by, beside probabilities and alone, until it is taken away', async () => {
    const { card } = await fit({ costs: { fault: { fine: 20 } } });
    assert.equal(card.threshold, undefined, 'costs alone change no answer');
    assert.equal(card.thresholds?.label, 'fault');
    assert.ok(card.thresholds.costs!.at < 0.3, `a missed fault costs much: ${card.thresholds.costs!.at}`);
    const before = await ask('preds');
    const chosen = await at.connection.chooseThreshold('faults', 'costs');
    assert.deepEqual(chosen.threshold, { label: 'fault', at: card.thresholds.costs!.at, by: 'costs' });
    const { at: from } = chosen.threshold;
    const probas = await ask('probas');
    for (const { prediction, prediction_probabilities: p } of probas.rows) {
      assert.equal(prediction, p!.fault! >= from ? 'fault' : 'fine');
    }
    const preds = await ask('preds');
    const labels = probas.rows.map(({ prediction }) => prediction);
    assert.deepEqual(preds.prediction, labels, 'the form of labels');
    assert.deepEqual(
      preds.rows.map(({ prediction }) => prediction),
      labels,
    );
    assert.ok(faults(preds.rows) > faults(before.rows));
    assert.equal(faults((await ask('preds', { threshold: 0 })).rows), 60, 'a message may have its own');
    assert.equal((await at.connection.chooseThreshold('faults', null)).threshold, undefined);
    assert.deepEqual((await ask('preds')).rows, before.rows);
  });

  it('stays with a refit and goes back with a version; other costs need no fit; other classes lose it', async () => {
    const { card: first } = await fit({ forceRefit: true, costs: { fault: { fine: 20 } } });
    await at.connection.chooseThreshold('faults', 'costs');
    const cheap = await fit({ costs: { fault: { fine: 2 } } });
    assert.ok(cheap.reused);
    assert.deepEqual(cheap.card.costs, { fault: { fine: 2 } });
    assert.ok(cheap.card.threshold!.at > first.thresholds!.costs!.at, 'the best of the new costs');
    await at.connection.chooseThreshold('faults', 0.125);
    const second = await fit({}, readings(280));
    assert.deepEqual(second.card.threshold, { label: 'fault', at: 0.125 });
    assert.equal(second.card.costs, undefined);
    await at.connection.chooseThreshold('faults', null);
    assert.equal((await at.connection.rollBack('faults')).threshold!.at, 0.125);
    const ruled = await fit({ threshold: 'f1', forceRefit: true });
    assert.deepEqual(ruled.card.threshold, {
      label: 'fault',
      at: ruled.card.thresholds!.f1!.at,
      by: 'f1',
    });
    const warnings: string[] = [];
    const renamed = readings().map((row) => ({ ...row, state: row.state === 'fault' ? 'broken' : 'fine' }));
    const { card } = await fit({}, renamed, warnings);
    assert.equal(card.threshold, undefined);
    assert.match(warnings.join(' '), /has other classes, so the threshold for "fault" no longer applies/);
  });

  it('is the cheapest by costs of a miss and a false alarm, as by labels; costs chosen later stay', async () => {
    const byLabel = await fit({ model: 'priced', costs: { fault: { fine: 20 }, fine: { fault: 2 } } });
    const { card } = await fit({ model: 'priced', costs: { missed: 20, false_alarm: 2 } });
    assert.ok(card.thresholds?.costs);
    assert.deepEqual(card.thresholds.costs, byLabel.card.thresholds?.costs);
    assert.deepEqual(card.costs, { missed: 20, false_alarm: 2 });
    await at.connection.chooseThreshold('priced', 'costs');
    const chosen = await at.connection.chooseCosts('priced', { missed: 1, false_alarm: 30 });
    assert.deepEqual(chosen.costs, { missed: 1, false_alarm: 30 });
    assert.notEqual(chosen.thresholds!.costs!.value, card.thresholds.costs.value);
    assert.equal(chosen.threshold!.at, chosen.thresholds!.costs!.at, 'the best of the new costs');
    const next = await fit({ model: 'priced' }, readings(280));
    assert.deepEqual(next.card.costs, { missed: 1, false_alarm: 30 });
    assert.equal(next.card.threshold!.at, next.card.thresholds!.costs!.at);
    const same = await fit({ model: 'priced' }, readings(280));
    assert.ok(same.reused);
    assert.deepEqual(same.card.costs, { missed: 1, false_alarm: 30 });
    assert.equal(same.card.version, next.card.version);
    const own = await fit({ model: 'priced', costs: { missed: 9 } }, readings(280));
    assert.equal(own.card.costs_chosen, undefined, 'the fit has its own');
    const none = await at.connection.chooseCosts('priced', null);
    assert.equal(none.costs, undefined);
    assert.equal(none.thresholds!.costs, undefined);
    for (const costs of [{ missed: -1 }, 'much'] as object[]) {
      assert.equal(await codeOf(at.connection.chooseCosts('priced', costs)), 'validation.failed');
    }
    assert.equal(await codeOf(at.connection.chooseCosts('nobody', null)), 'model.unknown');
    await fit({ model: 'numbers', target: 'heat' });
    assert.equal(await codeOf(at.connection.chooseCosts('numbers', { missed: 1 })), 'validation.failed');
  });

  it('is refused where there are more classes, and numbers; what a card brings is checked', async () => {
    const three = readings().map((row, i) => ({ ...row, state: ['a', 'b', 'c'][i % 3]! }));
    await assert.rejects(
      fit({ costs: { a: { b: 2 } } }, three),
      /Costs are for two classes, and the target has 3/,
    );
    await assert.rejects(fit({ threshold: 'f1' }, three), /A threshold is for two classes/);
    await assert.rejects(fit({ threshold: 'f1', target: 'heat' }), /the target is a number/);
    await fit({ model: 'three' }, three);
    await assert.rejects(at.connection.chooseThreshold('three', 0.5), /has 3 classes/);
    assert.equal(await codeOf(ask('preds', { model: 'three', threshold: 0.5 })), 'validation.failed');
    assert.equal(await codeOf(at.connection.chooseThreshold('nobody', 0.5)), 'model.unknown');
    const { card } = await fit({ model: 'carried' });
    const carried = { ...card, threshold: { label: 'fault', at: 'high' } };
    assert.ok(faults((await ask('preds', { model: carried })).rows) < 60, 'a damaged one is none');
  });

  it('tells the days of its rows, where they have a time', async () => {
    const start = Date.UTC(2026, 0, 1);
    const timed = readings().map((row, i) => ({ ...row, time: new Date(start + i * 3_600_000) }));
    // Of the days a fifth is scored, whichever way.
    for (const more of [{}, { holdout: 20 }]) {
      const { curves } = await fit({ model: 'timed', ...more }, timed);
      assert.ok(curves?.kind === 'classes');
      assert.equal(curves.rows, 60);
      assert.ok(Math.abs(curves.by_threshold!.days! - 299 / 24 / 5) < 1e-9);
    }
  });
});

describe('a threshold on a hosted service', () => {
  let at: Bench;
  afterEach(() => at.close());

  it('is found on rows held back, and decided here: the service is asked for probabilities', async () => {
    at = await bench();
    const { card } = await at.connection.train({
      table: { value: history(60) },
      target: 'species',
      model: 'pets',
      holdout: 40,
    });
    assert.equal(card.thresholds?.label, 'dog');
    assert.ok(card.thresholds.f1!.value > 0);
    const rows = history(10).map(({ id }) => ({ id, name: 'n', ok: true, size: 1 }));
    const ask = async () => {
      const { table, prediction } = await at.connection.predict({
        table: { value: rows },
        model: 'pets',
        outputType: 'preds',
      });
      return { labels: (table as { prediction: string }[]).map((one) => one.prediction), prediction };
    };
    await at.connection.chooseThreshold('pets', 0);
    const all = await ask();
    assert.deepEqual(all.labels, Array(10).fill('dog'));
    assert.deepEqual(all.prediction, all.labels);
    await at.connection.chooseThreshold('pets', 1);
    assert.deepEqual((await ask()).labels, Array(10).fill('cat'));
    await at.connection.chooseThreshold('pets', null);
    await ask();
    const asked = at.service
      .seen('predict')
      .map(({ body }) => JSON.stringify(body).match(/"(preds|probas)"/)?.[1]);
    assert.deepEqual(asked, ['probas', 'probas', 'probas', 'preds']);
    assert.deepEqual(at.service.breaches, []);
  });
});
