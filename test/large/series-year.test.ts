/* A year of hours from a CSV file, 24 times ahead, into a chart: in a Node-RED with a heap of 700 MB. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { TestFlow } from '../helpers/flow';
import { type FlowNode, type RealNodeRed, root, startNodeRed } from '../helpers/node-red';
import { waitFor } from '../helpers/wait';

const DASHBOARD = '@flowfuse/node-red-dashboard';
const HOURS = 8760;
const HOUR = 3_600_000;

function yearAsCsv(): string {
  const lines = ['time,kwh,outside'];
  for (let hour = 0; hour < HOURS; hour++) {
    const [ofYear, ofDay] = [Math.sin((2 * Math.PI * hour) / HOURS), Math.sin((2 * Math.PI * hour) / 24)];
    const outside = 10 - 8 * ofYear + 4 * ofDay;
    const kwh = 3 + ofDay - outside / 10 + 0.3 * Math.sin(hour * 12.9898);
    const time = new Date(Date.UTC(2025, 0, 1) + hour * HOUR).toISOString();
    lines.push(`${time},${kwh.toFixed(3)},${outside.toFixed(2)}`);
  }
  return `${lines.join('\n')}\n`;
}

/** What a dashboard needs around a chart. */
const AROUND = [
  {
    ...{ id: 'ui', type: 'ui-base', name: 'dashboard', path: '/dashboard', includeClientData: true },
    ...{ acceptsClientConfig: ['ui-notification', 'ui-control'], navigationStyle: 'none' },
  },
  {
    ...{ id: 'theme', type: 'ui-theme', name: 'plain' },
    colors: {
      surface: '#183b56',
      primary: '#1f77b4',
      bgPage: '#eef1f4',
      groupBg: '#fff',
      groupOutline: '#ddd',
    },
    sizes: { density: 'default', pagePadding: '12px', groupGap: '12px', groupBorderRadius: '6px' },
  },
  {
    ...{
      id: 'page',
      type: 'ui-page',
      name: 'energy',
      ui: 'ui',
      path: '/page',
      layout: 'grid',
      theme: 'theme',
    },
    ...{ order: 1, breakpoints: [], visible: true, disabled: false },
  },
  {
    ...{ id: 'group', type: 'ui-group', name: 'forecast', page: 'page', width: 6, height: 1, order: 1 },
    ...{ visible: 'true', disabled: 'false', groupType: 'default' },
  },
] as FlowNode[];

/** A chart as it is dragged in, but for how many points it keeps: it copies them all with each message. */
const CHART = {
  ...{ group: 'group', label: 'chart', chartType: 'line', category: 'topic', categoryType: 'msg' },
  ...{ xAxisProperty: '', xAxisPropertyType: 'timestamp', xAxisType: 'time', action: 'append' },
  ...{ yAxisProperty: 'kwh', yAxisPropertyType: 'property', removeOlder: 1, removeOlderUnit: '3600' },
  ...{ removeOlderPoints: '24', width: 6, height: 8 },
};

describe('a year of hours into a chart', function () {
  this.timeout(1_800_000);
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-year-'));
  const csv = path.join(folder, 'year.csv');
  let red: RealNodeRed | undefined;

  before(() => fs.writeFileSync(csv, yearAsCsv()));
  afterEach(async () => {
    await red?.stop();
    red = undefined;
  });
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  function flowOf(send: 'newest' | undefined): FlowNode[] {
    const flow = new TestFlow();
    flow.embedded();
    const start = flow.inject('start', { props: [{ p: 'payload', v: csv, vt: 'str' }] });
    const series = flow.tabular('series', 'series', {
      ...{ source: 'file', column: 'kwh', ahead: '1h..24h' },
      ...(send !== undefined && { send }),
    });
    const fit = flow.tabular('fit', 'fit', { model: 'house', options: '{"n_estimators":1}' });
    const predict = flow.tabular('predict', 'predict', {
      ...{ model: 'house', noModel: 'wait', outputType: 'quantiles', property: 'forecast' },
    });
    const chart = flow.node('ui-chart', 'chart', CHART);
    const count = flow.code(
      'count',
      `const { rows = 0, most = 0 } = context.get('seen') ?? {};
       const cells = msg.payload.reduce((sum, row) => sum + Object.keys(row).length, 0);
       context.set('seen', { rows: rows + msg.payload.length, most: Math.max(most, cells) });
       if (msg.payload.some(({ forecast }) => !(forecast['0.1'] <= forecast['0.9']))) { node.error('no band', msg); }
       node.status({ text: JSON.stringify(context.get('seen')) });`,
    );
    const complete = flow.node('complete', 'complete', { scope: ['series'], uncaught: false });
    const wrong = flow.node('catch', 'catch', { scope: null, uncaught: false });
    flow.wire(start, series);
    flow.wireOutput(series, 0, predict);
    flow.wireOutput(series, 2, fit);
    flow.wire(predict, chart, count);
    flow.wire(complete, flow.debug('done', '_msgid'));
    flow.wire(wrong, flow.debug('wrong', 'error.message'));
    return [...flow.nodes, ...AROUND];
  }

  const megabytes = (name: 'VmRSS' | 'VmHWM'): number =>
    Number(
      new RegExp(`${name}:\\s+(\\d+)`).exec(fs.readFileSync(`/proc/${red!.process.pid}/status`, 'utf8'))![1],
    ) / 1024;

  for (const { send, rows, most } of [
    { send: 'newest', rows: 24, most: 600 },
    { send: undefined, rows: 20_000, most: 900 },
  ] as const) {
    it(`lives on a heap of 700 MB, and sends ${rows} rows with send ${send}`, async function () {
      if (process.platform !== 'linux') {
        this.skip();
      }
      red = await startNodeRed({
        flows: flowOf(send),
        link: {
          'node-red-contrib-tabular-prediction': root,
          [DASHBOARD]: path.join(root, 'node_modules', ...DASHBOARD.split('/')),
        },
        env: { NODE_OPTIONS: '--max-old-space-size=700' },
      });
      await red.inject('start');
      const seen = (): { rows: number; most: number } =>
        JSON.parse(red!.statuses.get('count')?.text ?? '{"rows":0,"most":0}') as {
          rows: number;
          most: number;
        };
      await waitFor(
        `${rows} rows`,
        () => {
          assert.equal(red!.process.exitCode ?? red!.process.signalCode, null, red!.log());
          return seen().rows >= rows ? true : undefined;
        },
        1_700_000,
      );
      const done = await red.shown('done');
      assert.deepEqual([seen().rows, done.length], [rows, 1]);
      assert.ok(seen().most <= 20_000 + rows);
      assert.deepEqual(
        red.debug.filter(({ id }) => id === 'wrong'),
        [],
      );
      const [now, peak] = [megabytes('VmRSS'), megabytes('VmHWM')];
      console.log(`      ${rows} rows, ${now.toFixed(0)} MB resident, ${peak.toFixed(0)} MB at most`);
      assert.ok(peak < most, `${peak} MB`);
    });
  }
});
