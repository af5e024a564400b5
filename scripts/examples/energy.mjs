import {
  change,
  columns,
  dashboard,
  ENERGY_OF_A_DAY,
  legible,
  modelCard,
  waiting,
  whatCame,
} from './dashboard.mjs';
import { EMBEDDED, Flow, NODE_DEFAULTS, SERIES_DEFAULTS } from './flow.mjs';

const INFO = `# Energy of the next 24 hours

A simulated house: its heat pump, the weather, weekdays and holidays, and a meter that loses hours now and then. A *series* node makes 24 rows from each hour, one for each hour ahead, and one model predicts them all at once, each with a band. Before each hour the house sends what is known about the next 24 hours, its holidays and the weather forecast: a plan, in the columns under *Known ahead*.

Press Deploy. The hours of the last ten weeks arrive as one table, and the model is fitted. Then an hour passes every two seconds. The plot shows what was forecast a day ahead, and the energy as measured. There is no function node after the house. A new train set leaves from time to time.

Needs the nodes \`@flowfuse/node-red-dashboard\` (Manage palette → Install); the plot is then at \`/dashboard/energy\` of this Node-RED. Nothing leaves this computer, because the embedded service is used.`;

/** In the order in which the lines begin: what came of the first forecast is known a day later. */
const COLOURS = [
  '#2f7fd1',
  '#9ecae1',
  '#9ecae1',
  '#e4572e',
  '#A347E1',
  '#D62728',
  '#FF9896',
  '#9467BD',
  '#C5B0D5',
];

/** Hourly energy of a house, forecast for the next day at every hour. */
export function energy() {
  const flow = new Flow('Energy of the next 24 hours', INFO);
  flow.needs('@flowfuse/node-red-dashboard');
  const { group, chart } = dashboard(flow, 'Energy', '/energy');
  const model = { config: EMBEDDED, table: 'payload', tableType: 'msg', model: 'house energy' };

  flow.comment('1. The house: an hour of it every two seconds', [0.4, 0]);
  const start = flow.node('inject', 'at start', [0, 1.5], {
    ...NODE_DEFAULTS.inject,
    once: true,
    topic: 'past',
  });
  const tick = flow.node('inject', 'every 2 seconds', [0, 2.5], {
    ...NODE_DEFAULTS.inject,
    repeat: '2',
    once: true,
    onceDelay: 2,
    topic: 'hour',
    props: [{ p: 'topic', vt: 'str' }],
  });
  const house = flow.code('House', [1, 2], 'house.js');

  flow.comment('2. 24 rows an hour, one model for all of them', [2.2, 0]);
  const rows = flow.node('tabular-series', 'next 24 hours', [2.1, 2], {
    ...SERIES_DEFAULTS,
    column: 'energy_kwh',
    ahead: '1h..24h',
    knownAhead: 'holiday, outside_c',
    windows: '3h, 1d',
    keep: 3000,
  });
  const predict = flow.node('tabular-predict', 'next 24 hours?', [3.5, 1.1], {
    ...model,
    property: 'forecast',
    outputType: 'quantiles',
    quantiles: '0.1,0.5,0.9',
    flat: 'on',
    noModel: 'wait',
  });
  const fit = flow.node('tabular-fit', 'house energy', [3.5, 3.1], { ...model, task: 'auto' });
  const card = flow.debug('model card', [4.9, 3.1], 'model');

  flow.comment('3. The plot: open /dashboard/energy', [7.4, 1.4]);
  const ahead = change(flow, 'a day ahead', [4.9, 1.4], { payload: 'payload[-1]' });
  const came = whatCame(flow, 'what came', [4.9, 2.1], 24 * 3_600_000);
  const { begin, end } = waiting(flow, [5.8, 4.7], [4.9, 3.9]);
  const day = flow.node('ui-chart', 'energy', [7.4, 2.5], {
    ...chart,
    ...columns(['measured', 'forecast_mid', 'forecast_low', 'forecast_high'], 'forecast_time'),
    colors: COLOURS,
    group: group('Energy: forecast a day ahead with its band, and as measured', 1, 12),
    ...ENERGY_OF_A_DAY,
    removeOlderPoints: '150',
  });
  const about = modelCard(flow, 'model', group('Model', 2, 6), [4.9, 5.5]);
  flow.errors([0, 4.7]);
  // A message every two seconds would push everything else out of the sidebar: switched on by its button.
  const debug = flow.node('debug', 'next day', [4.9, 0.6], { ...NODE_DEFAULTS.debug, active: false });

  flow.wire([start, tick], house, rows);
  flow.wire(start, flow.far('the model is fitted', [1, 1.1], [4.9, 4.7], begin));
  flow.wire(begin, day);
  flow.wireOutput(rows, 0, predict);
  flow.wireOutput(rows, 1, came);
  flow.wireOutput(rows, 2, fit);
  flow.wire(fit, card);
  flow.wire(fit, end, day);
  flow.wire(fit, about, legible(flow, [6.1, 5.5]), day);
  flow.wire(predict, ahead, day);
  flow.wire(came, day);
  flow.wire(predict, debug);
  return flow;
}
