import assert from 'node:assert/strict';

import type { Challenger, ModelCard, ModelScores } from '../../../dist/src/connection';
import { showFitted, showStays, showVersion, StatusLine } from '../../doors/runtime';
import { fakeNode, fakeRed } from './fake';

describe('the status of a fit', () => {
  const shown = (card: Partial<ModelCard>, taskFound: boolean): string => {
    const node = fakeNode();
    showFitted(
      new StatusLine(node, fakeRed()),
      { rows: 9, task: 'classification', ...card } as ModelCard,
      taskFound,
    );
    return node.statuses[0]!.text!.replace(/^.*:status\./, '');
  };
  const scores = (own: Partial<ModelScores>): ModelScores => ({
    from: 'holdout',
    rows: 5,
    baseline: { rows: 5 },
    ...own,
  });

  it('shows how good the model is where that is known', () => {
    assert.equal(shown({ scores: scores({ accuracy: 0.984 }) }, true), 'fitted.accuracy {"score":"0.98"}');
    assert.equal(shown({ scores: scores({ r2: 0.7 }) }, false), 'fitted.r2 {"score":"0.70"}');
    assert.equal(shown({ scores: scores({ r2: -1.234 }) }, false), 'fitted.r2 {"score":"-1.23"}');
    assert.equal(shown({ scores: scores({ r2: -0.001 }) }, false), 'fitted.r2 {"score":"0.00"}');
  });

  it('shows a version that is in charge again with its score alone, in the colour that the score has', () => {
    const versionOf = (own: Partial<ModelScores>) => {
      const node = fakeNode();
      const card = { rows: 9, version: 3, task: 'classification', scores: scores(own) } as ModelCard;
      showVersion(new StatusLine(node, fakeRed()), card);
      return [node.statuses[0]!.fill, node.statuses[0]!.text!];
    };
    for (const [accuracy, colour] of [
      [0.9, 'green'],
      [0.6, 'yellow'],
    ] as const) {
      const [fill, text] = versionOf({ accuracy, baseline: { rows: 5, accuracy: 0.6 } });
      assert.equal(fill, colour);
      assert.match(text!, /status\.fitted\.version \{"version":"?3"?,/);
      assert.match(text!, /status\.fitted\.accuracy /);
      assert.ok(text!.includes(`${accuracy}0`), text);
    }
  });

  it('is not green where the new model was put aside for the one in charge', () => {
    const node = fakeNode();
    showStays(new StatusLine(node, fakeRed()), { version: 3 } as ModelCard, 4);
    const { fill, text } = node.statuses[0]!;
    assert.equal(fill, 'yellow');
    assert.match(text!, /status\.fitted\.stays \{"version":"?3"?,"aside":"?4"?\}/);
  });

  it('says what comes without a model, and is green only where the model is better', () => {
    const fitted = (own: Partial<ModelScores>, task: ModelCard['task']) => {
      const node = fakeNode();
      showFitted(new StatusLine(node, fakeRed()), { rows: 9, task, scores: scores(own) } as ModelCard, false);
      return [node.statuses[0]!.fill, node.statuses[0]!.text!.replace(/^.*:status\./, '')];
    };
    const over = (name: string, score: string, without: string) =>
      `fitted.${name}Over {"score":"${score}","without":"${without}"}`;
    assert.deepEqual(fitted({ accuracy: 0.9, baseline: { rows: 5, accuracy: 0.6 } }, 'classification'), [
      'green',
      over('accuracy', '0.90', '0.60'),
    ]);
    assert.deepEqual(fitted({ accuracy: 0.6, baseline: { rows: 5, accuracy: 0.6 } }, 'classification'), [
      'yellow',
      over('accuracy', '0.60', '0.60'),
    ]);
    const now = { baseline: { rows: 5, r2: -0.01 }, baseline_now: { rows: 5, r2: 0.8 } };
    assert.deepEqual(fitted({ r2: 0.7, ...now }, 'regression'), [
      'yellow',
      over('r2', '0.70', '0.80').replace('Over', 'OverNow'),
    ]);
    const still = { baseline: { rows: 5, accuracy: 0.6 }, baseline_now: { rows: 5, accuracy: 0.6 } };
    assert.deepEqual(
      fitted({ accuracy: 0.7, ...still }, 'classification')[1],
      over('accuracy', '0.70', '0.60'),
    );
  });

  it('shows how labels are ranked where one is rare, since any accuracy is high there', () => {
    const rare = (own: Partial<ModelScores>, more: Partial<ModelCard> = {}) => {
      const node = fakeNode();
      const baseline = { rows: 5, accuracy: 0.97, log_loss: 0.13 };
      const card = { rows: 9, task: 'classification', scores: scores({ baseline, ...own }), ...more };
      showFitted(new StatusLine(node, fakeRed()), card as ModelCard, false);
      return [node.statuses[0]!.fill, node.statuses[0]!.text!.replace(/^.*:status\./, '')];
    };
    const good = { accuracy: 0.97, roc_auc: 0.961, log_loss: 0.08 };
    assert.deepEqual(rare(good), ['green', 'fitted.rocAucOver {"score":"0.961"}']);
    assert.equal(rare(good, { doubts: ['few events'] })[0], 'yellow');
    assert.equal(rare({ ...good, log_loss: 0.13 })[0], 'yellow');
    assert.match(String(rare({ accuracy: 0.98 })[1]), /accuracyOver/, 'of three labels there is none');
    const even = { ...good, baseline: { rows: 5, accuracy: 0.6, log_loss: 0.67 } };
    assert.match(String(rare(even)[1]), /accuracyOver/);
    const threshold = { label: 'yes', at: 0.05 };
    assert.match(String(rare(even, { threshold })[1]), /rocAucOver/, 'a threshold answers otherwise');
  });

  it('is yellow where the card has doubts', () => {
    for (const [doubts, fill] of [
      [undefined, 'green'],
      [['The train set has 4 rows.'], 'yellow'],
    ] as const) {
      const node = fakeNode();
      const card = { rows: 4, task: 'regression', scores: scores({ r2: 0.79 }), doubts };
      showFitted(new StatusLine(node, fakeRed()), card as unknown as ModelCard, false);
      assert.equal(node.statuses[0]!.fill, fill);
    }
  });

  it('says that the model in charge stays, and why', () => {
    const stays = (challenger: Omit<Challenger, 'text' | 'taken'>): string => {
      const node = fakeNode();
      const card = { rows: 9, task: 'regression', scores: scores({ r2: 0.7 }) } as unknown as ModelCard;
      showFitted(new StatusLine(node, fakeRed()), card, false, { taken: false, text: '', ...challenger });
      return node.statuses[0]!.text!.replace(/[^ "]*:status\./g, '');
    };
    const compared = { loss: 'pinball', rows: 90, difference: -0.01, standard_error: 0.02 } as const;
    assert.equal(
      stays({ why: 'not_better', scores: { ...compared, champion: 0.4142, challenger: 0.4242 } }),
      'stays.not_better {"loss":"stays.loss.pinball","own":"0.414","other":"0.424"}',
    );
    assert.equal(stays({ why: 'too_few_rows' }), 'stays.too_few_rows');
    assert.equal(stays({ why: 'unusual_rows' }), 'stays.unusual_rows');
    assert.equal(stays({ why: 'unchanged' }), 'fitted.r2 {"score":"0.70"}');
  });

  it('never rounds up to a perfect score', () => {
    for (const [accuracy, score] of [
      [0.9949, '0.99'],
      [0.9972, '0.997'],
      [0.9996, '0.9996'],
      [0.9999999, '0.9999'],
    ] as const) {
      assert.equal(shown({ scores: scores({ accuracy }) }, true), `fitted.accuracy {"score":"${score}"}`);
    }
    assert.equal(shown({ scores: scores({ accuracy: 1 }) }, true), 'fitted.accuracy {"score":"1.00"}');
  });

  it('is no score where the target has one value only', () => {
    const constant = scores({ r2: 1, rmse: 0, baseline: { rows: 9, r2: 1, rmse: 0 } });
    assert.equal(shown({ scores: constant, task: 'regression' }, true), 'fitted.constant');
    const label = scores({ accuracy: 1, baseline: { rows: 9, accuracy: 1 } });
    assert.equal(shown({ scores: label }, true), 'fitted.constant');
  });

  it('else the task that was found out, or the rows', () => {
    assert.equal(shown({}, true), 'fitted.classification');
    assert.equal(shown({ scores: scores({ rmse: 3 }), task: 'regression' }, true), 'fitted.regression');
    assert.equal(shown({}, false), 'fitted.ready {"rows":"9"}');
    assert.equal(shown({ rows: 0 }, false), 'fitted.plain');
  });
});
