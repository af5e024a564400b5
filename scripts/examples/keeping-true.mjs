import { EMBEDDED, Flow, NODE_DEFAULTS, SERIES_DEFAULTS, WATCH_DEFAULTS } from './flow.mjs';

const INFO = `# Keeping a model true

A simulated compressor: how hot will its oil be in half an hour? After a while its cooler clogs, and the same load makes the oil hotter. No sensor shows this, so the model, fitted on the days before, is wrong from then on.

The *watch* node compares each forecast with its outcome. First it moves the bands so that they still contain four outcomes in five. Then it reports that the model has become worse: \`decay\`, on output 2, which is wired back to *series*. *series* then sends a train set of the newest rows, *fit* makes a model of it, and *watch* reports that it is in charge. *watch* also raises an alarm when the upper edge of the band reaches 88 °C.

One second here is half an hour of the compressor. Press Deploy and wait three minutes, or press *clog* and *clean* to change its cooler. The debug sidebar shows the changes. Nothing leaves this computer, because the embedded service is used.`;

/** A model that wears, is noticed, and is fitted again: series, predict, watch, and the wire back. */
export function keepingTrue() {
  const flow = new Flow('Keeping a model true', INFO);
  const button = (name, row) =>
    flow.node('inject', name, [0, row], {
      ...NODE_DEFAULTS.inject,
      topic: name,
      props: [{ p: 'topic', vt: 'str' }],
    });

  flow.comment('1. The machine', [0, 0]);
  const [start, tick] = flow.clock([{ p: 'topic', vt: 'str' }]);
  const clog = button('clog', 3);
  const clean = button('clean', 4);
  const machine = flow.code('Compressor', [1.1, 2], 'compressor.js');

  flow.comment('2. Forecasts, and the model behind them', [2.2, 0]);
  const series = flow.node('tabular-series', 'oil in 30 min', [2.2, 2], {
    ...SERIES_DEFAULTS,
    column: 'oil_c',
    ahead: '30m',
    windows: '30m, 2h',
    train: '1000 rows',
    keep: 300,
  });
  const predict = flow.node('tabular-predict', 'how hot?', [3.4, 1], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    model: 'compressor oil',
    noModel: 'wait',
    outputType: 'quantiles',
    quantiles: '0.1,0.5,0.9',
    property: 'forecast',
  });
  const fit = flow.node('tabular-fit', 'learn', [3.4, 3], {
    config: EMBEDDED,
    table: 'payload',
    tableType: 'msg',
    model: 'compressor oil',
    task: 'auto',
  });

  flow.comment('3. Is it still right?', [4.5, 0]);
  const watch = flow.node('tabular-watch', 'still right?', [4.5, 2], {
    ...WATCH_DEFAULTS,
    config: EMBEDDED,
    property: 'forecast',
    alarmOn: 'upper',
    raise: '88',
    clear: '68',
  });
  // Six messages a second would push everything else out of the sidebar: switched on by its button.
  const forecasts = flow.node('debug', 'forecasts', [5.7, 1], { ...NODE_DEFAULTS.debug, active: false });
  const changes = flow.node('debug', 'changes', [5.7, 3], {
    ...NODE_DEFAULTS.debug,
    complete: 'change',
    targetType: 'msg',
    tostatus: true,
    statusVal: 'payload',
    statusType: 'msg',
  });

  flow.comment('4. Errors, by code', [0.2, 5.5]);
  flow.errors([0, 6.5], { beside: 1.1, status: true });

  flow.wire([start, tick, clog, clean], machine, series, predict, watch, forecasts);
  flow.wireOutput(series, 1, watch);
  flow.wireOutput(series, 2, fit);
  flow.wireOutput(watch, 1, changes, series);
  return flow;
}
