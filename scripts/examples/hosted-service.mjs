import { chance, Flow, NODE_DEFAULTS } from './flow.mjs';

const INFO = `# Hosted service

The same nodes as with the embedded service. Only the configuration node **Hosted service** differs. Either

* open it, enter *Base URL* and *Token*, and press *Test connection*, or
* start Node-RED with the environment variables \`TABULAR_URL\` and \`TABULAR_TOKEN\`, which it refers to.

*Limits* shows the limits of the service, *Train* sends a table, and *Predict* sends rows and shows the estimated cost.`;

const HOUSES = (count) =>
  Array.from({ length: count }, (_, i) => {
    const area = 45 + ((i * 31) % 140);
    const storey = i % 7;
    const heating = ['gas', 'heat pump', 'district'][i % 3];
    const worth = 1200 * area + 4000 * storey + (heating === 'heat pump' ? 15000 : 0);
    const price = 1000 * Math.round((worth + 50000 * chance(i)) / 1000);
    return { area, storey, heating, price };
  });

/** Limits, fit, cost and predict of a hosted service that environment variables name. */
export function hostedService() {
  const flow = new Flow('Hosted service', INFO);
  const service = flow.config('tabular-config', 'Hosted service', {
    service: 'hosted',
    baseUrl: '${TABULAR_URL}',
    credentials: { token: '${TABULAR_TOKEN}' },
  });
  const table = { config: service, table: 'payload', tableType: 'msg' };
  const button = (name, row, rows) =>
    flow.node('inject', name, [0, row], {
      ...NODE_DEFAULTS.inject,
      props: rows ? [{ p: 'payload' }] : [],
      ...(rows && { payload: JSON.stringify(rows), payloadType: 'json' }),
    });

  flow.comment('First open "Hosted service" and press Test connection.', [0.5, 0]);
  const ask = button('Limits', 1);
  const limits = flow.node('tabular-limits', 'limits', [1, 1], { config: service, check: false });
  const said = flow.debug('limits of the service', [3, 1], 'limits');
  const train = button('Train', 2.5, HOUSES(60));
  const fit = flow.node('tabular-fit', 'price?', [1, 2.5], {
    ...table,
    target: 'price',
    task: 'regression',
    model: 'house price',
  });
  const card = flow.debug('model card', [3, 2.5], 'model');
  const fresh = HOUSES(64).slice(60);
  for (const house of fresh) {
    delete house.price;
  }
  const score = button('Predict', 4, fresh);
  const cost = flow.node('tabular-cost', 'cost', [1, 4], { ...table, operation: 'predict' });
  const predict = flow.node('tabular-predict', 'price?', [2, 4], {
    ...table,
    model: 'house price',
    outputType: 'quantiles',
    quantiles: '0.1,0.5,0.9',
    property: 'price',
  });
  const scored = flow.debug('rows with their prediction', [3, 4], 'payload');
  const tokens = flow.debug('cost in tokens', [2, 5], 'estimated_cost');
  flow.errors([0, 6]);
  flow.wire(ask, limits, said);
  flow.wire(train, fit, card);
  flow.wire(score, cost, [predict, tokens]);
  flow.wire(predict, scored);
  return flow;
}
