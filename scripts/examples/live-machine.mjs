import { dashboard, modelCards } from './dashboard.mjs';
import { EMBEDDED, Flow, NODE_DEFAULTS, SERIES_DEFAULTS, WATCH_DEFAULTS } from './flow.mjs';

const INFO = `# Live machine

A simulated pump sends its sensor readings, and a message when its bearing fails. There is no function node between the pump and the predictions: two *series* nodes turn its readings into rows, wait for their outcomes, and send the train sets.

* Will the bearing fail within the hour (classification)?
* How hot will it be in half an hour (regression, with quantiles)?

One second here is five minutes of the pump. Press Deploy and watch the statuses. The pump sends its readings of the last days as one table, and the models are fitted. Then each new reading gets its predictions, with a new train set from time to time. Two *watch* nodes compare the predictions with what came of them: the sidebar *Models* shows how good they really are. Nothing leaves this computer, because the embedded service is used.`;

const PLOTS_INFO = `

Needs the nodes \`@flowfuse/node-red-dashboard\` (Manage palette → Install); the plots are then at \`/dashboard\` of this Node-RED.`;

/** The pump, two questions about it and their answers; `withPlots` adds a dashboard (@flowfuse/node-red-dashboard). */
export function liveMachine(withPlots) {
  const flow = new Flow(
    withPlots ? 'Live machine with plots' : 'Live machine',
    withPlots ? `${INFO}${PLOTS_INFO}` : INFO,
  );
  if (withPlots) {
    flow.needs('@flowfuse/node-red-dashboard');
  }
  const common = { table: 'payload', tableType: 'msg' };

  flow.comment('1. The machine: readings, and an event when it fails', [0.5, 0]);
  const start = flow.node('inject', 'at start', [0, 1], {
    ...NODE_DEFAULTS.inject,
    once: true,
    topic: 'history',
  });
  const tick = flow.node('inject', 'every second', [0, 2], {
    ...NODE_DEFAULTS.inject,
    repeat: '1',
    once: true,
    onceDelay: 1,
    topic: 'tick',
    props: [
      { p: 'at', v: '', vt: 'date' },
      { p: 'topic', vt: 'str' },
    ],
  });
  const pump = flow.code('Pump', [1, 1.5], 'pump.js');

  flow.comment('2. Rows, outcomes, train sets; a model for each question', [2.4, 0]);
  const question = (name, model, row, series, predict, status) => {
    const rows = flow.node('tabular-series', name, [2, row], { ...SERIES_DEFAULTS, ...common, ...series });
    const ask = flow.node('tabular-predict', `${name}?`, [3.3, row], {
      config: EMBEDDED,
      ...common,
      model,
      noModel: 'wait',
      flat: 'on',
      ...predict,
    });
    // A message a second would push everything else out of the sidebar: switched on by its button.
    const answer = flow.node('debug', predict.property, [4.7, row], {
      ...NODE_DEFAULTS.debug,
      active: false,
      tostatus: true,
      statusVal: status,
      statusType: 'jsonata',
    });
    const fit = flow.node('tabular-fit', model, [3.3, row + 1], {
      config: EMBEDDED,
      ...common,
      model,
      task: 'auto',
    });
    const watch = flow.node('tabular-watch', `is ${name} true?`, [4.7, row + 0.9], {
      ...WATCH_DEFAULTS,
      config: EMBEDDED,
      model,
      property: predict.property,
    });
    flow.wire(pump, rows);
    flow.wireOutput(rows, 0, ask);
    flow.wireOutput(rows, 1, watch);
    flow.wireOutput(rows, 2, fit);
    flow.wire(ask, [answer, watch]);
    return { ask, fit };
  };
  const failure = question(
    'failure within 1 h',
    'pump failure',
    1,
    { outcome: 'event', column: 'failed', operator: '=', value: 'true', ahead: '1h', windows: '1h' },
    { property: 'failure' },
    // The newest row of the past comes as a table.
    '$round(100 * payload[-1].failure_probability) & " % failure within 1 h"',
  );
  const bearing = question(
    'bearing in 30 min',
    'pump bearing',
    3,
    { outcome: 'column', column: 'bearing_c', ahead: '30m', windows: '1h' },
    { property: 'forecast', outputType: 'quantiles', quantiles: '0.1,0.5,0.9' },
    'payload[-1].bearing_c & " °C, then " & $round(payload[-1].forecast_mid, 1) & " °C"',
  );

  flow.comment('3. Errors, by code', [0.25, 5]);
  flow.errors([0, 6], { status: true });

  flow.wire([start, tick], pump);
  if (withPlots) {
    addPlots(flow, [failure.ask, bearing.ask], [failure.fit, bearing.fit]);
  }
  return flow;
}

/** Those of the lines in the order in which they first come; the rest only fills the dashboard's list. */
const REST = ['#A347E1', '#D62728', '#FF9896', '#9467BD', '#C5B0D5'];
const TEMPERATURES = ['#4c9be8', '#4c9be8', '#2f7fd1', '#e4572e', ...REST];
const RISKS = ['#4caf6e', '#d9534f', '#9ecae1', '#1f77b4', ...REST];

function addPlots(flow, asks, fits) {
  const { group, chart } = dashboard(flow, 'Live machine', '/');

  flow.comment('4. Live plots: open /dashboard', [2.2, 5.6]);
  const points = flow.code('to plots', [2.2, 7.5], 'plot-reading.js', {
    initialize: "context.set('drawn', undefined);",
    outputs: 3,
  });
  const temperature = flow.node('ui-chart', 'bearing temperature', [3.7, 6], {
    ...chart,
    colors: TEMPERATURES,
    group: group('Bearing now and in half an hour', 1, 8),
    label: '',
    order: 1,
    yAxisLabel: '°C',
    ymin: '',
    ymax: '',
    width: 8,
    height: 7,
  });
  const riskGroup = group('Failure within the hour', 2, 4);
  const gauge = flow.node('ui-gauge', 'risk now', [3.7, 7], {
    group: riskGroup,
    order: 1,
    value: 'payload',
    valueType: 'msg',
    width: 4,
    height: 3,
    gtype: 'gauge-half',
    gstyle: 'needle',
    title: '',
    alwaysShowTitle: false,
    floatingTitlePosition: 'top-left',
    units: '% probability',
    icon: '',
    prefix: '',
    suffix: '',
    segments: [
      { from: '0', color: '#5cb85c', text: '', textType: 'label' },
      { from: '20', color: '#f0ad4e', text: '', textType: 'label' },
      { from: '50', color: '#d9534f', text: '', textType: 'label' },
    ],
    min: 0,
    max: 100,
    sizeThickness: 16,
    sizeGap: 4,
    sizeKeyThickness: 8,
    styleRounded: true,
    styleGlow: false,
    className: '',
  });
  const riskChart = flow.node('ui-chart', 'risk over time', [3.7, 8], {
    ...chart,
    group: riskGroup,
    label: '',
    order: 2,
    yAxisLabel: '%',
    ymin: '0',
    ymax: '100',
    colors: RISKS,
    width: 4,
    height: 4,
  });
  const alarms = flow.node('ui-table', 'alarms', [3.7, 9], {
    group: group('Alarms', 3, 6),
    label: '',
    order: 1,
    width: 6,
    height: 0,
    maxrows: 0,
    passthru: false,
    autocols: false,
    showSearch: false,
    deselect: true,
    selectionType: 'none',
    columns: [
      { title: 'Machine time', key: 'time', keyType: 'key', type: 'text', width: '', align: 'start' },
      { title: 'What', key: 'what', keyType: 'key', type: 'text', width: '', align: 'start' },
      {
        title: 'Predicted probability',
        key: 'risk',
        keyType: 'key',
        type: 'text',
        width: '',
        align: 'start',
      },
    ],
    mobileBreakpoint: 'sm',
    mobileBreakpointType: 'defaults',
    action: 'replace',
    className: '',
  });
  const { cards, models } = modelCards(flow, 'models', group('Models', 4, 6), [4.6, 5]);
  // From one end of the sheet to the other, without a wire across it.
  const colour = flow.node('link out', 'text colour to the plots', [6.4, 5], { mode: 'link', links: [] });
  const shown = flow.node('link out', 'readings to the plots', [5.6, 2.75], { mode: 'link', links: [] });
  const drawn = flow.node('link in', 'to be drawn', [1.5, 7.5], { links: [colour.id, shown.id] });
  [colour, shown].forEach(({ links }) => links.push(drawn.id));
  flow.wire(fits, cards, models, colour);
  flow.wire(asks, shown);
  flow.wire(drawn, points);
  flow.wireOutput(points, 0, temperature);
  flow.wireOutput(points, 1, gauge, riskChart);
  flow.wireOutput(points, 2, alarms);
}
