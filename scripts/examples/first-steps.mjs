import { EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# First steps

1. *Train*: a table as CSV text, the column to predict is \`ripe\`.
2. *Predict*: new rows, as objects; each leaves with \`ripe\` and its probabilities.

The debug sidebar shows what comes out.`;

/**
 * A table small enough to read: is the fruit ripe, by colour, firmness and days since picking. No two rows are alike, and
 * some fruit is ripe early or late, so that the score is what a model of a real table would have.
 */
function fruitCsv() {
  const lines = ['fruit,colour,firmness,days,ripe'];
  const colours = ['green', 'yellow', 'brown'];
  for (let i = 0; i < 90; i++) {
    const fruit = ['banana', 'mango', 'pear'][i % 3];
    const days = (i * 7 + Math.floor(i / 12)) % 12;
    const luck = ((i * 37) % 23) / 22;
    const colour = colours[Math.min(2, Math.max(0, Math.floor((days - 1 + 3 * luck) / 5)))];
    const firmness = (9.6 - 0.6 * days + 1.4 * (((i * 53) % 29) / 28 - 0.5)).toFixed(2);
    const ripe = days + 4 * (luck - 0.5) >= (fruit === 'pear' ? 6.5 : 4.5) ? 'yes' : 'no';
    lines.push([fruit, colour, i % 17 === 0 ? '' : firmness, days, ripe].join(','));
  }
  return `${lines.join('\n')}\n`;
}

export function firstSteps() {
  const flow = new Flow('First steps', INFO);

  flow.comment('Press Train first, then Predict. Nothing leaves this computer.', [0.6, 0]);
  const train = flow.node('inject', 'Train', [0, 1], NODE_DEFAULTS.inject);
  const csv = flow.node('template', 'table (CSV text)', [1, 1], {
    field: 'payload',
    fieldType: 'msg',
    format: 'text',
    syntax: 'plain',
    template: fruitCsv(),
    output: 'str',
  });
  const fit = flow.node('tabular-fit', 'ripe?', [2, 1], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    target: 'ripe',
    task: 'auto',
    model: 'ripe',
  });
  const fitted = flow.debug('model card', [3, 1], 'model');
  const ask = flow.node('inject', 'Predict', [0, 3], {
    ...NODE_DEFAULTS.inject,
    props: [{ p: 'payload' }],
    payload: JSON.stringify([
      { fruit: 'mango', colour: 'yellow', firmness: 5.2, days: 6 },
      { fruit: 'pear', colour: 'green', firmness: 9.1, days: 1 },
      { fruit: 'banana', colour: 'brown', firmness: null, days: 10 },
    ]),
    payloadType: 'json',
  });
  const predict = flow.node('tabular-predict', 'ripe?', [2, 3], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    model: 'ripe',
    property: 'ripe',
  });
  const scored = flow.debug('rows with their prediction', [3, 3], 'payload');
  flow.wire(train, csv, fit, fitted);
  flow.wire(ask, predict, scored);
  return flow;
}
