import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

import { type AnswerCosts, type ThresholdCurve } from '../../doors/metrics';
import { isLessNow } from '../../doors/series';
import { root } from '../../helpers/node-red';
import { sidebarParts } from '../../helpers/sidebar-parts';

interface Scores {
  accuracy: number;
  cost?: number;
  baseline?: { cost?: number };
}
interface Models {
  answeredScores(curve: ThresholdCurve, card: object): Scores;
  columnName(name: string, columns: { name: string }[]): string;
  statusTexts(catalogue: object, word: (key: string) => string, language: string): (text: string) => string;
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

/** The functions of the sidebar's modules. */
function loadSidebar(): Models {
  const context = vm.createContext({ RED: anything(), $: anything(), document: anything(), setTimeout });
  vm.runInContext(sidebarParts('dom', 'threshold', 'statuses'), context);
  return context.parts as Models;
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

  const wordsOf = (language: string) => {
    const file = path.join(root, 'nodes', 'locales', language, 'config.json');
    return (JSON.parse(fs.readFileSync(file, 'utf8')) as { status: object }).status;
  };
  const statusIn = (language: string) => {
    const own: object = { status: wordsOf(language) };
    const word = (key: string) =>
      key.split('.').reduce((all: unknown, part) => (all as Record<string, unknown>)[part], own) as string;
    return models.statusTexts(wordsOf('en-US'), word, language);
  };

  it('tells an English status in the language of the editor, with its numbers', () => {
    const german = statusIn('de');
    for (const [english, own] of [
      ['ready', 'bereit'],
      ['accuracy 0.93', 'Treffer 0,93'],
      ['ready, 1,200 rows', 'bereit, 1.200 Zeilen'],
      ['version 2: accuracy 0.93', 'Version 2: Treffer 0,93'],
      ['learning 120 of 1,000', 'lernt, 120 von 1.000'],
      ['MAE 3.9', 'MAE 3,9'],
      ['MAE 3.9 (promised 1.02)', 'MAE 3,9 (versprochen 1,02)'],
      ['predict.unknown', 'predict.unknown'],
      ['bereit, 1.200 Zeilen', 'bereit, 1.200 Zeilen'],
      ['R² 1.234', 'R² 1.234'],
    ] as const) {
      assert.equal(german(english), own);
    }
    assert.equal(statusIn('ja')('ready'), '準備完了');
  });

  it('finds each English status again', () => {
    const leaves = (all: object): string[] =>
      Object.values(all).flatMap((one: string | object) => (typeof one === 'string' ? [one] : leaves(one)));
    const same = statusIn('en-US');
    const german = statusIn('de');
    for (const text of leaves(wordsOf('en-US')).map((one) => one.replace(/__(\w+)__/g, '7'))) {
      assert.equal(same(text), text);
      assert.ok(german(text).length > 0);
    }
  });
});
