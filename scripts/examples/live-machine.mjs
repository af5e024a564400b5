import { EMBEDDED, Flow, NODE_DEFAULTS, source } from './flow.mjs';

const INFO = `# Live machine

A simulated pump makes a labelled history, two models learn from it, and a live stream is scored as it comes:

* will the bearing fail within the hour (classification)?
* how hot will it be in ten minutes (regression, with quantiles)?

Press Deploy and watch the statuses. Nothing leaves this computer: the service is the embedded one.`;

const PLOTS_INFO = `

Needs the nodes \`@flowfuse/node-red-dashboard\` (Manage palette → Install); the plots are then at \`/dashboard\` of this Node-RED.`;

/** The pump, its two models and its live readings; `withPlots` adds a dashboard (@flowfuse/node-red-dashboard). */
export function liveMachine(withPlots) {
  const flow = new Flow(
    withPlots ? 'Live machine with plots' : 'Live machine',
    withPlots ? `${INFO}${PLOTS_INFO}` : INFO,
  );
  if (withPlots) {
    flow.needs('@flowfuse/node-red-dashboard');
  }
  const fit = { config: EMBEDDED, table: 'payload', tableType: 'msg', types: '', task: 'auto' };

  flow.comment('1. Learn from the past: two models of one table', [0.4, 0]);
  const start = flow.node('inject', 'at start', [0, 1], {
    ...NODE_DEFAULTS.inject,
    once: true,
    topic: 'history',
  });
  const pump = flow.node('function', 'Pump', [1, 2.5], {
    ...NODE_DEFAULTS.function,
    func: source('pump.js'),
    outputs: 2,
  });
  const fitFailure = flow.node('tabular-fit', 'failure ahead', [2.2, 1], {
    ...fit,
    target: 'failure_ahead',
    ignore: 'minute, bearing_in_10min_c',
    model: 'pump failure',
  });
  const fitBearing = flow.node('tabular-fit', 'bearing in 10 min', [2.2, 2], {
    ...fit,
    target: 'bearing_in_10min_c',
    ignore: 'minute, failure_ahead',
    model: 'pump bearing',
  });

  flow.comment('2. Score every live reading', [0.2, 3.5]);
  const tick = flow.node('inject', 'every second', [0, 5], {
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
  const risk = flow.node('tabular-predict', 'failure ahead?', [2.2, 4], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    model: 'pump failure',
    property: 'failure_ahead',
  });
  const forecast = flow.node('tabular-predict', 'bearing in 10 min?', [3.3, 4], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    model: 'pump bearing',
    outputType: 'quantiles',
    quantiles: '0.1,0.5,0.9',
    property: 'bearing_in_10min_c',
  });
  const show = flow.node('function', 'show', [3.3, 5], {
    ...NODE_DEFAULTS.function,
    func: source('show-reading.js'),
  });
  // A message a second would push everything else out of the sidebar: switched on by its button.
  const debug = flow.node('debug', 'scored reading', [4.5, 5], { ...NODE_DEFAULTS.debug, active: false });

  flow.comment('3. What went wrong, by code', [0.25, 8]);
  const caught = flow.node('catch', 'any error', [0, 9], { scope: null, uncaught: false });
  const errors = flow.node('debug', 'error', [1, 9], {
    ...NODE_DEFAULTS.debug,
    complete: 'error',
    targetType: 'msg',
    tostatus: true,
    statusVal: 'error.code ? error.code & ": " & error.message : error.message',
    statusType: 'jsonata',
  });

  flow.wire(start, pump);
  flow.wire(tick, pump);
  flow.wireOutput(pump, 0, fitFailure, fitBearing);
  flow.wireOutput(pump, 1, risk);
  flow.wire(risk, forecast, show, debug);
  flow.wire(caught, errors);
  if (withPlots) {
    addPlots(flow, show, [fitFailure, fitBearing]);
  }
  return flow;
}

/** Those of the lines in the order in which they first come; the rest only fills the dashboard's list. */
const REST = ['#A347E1', '#D62728', '#FF9896', '#9467BD', '#C5B0D5'];
const TEMPERATURES = ['#4c9be8', '#4c9be8', '#2f7fd1', '#e4572e', ...REST];
const RISKS = ['#4caf6e', '#d9534f', '#9ecae1', '#1f77b4', ...REST];

function addPlots(flow, show, fits) {
  const ui = flow.config('ui-base', 'Tabular prediction', {
    path: '/dashboard',
    appIcon: '',
    includeClientData: true,
    acceptsClientConfig: ['ui-notification', 'ui-control'],
    showPathInSidebar: false,
    headerContent: 'page',
    navigationStyle: 'none',
    titleBarStyle: 'default',
    showReconnectNotification: true,
    notificationDisplayTime: 1,
    showDisconnectNotification: true,
    allowInstall: false,
  });
  const theme = flow.config('ui-theme', 'Machine room', {
    colors: {
      surface: '#183b56',
      primary: '#1f77b4',
      bgPage: '#eef1f4',
      groupBg: '#ffffff',
      groupOutline: '#d5dbe1',
    },
    sizes: {
      density: 'default',
      pagePadding: '12px',
      groupGap: '12px',
      groupBorderRadius: '6px',
      widgetGap: '12px',
    },
  });
  const page = flow.config('ui-page', 'Live machine', {
    ui,
    path: '/',
    icon: 'gauge',
    layout: 'grid',
    theme,
    breakpoints: [
      { name: 'Default', px: '0', cols: '3' },
      { name: 'Tablet', px: '576', cols: '6' },
      { name: 'Small Desktop', px: '768', cols: '9' },
      { name: 'Desktop', px: '1024', cols: '12' },
    ],
    order: 1,
    className: '',
    visible: true,
    disabled: false,
  });
  const group = (name, order, width) =>
    flow.config('ui-group', name, {
      page,
      width,
      height: 1,
      order,
      showTitle: true,
      className: '',
      visible: 'true',
      disabled: 'false',
      groupType: 'default',
    });
  const chart = {
    chartType: 'line',
    category: 'topic',
    categoryType: 'msg',
    xAxisLabel: ' ',
    xAxisProperty: 'x',
    xAxisPropertyType: 'msg',
    xAxisType: 'time',
    xAxisFormat: '',
    xAxisFormatType: 'auto',
    xmin: '',
    xmax: '',
    yAxisProperty: 'payload',
    yAxisPropertyType: 'msg',
    bins: 10,
    action: 'append',
    stackSeries: false,
    pointShape: 'false',
    pointRadius: 0,
    showLegend: true,
    removeOlder: '3',
    removeOlderUnit: '60',
    removeOlderPoints: '',
    colors: TEMPERATURES,
    // Until the page has told its own: see model-cards.html.
    textColor: ['#70767f'],
    textColorDefault: false,
    gridColor: ['#80808040'],
    gridColorDefault: false,
    className: '',
    interpolation: 'linear',
  };

  flow.comment('4. Live plots: open /dashboard', [2.2, 9.9]);
  const points = flow.node('function', 'to plots', [2.2, 8.5], {
    ...NODE_DEFAULTS.function,
    func: source('plot-reading.js'),
    initialize: "context.set('drawn', false);",
    outputs: 3,
  });
  const temperature = flow.node('ui-chart', 'bearing temperature', [3.7, 7], {
    ...chart,
    group: group('Bearing now and in 10 minutes', 1, 8),
    label: '',
    order: 1,
    yAxisLabel: '°C',
    ymin: '',
    ymax: '',
    width: 8,
    height: 7,
  });
  const riskGroup = group('Failure within the hour', 2, 4);
  const gauge = flow.node('ui-gauge', 'risk now', [3.7, 8], {
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
  const riskChart = flow.node('ui-chart', 'risk over time', [3.7, 9], {
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
  const alarms = flow.node('ui-table', 'alarms', [3.7, 10], {
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
      { title: 'Minute', key: 'minute', keyType: 'key', type: 'text', width: '', align: 'start' },
      { title: 'What', key: 'what', keyType: 'key', type: 'text', width: '', align: 'start' },
      { title: 'Probability said', key: 'risk', keyType: 'key', type: 'text', width: '', align: 'start' },
    ],
    mobileBreakpoint: 'sm',
    mobileBreakpointType: 'defaults',
    action: 'replace',
    className: '',
  });
  const cards = flow.node('function', 'model cards', [3.6, 1.5], {
    ...NODE_DEFAULTS.function,
    func: source('model-cards.js'),
  });
  const models = flow.node('ui-template', 'models', [4.6, 1.5], {
    group: group('Models', 4, 6),
    page: '',
    ui: '',
    order: 1,
    width: 6,
    height: 0,
    head: '',
    format: source('model-cards.html'),
    storeOutMessages: true,
    passthru: false,
    resendOnRefresh: true,
    templateScope: 'local',
    className: '',
  });
  // From one end of the sheet to the other, without a wire across it.
  const told = flow.node('link out', 'text colour to the plots', [5.4, 1.5], { mode: 'link', links: [] });
  const drawn = flow.node('link in', 'text colour of the page', [1.7, 9.1], { links: [told.id] });
  told.links.push(drawn.id);
  flow.wire(fits, cards, models, told);
  flow.wire(drawn, points);
  flow.wire(show, points);
  flow.wireOutput(points, 0, temperature);
  flow.wireOutput(points, 1, gauge, riskChart);
  flow.wireOutput(points, 2, alarms);
}
