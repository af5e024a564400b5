import { ADVISE_DEFAULTS, EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# A dryer run cheaper

A simulated dryer with three settings: temperature, fan and minutes. Heat, air and time cost energy, and the quality must be at least 85 % with a certainty of 90 %.

1. *Learn*: 800 past batches teach what quality to expect.
2. *Next batch*: the advise node says which settings to change so that the goal still holds at the lowest energy cost. *msg.advice* has the whole answer, its text is in the debug sidebar.

The prices, in cents a batch, stand in the node under *May be changed*. To use your own machine, wire its rows into the fit and advise nodes: there is no function node after the simulator.`;

/** A dryer with three settings, of which each costs energy. */
export function advise() {
  const flow = new Flow('A dryer run cheaper', INFO);
  flow.comment('1. Press Learn: 800 past batches', [0.6, 0]);
  const learn = flow.node('inject', 'Learn', [0, 1], { ...NODE_DEFAULTS.inject, topic: 'past' });
  const next = flow.node('inject', 'Next batch', [0, 3], { ...NODE_DEFAULTS.inject, topic: 'next' });
  const dryer = flow.code('Dryer', [1, 2], 'dryer.js', { outputs: 2 });
  const fit = flow.node('tabular-fit', 'quality', [2, 1], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    target: 'quality',
    task: 'auto',
    model: 'dryer quality',
  });
  const fitted = flow.debug('model card', [3, 1], 'model');
  flow.comment('2. Press Next batch: what to set, and what it saves', [2.9, 2.1]);
  const advice = flow.node('tabular-advise', 'cheapest good setting', [2, 3], {
    ...ADVISE_DEFAULTS,
    config: EMBEDDED,
    model: 'dryer quality',
    vary: [
      { column: 'temperature', from: 60, to: 120, step: 1, price: 0.9 },
      { column: 'fan', from: 20, to: 100, step: 1, price: 0.3 },
      { column: 'minutes', from: 10, to: 60, step: 1, price: 0.8 },
    ],
    goal: 'at least',
    value: '85',
    sure: 0.9,
  });
  const told = flow.debug('advice', [3.2, 3], 'advice.text');
  flow.errors([0.2, 4.3]);
  flow.wire([learn, next], dryer);
  flow.wireOutput(dryer, 0, fit);
  flow.wireOutput(dryer, 1, advice);
  flow.wire(fit, fitted);
  flow.wire(advice, told);
  return flow;
}
