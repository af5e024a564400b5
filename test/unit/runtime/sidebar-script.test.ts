import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

import { type AnswerCosts, type ThresholdCurve } from '../../doors/metrics';
import { isLessNow } from '../../doors/series';
import { root } from '../../helpers/node-red';

interface Scores {
  accuracy: number;
  cost?: number;
  baseline?: { cost?: number };
}
interface Models {
  answeredScores(curve: ThresholdCurve, card: object): Scores;
  columnName(name: string, columns: { name: string }[]): string;
}

/** What stands for the editor, whatever is asked of it. */
function anything(known: Record<string | symbol, unknown> = {}): object {
  return new Proxy(function () {}, {
    get: (_, key) => (key in known ? known[key] : key === Symbol.toPrimitive ? () => '' : anything()),
    set: (_, key, value) => {
      known[key] = value;
      return true;
    },
    apply: () => anything(),
    construct: () => anything(),
  });
}

/** The functions of the sidebar's script, as the editor loads it. */
function loadSidebar(): Models {
  const RED = anything({ tabularPrediction: {} }) as { tabularPrediction: { models: Models } };
  const file = path.join(root, 'resources', 'models.js');
  vm.runInNewContext(fs.readFileSync(file, 'utf8'), {
    RED,
    $: anything(),
    document: anything(),
    IntersectionObserver: anything(),
    setTimeout,
  });
  return RED.tabularPrediction.models;
}

describe('the script of the sidebar', () => {
  const models = loadSidebar();
  const curve: ThresholdCurve = {
    positive: true,
    positives: 2,
    negatives: 3,
    at: [0.9, 0.7, 0.3],
    hits: [1, 1, 2],
    false_alarms: [0, 1, 3],
  };

  it('tells what answers cost as the fit node does, however a label is written', () => {
    const scores = { accuracy: 0.8, baseline: {} };
    const of = (costs: AnswerCosts) => models.answeredScores(curve, { scores, costs });
    const written: AnswerCosts[] = [
      { true: { false: 20 }, false: { true: 3 } },
      { True: { False: 20 }, FALSE: { True: 3 } },
    ];
    for (const costs of written) {
      assert.equal(of(costs).cost, 20 + 3);
      assert.equal(of(costs).baseline?.cost, 9);
    }
  });

  it('scores a threshold of a label that a service wrote as text', () => {
    const card = { scores: { accuracy: 0.6 }, threshold: { label: 'True', at: 0.8 } };
    assert.equal(models.answeredScores(curve, card).accuracy, 4 / 5);
  });

  it('names as differences only what a series node tells so', () => {
    const named = (name: string, columns: string[]) =>
      models.columnName(
        name,
        columns.map((one) => ({ name: one })),
      );
    const own = ['heat', 'heat mean 1h', 'seconds since the reading before'];
    assert.equal(named('heat mean 1h', own), 'heat mean 1h - now');
    assert.equal(named('heat', own), 'heat');
    assert.equal(named('cold mean 1h', own), 'cold mean 1h');
    assert.equal(named('heat mean 1h', ['heat', 'heat mean 1h']), 'heat mean 1h', 'a table of one’s own');
    assert.ok(isLessNow('heat usual now', [...own, 'heat usual now']));
  });
});
