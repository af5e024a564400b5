import { EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# Upload once, fit and predict several times

*fit* and *predict* upload their table themselves. With an *upload* node before them, the table is sent once and its id
travels in the message, so several models can be fitted on one train set, and one test set can be predicted several times.

1. *Train*: 730 days are uploaded as a train set, and two fit nodes learn from it with different options. Compare their scores.
2. *Predict*: three days are uploaded as a test set for the model *rentals*, and predicted as a mean and as quantiles.

Press *Train* again: the service already has these bytes, so nothing is sent.`;

export function uploadOnce() {
  const flow = new Flow('Upload once', INFO);
  const table = { config: EMBEDDED, source: 'value', table: 'payload', tableType: 'msg' };

  flow.comment('Press Train, wait until both models are ready, then press Predict.', [0.6, 0]);
  const train = flow.node('inject', 'Train', [0, 1.5], NODE_DEFAULTS.inject);
  const days = flow.code('two years of days', [1, 1.5], 'rental-days.js');
  const trainSet = flow.node('tabular-upload', 'train set', [2, 1.5], {
    ...table,
    set: 'train',
    target: 'rentals',
  });
  const few = flow.node('tabular-fit', 'few estimators', [3.3, 1], {
    ...table,
    target: 'rentals',
    task: 'regression',
    model: 'rentals, quick',
    options: JSON.stringify({ n_estimators: 2, random_state: 1 }),
  });
  const many = flow.node('tabular-fit', 'more estimators', [3.3, 2], {
    ...table,
    target: 'rentals',
    task: 'regression',
    model: 'rentals',
    options: JSON.stringify({ n_estimators: 8, random_state: 1 }),
  });
  const cards = flow.debug('model card', [4.4, 1.5], 'model');
  const ask = flow.node('inject', 'Predict', [0, 4.5], {
    ...NODE_DEFAULTS.inject,
    props: [{ p: 'payload' }],
    payload: JSON.stringify([
      { day: '2026-01-17', temperature: 2.5, sky: 'rain', weekend: true },
      { day: '2026-05-06', temperature: 16, sky: 'cloudy', weekend: false },
      { day: '2026-07-18', temperature: 24, sky: 'clear', weekend: true },
    ]),
    payloadType: 'json',
  });
  const testSet = flow.node('tabular-upload', 'test set', [2, 4.5], {
    ...table,
    set: 'test',
    model: 'rentals',
  });
  const mean = flow.node('tabular-predict', 'mean', [3.3, 4], {
    ...table,
    model: 'rentals',
    outputType: 'mean',
  });
  const quantiles = flow.node('tabular-predict', 'quantiles', [3.3, 5], {
    ...table,
    model: 'rentals',
    outputType: 'quantiles',
    quantiles: '0.1,0.5,0.9',
  });
  const meanShown = flow.debug('rentals a day', [4.4, 4], 'prediction');
  const bandShown = flow.debug('their 0.1, 0.5 and 0.9 quantiles', [4.4, 5], 'prediction');
  flow.wire(train, days, trainSet, [few, many], cards);
  flow.wire(ask, testSet, [mean, quantiles]);
  flow.wire(mean, meanShown);
  flow.wire(quantiles, bandShown);
  return flow;
}
