import assert from 'node:assert/strict';

import { inWordsOfUser, type PredictDef } from '../../doors/runtime';
import { ModelMismatch } from '../../doors/scoring';
import { fakeNode, fakeRuntime, redIn } from './fake';

/** What a user reads of it, with these properties of the node. */
function told(language: string, def: object, error: Error): string {
  const node = Object.assign(fakeNode(), { type: 'tabular-predict' });
  const known = inWordsOfUser(fakeRuntime(def as PredictDef, redIn(language), node), error) as Error & {
    code: string;
  };
  assert.equal(known.code, 'config.invalid');
  return known.message;
}

const output = new ModelMismatch('outputType', 'quantiles', 'classification');
const task = new ModelMismatch('task', 'regression', 'classification');

describe('what a model does not have', () => {
  it('is named as the dialog shows it, where the dialog asks for it', () => {
    assert.equal(
      told('en-US', { outputType: 'quantiles' }, output),
      'The field "Output" is "Quantiles", which a classification model does not have: choose "Class probabilities", "Labels only".',
    );
    assert.match(told('de', { outputType: 'quantiles' }, output), /^The field "Ausgabe" is "Quantile", /);
    assert.equal(
      told('en-US', { task: 'regression' }, task),
      'The field "Task" is "Regression", but the model was fitted for classification: leave it empty.',
    );
  });

  it('is named as the message spells it, where the message asks for it', () => {
    assert.equal(
      told('en-US', { outputType: '' }, output),
      'msg.output_type is quantiles, which a classification model does not have: choose probas, preds.',
    );
    assert.equal(
      told('en-US', {}, task),
      'msg.task is regression, but the model was fitted for classification: leave it empty.',
    );
  });
});
