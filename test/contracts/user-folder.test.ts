import assert from 'node:assert/strict';
import fs from 'node:fs';

import { differences, NAMED_ALARM, type Purpose } from './compare';
import { ANSWERS, type Answers, askUserFolder } from './user-folder';

const ALARMS = 'GET /tabular-prediction/watch/alarms : answer.body.changes';

/** What later releases did on purpose to messages, statuses and answers of routes. */
const PURPOSE: Purpose = {
  added: [
    // The labels that a dialog offers.
    'answer.body.classes',
    'answer.body.sought',
  ],
  changed: [
    // A watch node shows an alarm that has not been cleared.
    'start: watch.fill: was "green", is "yellow"',
    // Parquet files are written otherwise, so that the first fit of an unchanged train set is a new one.
    'fit hosted {"model_name":"hosted model","target":"kind"}: outcome.messages.fit hosted>0[0].model.fitted_at: was …',
    'fit hosted {"model_name":"hosted model","target":"kind"}: outcome.messages.fit hosted>0[0].model.versions[0].fitted_at: was …',
    'fit endpoint {"model_name":"endpoint model","target":"y"}: outcome.messages.fit endpoint>0[0].model.fitted_at: was …',
    'fit endpoint {"model_name":"endpoint model","target":"y"}: outcome.messages.fit endpoint>0[0].model.versions[0].fitted_at: was …',
    'fit hosted {"rollback":true}: outcome.messages.fit hosted>0[0].model.versions[0].fitted_at: was …',
    // Points below one have two digits that say something.
    'predict {"model":"three classes","explain":true,"unlike":true}: outcome.messages.predict>0[0].payload[2].prediction_why[1].text: was "width 2.47 (usually 2 to 2.62) raised \\"virginica\\" by 0.1 points", is "width 2.47 (usually 2 to 2.62) raised \\"virginica\\" by 0.08 points"',
    // A value of a row is told with two digits at least.
    ...(
      [
        ['9', '8.7', 'lowered', '0.0366'],
        ['7', '6.6', 'raised', '0.0371'],
        ['6', '5.7', 'raised', '0.0356'],
        ['4', '4.1', 'lowered', '0.0165'],
      ] as const
    ).map(
      ([was, is, did, effect], row) =>
        `predict {"model":"dates","explain":true,"unlike":true,"output_type":"main"}: outcome.messages.predict>0[0].payload[${row}].prediction_why[1].text: was "outside ${was} (usually 3 to 14) ${did} the prediction by ${effect}", is "outside ${is} (usually 3 to 14) ${did} the prediction by ${effect}"`,
    ),
    // A status takes at most thirty columns.
    'start: watch.text: was …',
    'start: watch alarms.text: was …',
    ...[
      'fit {"model_name":"two classes","rollback":true}',
      'fit {"model_name":"two classes","rollback":3}',
    ].map((step) => `${step}: status.text: was …`),
    'fit hosted {"rollback":true}: status.text: was …',
    // A threshold answers, and the probabilities tell no more than that one label is rare, as the sidebar has it.
    'fit {"model_name":"two classes","rollback":true}: status.fill: was "green", is "yellow"',
    // An effect is not told as none.
    'predict {"model":"three classes","explain":true,"unlike":true}: outcome.messages.predict>0[0].payload[2].prediction_why[2].text: was "wild true lowered \\"virginica\\" by 0 points", …',
    // An alarm says what it is of, a probability and its limit both in percent.
    NAMED_ALARM,
    ...(
      [
        [0, 'p2', '0.988', '98.8 %'],
        [1, 'p1', '0.995', '99.5 %'],
      ] as const
    ).map(
      ([at, key, was, is]) =>
        `${ALARMS}[${at}].text: was "${key}: The probability of \\"yes\\" has reached ${was} (alarm at 0.5).", is "${key}: alarm = true within 15m: ${is} (alarm at 50 %)."`,
    ),
    ...(
      [
        [2, 'p2', '0.00121', '0.121 %'],
        [3, 'p1', '0.00275', '0.275 %'],
      ] as const
    ).map(
      ([at, key, was, is]) =>
        `${ALARMS}[${at}].text: was "${key}: The alarm is over: the probability of \\"yes\\" is back at ${was}.", is "${key}: The alarm is over. alarm = true within 15m: ${is}."`,
    ),
  ],
};

/**
 * A user folder of an earlier release, with cards, versions, references, series, watches, and models of every kind in
 * the embedded service, is taken over: what it answers is what that release answered. Made by make-user-folder.ts.
 */
describe('a user folder of an earlier release', function () {
  this.timeout(120_000);
  const expected = JSON.parse(fs.readFileSync(ANSWERS, 'utf8')) as Answers;
  let found: Answers;

  before(async () => {
    found = await askUserFolder(expected.service, { expected });
  });

  it('shows the series and watches that it keeps', () => {
    assert.deepEqual(differences('start', expected.started, found.started, PURPOSE), []);
  });

  for (const [call, statuses] of Object.entries(expected.permitted)) {
    it(`lets each user do what may be done with ${call}`, () => {
      assert.deepEqual(found.permitted[call], statuses);
    });
  }

  expected.steps.forEach((step, i) => {
    const what = 'call' in step ? `${step.call} ${shown(step.body)}` : `${step.to} ${shown(step.given)}`;
    it(`answers ${what}`, () => {
      assert.deepEqual(differences(what, step, found.steps[i], PURPOSE), []);
    });
  });
});

function shown(given: unknown): string {
  return JSON.stringify(given) ?? '';
}
