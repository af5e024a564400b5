import { chance, EMBEDDED, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# Handling errors by code

Every message that fails reaches the Catch node with \`msg.error.code\`, \`msg.error.message\` and \`msg.error.cause\`. A switch node routes it by code:

* the data is wrong (\`columns.missing\`, \`table.*\`): set it aside and look at it
* the service is unavailable or busy (\`service.*\`, \`rate.limit.exceeded\`): try the same message again in half a minute
* there is no model (\`model.unknown\`): fit one first
* anything else: notify someone

Press *Before training*: there is no model yet. Then press *Train*, and the others. The README lists every code.`;

const TRAINED = Array.from({ length: 90 }, (_, i) => {
  const load = Math.round(2000 * chance(i)) / 100;
  const warm = load + 4 * chance(i + 1000) > (i % 2 ? 10 : 14);
  return { load, room: ['north', 'south'][i % 2], warm: warm ? 'yes' : 'no' };
});

/** A Catch node, a switch on the error's code, and what to do in each case. */
export function errorsByCode() {
  const flow = new Flow('Handling errors by code', INFO);
  const table = { config: EMBEDDED, table: 'payload', tableType: 'msg' };
  const button = (name, row, payload) =>
    flow.node('inject', name, [0, row], {
      ...NODE_DEFAULTS.inject,
      props: [{ p: 'payload' }],
      payload: JSON.stringify(payload),
      payloadType: 'json',
    });

  flow.comment('Press the buttons from top to bottom.', [0.2, 0]);
  const early = button('Before training', 1, { load: 15, room: 'north' });
  const train = button('Train', 2, TRAINED);
  const good = button('A good row', 3, { load: 15, room: 'north' });
  const lacking = button('A column is missing', 4, { load: 15 });
  const wrong = button('A wrong value', 5, { load: 'heavy', room: 'north' });
  const fit = flow.node('tabular-fit', 'warm?', [1.4, 2], { ...table, target: 'warm', model: 'warm room' });
  const predict = flow.node('tabular-predict', 'warm?', [1.4, 3], {
    ...table,
    model: 'warm room',
    property: 'warm',
  });
  const card = flow.debug('model card', [2.7, 2], 'model');
  const scored = flow.debug('scored', [2.7, 3], 'payload');

  const caught = flow.node('catch', 'any error', [0, 7.3], { scope: null, uncaught: false });
  const code = (pattern) => ({ t: 'regex', v: pattern, vt: 'str', case: false });
  const which = flow.node('switch', 'by code', [1.1, 7.3], {
    property: 'error.code',
    propertyType: 'msg',
    rules: [
      code('^(columns\\.missing|table\\.)'),
      code('^(service\\.|rate\\.limit)'),
      code('^model\\.unknown$'),
      { t: 'else' },
    ],
    checkall: 'false',
    repair: false,
    outputs: 4,
  });
  const aside = flow.debug('wrong data', [2.5, 7], 'error');
  const again = flow.delay('in 30 s', [2.5, 6], 30);
  const noModel = flow.debug('fit a model first', [2.5, 7.8], 'error');
  const other = flow.debug('notify someone', [2.5, 8.6], 'error');
  flow.wire(train, fit, card);
  flow.wire([early, good, lacking, wrong], predict, scored);
  flow.wire(caught, which);
  for (const [output, next] of [aside, again, noModel, other].entries()) {
    flow.wireOutput(which, output, next);
  }
  flow.wire(again, predict);
  return flow;
}
