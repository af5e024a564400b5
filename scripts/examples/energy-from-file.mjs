import { columns, dashboard, ENERGY_OF_A_DAY, waiting, whatCame } from './dashboard.mjs';
import { EMBEDDED, Flow, NODE_DEFAULTS, SERIES_DEFAULTS, source } from './flow.mjs';

const INFO = `# Energy from a CSV file

A year of hourly readings of a meter in a CSV file, with local dates and cells that say \`unavailable\`, and no function node. A *series* node reads the file as one table, sends the newest 24 rows, one for each hour of the next day, and the train set. The model is fitted, which takes half a minute or so, and the forecast stands in the chart with its band. A minute later, or when you press *a day*, the day itself is read from a second file: the chart shows what came, and the forecast of the day after it.

Press Deploy. Both files are written into the folder that Node-RED runs in, once. To use your own, put its name into *read the year* and its column of values into *next 24 hours*.

With *Plain numbers too*, the predict node adds \`forecast_mid\`, \`forecast_low\`, \`forecast_high\` and \`forecast_time\` to each row. The chart takes the rows as they are.

Needs the nodes \`@flowfuse/node-red-dashboard\` (Manage palette → Install); the chart is then at \`/dashboard/csv\` of this Node-RED. Nothing leaves this computer, because the embedded service is used.`;

/** A file of a year of hours, the forecast of the next day in a chart, and what then came. */
export function energyFromFile() {
  const flow = new Flow('Energy from a CSV file', INFO);
  flow.needs('@flowfuse/node-red-dashboard');
  const { group, chart } = dashboard(flow, 'Energy from a file', '/csv');
  const model = { config: EMBEDDED, table: 'payload', tableType: 'msg', model: 'meter' };

  flow.comment('1. The files: a year of hours, and the day after it', [0.5, 0]);
  const file = (what, row, hours, onceDelay) => {
    const filename = `energy of a ${what}.csv`;
    const begin = flow.node('inject', `a ${what}`, [0, row], {
      ...NODE_DEFAULTS.inject,
      once: true,
      onceDelay,
      payload: source('energy-year.jsonata').replace('HOURS', hours),
      payloadType: 'jsonata',
    });
    const write = flow.node('file', `write the ${what}`, [1.2, row], {
      ...{ filename, filenameType: 'str', appendNewline: true, createDir: false },
      ...{ overwriteFile: 'true', encoding: 'utf8' },
    });
    const read = flow.node('file in', `read the ${what}`, [2.4, row], {
      ...{ filename, filenameType: 'str', format: 'utf8', chunk: false, sendError: false },
      ...{ encoding: 'utf8', allProps: false },
    });
    flow.wire(begin, write, read);
    return { begin, read };
  };
  const year = file('year', 1.4, '[-8760..-1]', 0.1);
  const next = file('day', 2.4, '[0..23]', 90);

  flow.comment('2. 24 rows, one model for all of them', [0.4, 3.6]);
  const rows = flow.node('tabular-series', 'next 24 hours', [1.1, 5.5], {
    ...SERIES_DEFAULTS,
    column: 'energy_kwh',
    ahead: '1h..24h',
    windows: '1d',
    keep: 3000,
  });
  const predict = flow.node('tabular-predict', 'next 24 hours?', [2.5, 4.6], {
    ...model,
    property: 'forecast',
    outputType: 'quantiles',
    quantiles: '0.1,0.5,0.9',
    flat: 'on',
    noModel: 'wait',
  });
  const came = whatCame(flow, 'what came', [2.5, 5.6]);
  const fit = flow.node('tabular-fit', 'meter', [2.5, 6.6], { ...model, task: 'auto' });

  flow.comment('3. The chart: open /dashboard/csv', [5.4, 4.6]);
  const waits = waiting(flow, [3.8, 7.4], [3.8, 8.2]);
  const day = flow.node('ui-chart', 'forecast and measured', [5.4, 5.6], {
    ...chart,
    ...columns(['measured', 'forecast_mid', 'forecast_low', 'forecast_high'], 'forecast_time'),
    colors: [
      '#e4572e',
      '#2f7fd1',
      '#9ecae1',
      '#9ecae1',
      '#A347E1',
      '#D62728',
      '#FF9896',
      '#9467BD',
      '#C5B0D5',
    ],
    group: group('Energy of the next day: forecast with its band, and what came', 1, 12),
    ...ENERGY_OF_A_DAY,
  });
  const debug = flow.debug('next day', [3.8, 4], 'payload');
  const card = flow.debug('model card', [3.8, 6.6], 'model');
  flow.errors([0, 8.2]);

  flow.wire([year.read, next.read], flow.far('readings', [3.5, 1.9], [0, 5.5], rows));
  flow.wireOutput(rows, 0, predict);
  flow.wireOutput(rows, 1, came);
  flow.wireOutput(rows, 2, fit);
  flow.wire(predict, [day, debug]);
  flow.wire(came, day);
  flow.wire(fit, card);
  flow.wire(year.begin, flow.far('the model is fitted', [1, 0.7], [2.7, 7.4], waits.begin));
  flow.wire(waits.begin, day);
  flow.wire(fit, waits.end, day);
  return flow;
}
