/*
 * A fleet over a real Mosquitto: npm run bench -- fleet [machines] [readings] [times]
 * How many readings a second a machine turns into predictions, how many bytes a model has, and how long it takes from the
 * publishing of a model until every machine predicts with it.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { connect, type Tabular } from '../../dist/src';
import { mosquittoBinary, mqtt, startMosquitto } from '../../test/helpers/mosquitto';
import { type FlowNode, placed, type RealNodeRed, root, startNodeRed } from '../../test/helpers/node-red';
import { streamThrough } from '../../test/helpers/stream';
import { removedAtEnd } from '../../test/helpers/temporary';
import { waitFor } from '../../test/helpers/wait';
import { openResults } from '../results.mjs';
import { functionNode } from '../stream/node-red';

const MACHINES = Number(process.argv[2] ?? 3);
const READINGS = Number(process.argv[3] ?? 5_000);
/** How often each model is published. */
const TIMES = Number(process.argv[4] ?? 5);
const z = 'tab';

/** Numbers that look like chance: from 0 to below 1 for a row and a column. */
function at(row: number, column: number): number {
  let mixed = Math.imul(row * 31 + column + 1, 0x9e3779b1);
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x7feb352d);
  return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32;
}

function tableOf(rows: number, columns: number): Record<string, number>[] {
  return Array.from({ length: rows }, (_, i) => {
    const row = Object.fromEntries(Array.from({ length: columns }, (_, j) => [`c${j}`, at(i, j)]));
    return { ...row, y: 3 * row.c0! + 4 * row.c1! * row.c2! + (row.c3! > 0.5 ? 1 : 0) + 0.3 * at(i, 99) };
  });
}

const MODELS = [
  { name: 'small', rows: 300, columns: 5 },
  { name: 'typical', rows: 2_000, columns: 20 },
  { name: 'typical, `{"n_estimators": 2}`', rows: 2_000, columns: 20, options: { n_estimators: 2 } },
  { name: 'large', rows: 20_000, columns: 20 },
];

/** A machine that does nothing but take models. */
function taker(port: number): FlowNode[] {
  return placed([
    { id: z, type: 'tab', label: 'bench' },
    { id: 'broker', type: 'mqtt-broker', broker: '127.0.0.1', port: String(port), autoConnect: true },
    {
      id: 'models',
      type: 'mqtt in',
      z,
      topic: 'fleet/model',
      qos: '1',
      datatype: 'buffer',
      broker: 'broker',
      inputs: 0,
      wires: [['model']],
    },
    {
      id: 'model',
      type: 'change',
      z,
      rules: [{ t: 'move', p: 'payload', pt: 'msg', to: 'model_file', tot: 'msg' }],
      wires: [['predict']],
    },
    {
      id: 'predict',
      type: 'tabular-predict',
      z,
      config: '',
      model: 'm',
      takeModel: 'on',
      noModel: 'wait',
      wires: [[]],
    },
  ]);
}

/** A machine with its readings: from a second to the next, as the example "Fleet over MQTT" has them. */
function machine(): FlowNode[] {
  const series = {
    outcome: 'column',
    column: 'c0',
    ahead: '30s',
    windows: '30s, 2m',
    shape: 'auto',
    calendar: 'auto',
  };
  const reading = `const at = ${at.toString().replace(/: number/g, '')};
const n = (context.get('n') ?? 0) + 1;
context.set('n', n);
msg.payload = { time: 1.7e12 + 1000 * n, c0: at(n, 0), c1: at(n, 1), c2: at(n, 2), c3: at(n, 3) };
return msg;`;
  return placed([
    { id: z, type: 'tab', label: 'bench' },
    { id: 'go', type: 'inject', z, props: [], wires: [['past']] },
    functionNode(
      z,
      'past',
      `const at = ${at.toString().replace(/: number/g, '')};
return { payload: Array.from({ length: 2000 }, (_, i) => ({ time: 1.6e12 + 1000 * i, c0: at(i, 0), c1: at(i, 1), c2: at(i, 2), c3: at(i, 3) })) };`,
      'rows',
    ),
    { id: 'source', type: 'stream-source', z, wires: [['reading']] },
    functionNode(z, 'reading', reading, 'rows'),
    {
      id: 'rows',
      type: 'tabular-series',
      z,
      ...series,
      train: '100000 rows',
      send: 'newest',
      wires: [['predict'], [], ['fit']],
    },
    { id: 'fit', type: 'tabular-fit', z, config: '', model: 'm', wires: [['fitted']] },
    {
      id: 'fitted',
      type: 'debug',
      z,
      active: true,
      tosidebar: true,
      complete: 'fitted_train_set_id',
      targetType: 'msg',
      wires: [],
    },
    { id: 'predict', type: 'tabular-predict', z, config: '', model: 'm', noModel: 'wait', wires: [['sink']] },
    { id: 'sink', type: 'stream-sink', z, wires: [] },
  ]);
}

const median = (values: number[]): number => [...values].sort((a, b) => a - b)[values.length >> 1]!;

async function readingsASecond(): Promise<number> {
  const red = await startNodeRed({
    flows: machine(),
    link: {
      'node-red-contrib-tabular-prediction': root,
      'node-red-contrib-stream-test': path.join(root, 'test', 'helpers', 'stream-nodes'),
    },
  });
  try {
    await red.inject('go');
    await red.shown('fitted', 1, 120_000);
    const options = { count: READINGS, window: 1_000 };
    await streamThrough(red, options);
    return READINGS / ((await streamThrough(red, options)) / 1000);
  } finally {
    await red.stop();
  }
}

/** Seconds from a publishing until each machine has taken the model: it then stands in its status. */
async function spread(
  hub: Tabular,
  machines: readonly RealNodeRed[],
  publish: (file: Buffer) => Promise<unknown>,
  model: (typeof MODELS)[number],
  round: number,
): Promise<number[]> {
  await hub.train({
    table: tableOf(model.rows + round, model.columns),
    ...{ target: 'y', task: 'regression', model: 'm', options: model.options },
  });
  const file = await hub.publishModel('m');
  const before = machines.map(({ statuses }) => statuses.get('predict')?.text);
  const start = performance.now();
  await publish(file);
  return Promise.all(
    machines.map(async ({ statuses }, i) => {
      await waitFor('the model', () => {
        const { text } = statuses.get('predict') ?? {};
        return (text !== before[i] && /taken$/.test(text ?? '')) || undefined;
      });
      return (performance.now() - start) / 1000;
    }),
  );
}

async function main(): Promise<void> {
  const binary = mosquittoBinary();
  if (binary === undefined) {
    throw new Error('There is no Mosquitto here: install it, or set MOSQUITTO to its path.');
  }
  console.log(`Node ${process.version}, ${process.platform} ${process.arch}, ${os.cpus().length} cores\n`);
  if (READINGS > 0) {
    console.log(
      `Readings a second, each through series and predict: ${Math.round(await readingsASecond())}\n`,
    );
  }
  const broker = await startMosquitto(binary);
  const client = await mqtt.connectAsync(`mqtt://127.0.0.1:${broker.port}`, {});
  const hub = await connect({
    dataDir: removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-bench-'))),
  });
  const machines = await Promise.all(
    Array.from({ length: MACHINES }, () => startNodeRed({ flows: taker(broker.port) })),
  );
  try {
    console.log(
      `From publishing to ${MACHINES} machines, each a Node-RED, ${TIMES} times; seconds until the last has it:\n`,
    );
    const results = openResults(__filename);
    const table = results.table('models', ['model', 'train set', 'MB', 'median', 'longest']);
    for (const model of MODELS) {
      let bytes = 0;
      const last: number[] = [];
      for (let round = 0; round < TIMES; round++) {
        const publish = (file: Buffer): Promise<unknown> => {
          bytes = file.length;
          return client.publishAsync('fleet/model', file, { qos: 1, retain: true });
        };
        last.push(Math.max(...(await spread(hub, machines, publish, model, round))));
      }
      table.row(
        model.name,
        `${model.rows} × ${model.columns}`,
        (bytes / 1e6).toFixed(2),
        median(last).toFixed(2),
        Math.max(...last).toFixed(2),
      );
    }
    await results.save();
  } finally {
    await Promise.all(machines.map((red) => red.stop()));
    await Promise.all([hub.close(), client.endAsync()]);
    await broker.close();
  }
}

void main();
