import { change, columns, dashboard, legible, modelCard, whatCame } from './dashboard.mjs';
import { EMBEDDED, Flow, NODE_DEFAULTS, SERIES_DEFAULTS, WATCH_DEFAULTS } from './flow.mjs';

const INFO = `# Live machine

A simulated pump sends its sensor readings, and a message when its bearing fails. There is no function node after the pump: two *series* nodes turn its readings into rows, wait for their outcomes, and send the train sets.

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
  const [start, tick] = flow.clock();
  tick.props = [
    { p: 'at', v: '', vt: 'date' },
    { p: 'topic', vt: 'str' },
  ];
  const pump = flow.code('Pump', [1, 1.5], 'pump.js');

  flow.comment('2. Rows, outcomes, train sets; a model for each question', [2.4, 0]);
  const question = (name, model, row, { series, predict, status, alarm = {} }) => {
    // Outcomes go straight on, between what is asked and what is fitted.
    const rows = flow.node('tabular-series', name, [2, row], { ...SERIES_DEFAULTS, ...common, ...series });
    const ask = flow.node('tabular-predict', `${name}?`, [3.4, row - 0.8], {
      config: EMBEDDED,
      ...common,
      model,
      noModel: 'wait',
      flat: 'on',
      ...predict,
    });
    // A message a second would push everything else out of the sidebar: switched on by its button.
    const answer = flow.node('debug', predict.property, [5.2, row - 0.7], {
      ...NODE_DEFAULTS.debug,
      active: false,
      tostatus: true,
      statusVal: status,
      statusType: 'jsonata',
    });
    const fit = flow.node('tabular-fit', model, [3.4, row + 0.9], {
      config: EMBEDDED,
      ...common,
      model,
      task: 'auto',
    });
    const watch = flow.node('tabular-watch', `is ${name} true?`, [4.9, row + 0.1], {
      ...WATCH_DEFAULTS,
      config: EMBEDDED,
      model,
      property: predict.property,
      ...alarm,
    });
    flow.wire(pump, rows);
    flow.wireOutput(rows, 0, ask);
    flow.wireOutput(rows, 1, watch);
    flow.wireOutput(rows, 2, fit);
    flow.wire(ask, [answer, watch]);
    return { rows, ask, fit, watch };
  };
  const failure = question('failure within 1 h', 'pump failure', 2, {
    series: { outcome: 'event', column: 'failed', operator: '=', value: 'true', ahead: '1h', windows: '1h' },
    predict: { property: 'failure' },
    // The newest row of the past comes as a table.
    status: '$round(100 * payload[-1].failure_probability) & " % failure within 1 h"',
    alarm: withPlots ? { alarmOn: 'probability', alarmLabel: 'yes', raise: 0.5 } : {},
  });
  const bearing = question('bearing in 30 min', 'pump bearing', 5.2, {
    series: { outcome: 'column', column: 'bearing_c', ahead: '30m', windows: '1h' },
    predict: { property: 'forecast', outputType: 'quantiles', quantiles: '0.1,0.5,0.9' },
    status: 'payload[-1].bearing_c & " °C, then " & $round(payload[-1].forecast_mid, 1) & " °C"',
  });

  flow.comment('3. Errors, by code', [0.25, 5]);
  flow.errors([0, 5.9], { status: true });

  flow.wire([start, tick], pump);
  if (withPlots) {
    addPlots(flow, failure, bearing);
  }
  return flow;
}

/** Those of the lines in the order of their columns; the rest only fills the dashboard's list. */
const REST = ['#A347E1', '#D62728', '#FF9896', '#9467BD', '#C5B0D5'];
const TEMPERATURES = ['#e4572e', '#2f7fd1', '#9ecae1', '#9ecae1', ...REST];
const RISKS = ['#d9534f', '#4caf6e', '#9ecae1', '#1f77b4', ...REST];

function addPlots(flow, failure, bearing) {
  const { group, chart } = dashboard(flow, 'Live machine', '/');

  flow.comment('4. Live plots: open /dashboard', [0.4, 7]);
  const temperature = flow.node('ui-chart', 'bearing temperature', [3.9, 11.4], {
    ...chart,
    ...columns(['measured', 'forecast_mid', 'forecast_low', 'forecast_high'], 'forecast_time'),
    removeOlderPoints: '400',
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
  const gauge = flow.node('ui-gauge', 'risk now', [3.9, 9], {
    group: riskGroup,
    order: 1,
    value: '$round(100 * payload[-1].failure_probability)',
    valueType: 'jsonata',
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
  const riskChart = flow.node('ui-chart', 'risk over time', [3.9, 9.9], {
    ...chart,
    ...columns(['failure_probability'], 'failure_time'),
    removeOlderPoints: '400',
    group: riskGroup,
    label: '',
    order: 2,
    yAxisLabel: 'probability',
    ymin: '0',
    ymax: '1',
    colors: RISKS,
    width: 4,
    height: 4,
  });
  const alarms = flow.node('ui-table', 'alarms', [3.9, 8.1], {
    group: group('Alarms', 3, 6),
    label: '',
    order: 1,
    width: 6,
    height: 0,
    maxrows: 8,
    passthru: false,
    autocols: false,
    showSearch: false,
    deselect: true,
    selectionType: 'none',
    columns: [
      { title: 'Machine time', key: 'time', keyType: 'key', type: 'text', width: '', align: 'start' },
      { title: 'What', key: 'what', keyType: 'key', type: 'text', width: '', align: 'start' },
    ],
    mobileBreakpoint: 'sm',
    mobileBreakpointType: 'defaults',
    action: 'append',
    className: '',
  });
  const models = group('Models', 4, 12);
  const cards = [failure, bearing].map(({ fit }, i) => {
    const card = modelCard(flow, `card of ${fit.name}`, models, [1.2, 10.2 + 0.8 * i], i + 1);
    flow.wire(fit, flow.far(`fitted: ${fit.name}`, [6.5, 2.9 + 3.2 * i], [0, 10.2 + 0.8 * i], card));
    return card;
  });
  const came = whatCame(flow, 'what came', [1.2, 12.6]);
  const alarm = change(flow, 'as a line', [1.2, 8.1], {
    payload: '{"time": $fromMillis(change.since, "[M01]-[D01] [H01]:[m01]"), "what": change.text}',
  });
  flow.wire(failure.ask, flow.far('risks', [6.5, 0.3], [0, 9], [gauge, riskChart]));
  flow.wire(bearing.ask, flow.far('forecasts', [6.5, 3.5], [0, 11.8], temperature));
  flow.wireOutput(bearing.rows, 1, flow.far('outcomes', [2.7, 6.7], [0, 12.6], came));
  flow.wireOutput(failure.watch, 1, flow.far('changes', [6.5, 2.1], [0, 8.1], alarm));
  flow.wire(came, temperature);
  flow.wire(alarm, alarms);
  flow.wire(cards, legible(flow, [2.6, 10.6]), [temperature, riskChart]);
}
