import { Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# First steps

1. *Train*: a table as CSV text, the column to predict is \`ripe\`.
2. *Predict*: new rows, as objects; each leaves with \`prediction\` and its probabilities.

The debug sidebar shows what comes out.`;

/** A table small enough to read: is the fruit ripe, by colour, firmness and days since picking. */
function fruitCsv() {
  const lines = ['fruit,colour,firmness,days,ripe'];
  const colours = ['green', 'yellow', 'brown'];
  for (let i = 0; i < 60; i++) {
    const days = (i * 7) % 12;
    const fruit = ['banana', 'mango', 'pear'][i % 3];
    const colour = colours[Math.min(2, Math.floor((days + (i % 2)) / 5))];
    const firmness = (9.5 - 0.65 * days + 0.3 * ((i * 5) % 4)).toFixed(1);
    const ripe = days >= (fruit === 'pear' ? 6 : 4) ? 'yes' : 'no';
    lines.push([fruit, colour, i % 17 === 0 ? '' : firmness, days, ripe].join(','));
  }
  return `${lines.join('\n')}\n`;
}

export function firstSteps() {
  const flow = new Flow('First steps', INFO);
  const service = flow.config('tabular-config', 'Embedded service', { service: 'embedded' });

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
    config: service,
    table: 'payload',
    tableType: 'msg',
    target: 'ripe',
    task: 'auto',
    model: 'ripe',
  });
  const fitted = flow.node('debug', 'model card', [3, 1], {
    ...NODE_DEFAULTS.debug,
    complete: 'model',
    targetType: 'msg',
  });
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
    config: service,
    table: 'payload',
    tableType: 'msg',
    model: 'ripe',
    property: 'ripe',
  });
  const scored = flow.node('debug', 'rows with their prediction', [3, 3], {
    ...NODE_DEFAULTS.debug,
    complete: 'payload',
    targetType: 'msg',
  });
  flow.wire(train, csv, fit, fitted);
  flow.wire(ask, predict, scored);
  return flow;
}
