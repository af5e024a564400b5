import { chance, EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# Cost guard

Two ways to keep a metered service from costing more than you want:

1. **cost** gets the estimate, and a switch node decides: messages up to 100 tokens go on, others are only shown.
2. **predict** has *Highest cost* under Advanced: a request over it is not sent, and ends with the error \`cost.exceeded\`, which a Catch node receives.

No service is chosen, so the embedded one is used. It is free, so everything goes through. Choose a hosted service in the nodes to see the limits take effect.`;

const ROWS = (count) =>
  Array.from({ length: count }, (_, i) => ({
    length: 10 + Math.floor(40 * chance(i)),
    width: 5 + Math.floor(20 * chance(i + 1000)),
    material: ['steel', 'brass'][i % 2],
  }));
/** In grams; no two parts of one size weigh quite the same. */
const weightOf = ({ length, width, material }, i) =>
  Math.round(length * width * (material === 'steel' ? 0.78 : 0.84) * (0.9 + 0.2 * chance(i + 2000)));

/** The cost node before a switch, and the predict node's own guard. */
export function costGuard() {
  const flow = new Flow('Cost guard', INFO);
  const table = { config: EMBEDDED, table: 'payload', tableType: 'msg' };
  const button = (name, row, rows) =>
    flow.node('inject', name, [0, row], {
      ...NODE_DEFAULTS.inject,
      props: [{ p: 'payload' }],
      payload: JSON.stringify(rows),
      payloadType: 'json',
    });

  flow.comment('Press Train first, then Score.', [0.2, 0]);
  const train = button(
    'Train',
    1,
    ROWS(120).map((row, i) => ({ ...row, weight: weightOf(row, i) })),
  );
  const fit = flow.node('tabular-fit', 'weight?', [1, 1], {
    ...table,
    target: 'weight',
    task: 'regression',
    model: 'weight',
  });
  const card = flow.debug('model card', [4, 1], 'model');
  const score = button('Score', 3, ROWS(40));
  const cost = flow.node('tabular-cost', 'how much?', [1.2, 3], { ...table, operation: 'predict' });
  const guard = flow.node('switch', 'up to 100 tokens?', [2, 3], {
    property: 'estimated_cost',
    propertyType: 'msg',
    rules: [{ t: 'lte', v: '100', vt: 'num' }, { t: 'else' }],
    checkall: 'false',
    repair: false,
    outputs: 2,
  });
  const predict = flow.node('tabular-predict', 'weight?', [3, 2.5], {
    ...table,
    model: 'weight',
    property: 'weight',
  });
  const scored = flow.debug('scored', [4, 2.5], 'payload');
  const dear = flow.debug('too expensive', [4, 3.5], 'estimated_cost');
  const guarded = flow.node('tabular-predict', 'weight, at most 100 tokens', [3, 5.5], {
    ...table,
    model: 'weight',
    property: 'weight',
    maxCost: 100,
  });
  const alsoScored = flow.debug('scored too', [4, 5.5], 'payload');
  flow.errors([0, 6.5]);
  flow.wire(train, fit, card);
  flow.wire(score, [cost, guarded]);
  flow.wire(cost, guard);
  flow.wireOutput(guard, 0, predict);
  flow.wireOutput(guard, 1, dear);
  flow.wire(predict, scored);
  flow.wire(guarded, alsoScored);
  return flow;
}
