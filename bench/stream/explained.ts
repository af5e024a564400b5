/*
 * One-row messages through a real Node-RED to the embedded service, without causes and with them:
 * npm run bench -- explained [messages]
 */
import os from 'node:os';
import path from 'node:path';

import { type FlowNode, placed, root, startNodeRed } from '../../test/helpers/node-red';
import { streamThrough } from '../../test/helpers/stream';
import { cpuMs, functionNode } from './node-red';

const MESSAGES = Number(process.argv[2] ?? 1000);
const WINDOW = 1000;
const z = 'tab';

/** Code of a function node: row `i` of a table, with its target `y`. Numbers follow from `i` alone. */
const RANDOM = `const at = (i, j) => {
  let x = Math.imul(i * 31 + j + 1, 0x9e3779b1);
  x = Math.imul(x ^ (x >>> 16), 0x7feb352d);
  x = Math.imul(x ^ (x >>> 15), 0x846ca68b);
  return ((x ^ (x >>> 16)) >>> 0) / 2 ** 32;
};`;

/** Wear, torque and heat of a milling machine, which fails by the rules of AI4I 2020 (S. Matzka). */
const MILLING = `${RANDOM}
const rowOf = (i) => {
  const type = at(i, 0) < 0.5 ? 'L' : at(i, 0) < 0.8 ? 'M' : 'H';
  const air = 298 + 5 * at(i, 1);
  const process = air + 8 + 4 * at(i, 2);
  const torque = 20 + 20 * (at(i, 3) + at(i, 4));
  const speed = 60000 / (torque + 3 * at(i, 5));
  const wear = 240 * at(i, 6);
  const power = (torque * speed * 2 * Math.PI) / 60;
  const strain = { L: 11000, M: 12000, H: 13000 }[type];
  const fails = (process - air < 8.6 && speed < 1380) || power < 3500 || power > 9000 || torque * wear > strain;
  return { type, air, process, speed, torque, wear, y: fails ? 'yes' : 'no' };
};`;

const numbers = (columns: number, classes: number): string => `${RANDOM}
const rowOf = (i) => {
  const row = {};
  for (let j = 0; j < ${columns}; j++) row['c' + j] = at(i, j) + at(i, j + 40) + at(i, j + 80) - 1.5;
  const score = 3 * row.c0 + 4 * row.c1 * row.c2 + (row.c3 > 0.2 ? 1 : 0) - 2 * row.c4 ** 2 + 0.6 * (at(i, 200) - 0.5);
  return { ...row, y: 'c' + [0, 0.8].slice(0, ${classes - 1}).filter((cut) => score > cut).length };
};`;

const MODELS = [
  { name: 'milling machine, 6 columns, two classes', rows: 3000, code: MILLING },
  { name: '10 numeric columns, two classes', rows: 1000, code: numbers(10, 2) },
  { name: '20 numeric columns, two classes', rows: 1000, code: numbers(20, 2) },
  { name: '20 numeric columns, three classes', rows: 1000, code: numbers(20, 3) },
];

const WAYS = [
  { name: 'without', explain: 'off' },
  { name: 'with', explain: 'on' },
];

function flow({ rows, code }: { rows: number; code: string }): FlowNode[] {
  const makes = (id: string, func: string, next: string): FlowNode => functionNode(z, id, func, next);
  return [
    { id: 'tab', type: 'tab', label: 'bench' },
    { id: 'config', type: 'tabular-config', service: 'embedded' },
    { id: 'go', type: 'inject', z, props: [], wires: [['rows']] },
    makes('rows', `${code}\nreturn { payload: Array.from({ length: ${rows} }, (_, i) => rowOf(i)) };`, 'fit'),
    { id: 'fit', type: 'tabular-fit', z, config: 'config', target: 'y', model: 'm', wires: [['id']] },
    {
      ...{ id: 'id', type: 'debug', z, active: true, tosidebar: true, wires: [] },
      ...{ complete: 'fitted_train_set_id', targetType: 'msg' },
    },
    { id: 'source', type: 'stream-source', z, wires: [['row']] },
    makes(
      'row',
      `${code}
const { y, ...row } = rowOf(1e6 + msg.payload.id);
msg.payload = row;
msg.explain = flow.get('explain');
return msg;`,
      'first',
    ),
    { id: 'first', type: 'tabular-predict', z, config: 'config', model: 'm', wires: [['sink']] },
    { id: 'sink', type: 'stream-sink', z, wires: [] },
    ...WAYS.map(({ explain }): FlowNode => ({
      ...{ id: `set-${explain}`, type: 'inject', z, props: [], wires: [[`put-${explain}`]] },
    })),
    ...WAYS.map(({ explain }): FlowNode =>
      makes(`put-${explain}`, `flow.set('explain', ${explain === 'on'});`, 'id'),
    ),
  ];
}

async function main(): Promise<void> {
  console.log(`Node ${process.version}, ${process.platform} ${process.arch}, ${os.cpus().length} cores\n`);
  console.log('| model | causes | messages/s | processor ms per message |');
  console.log('|---|---|---|---|');
  for (const model of MODELS) {
    const red = await startNodeRed({
      flows: placed(flow(model)),
      link: {
        'node-red-contrib-tabular-prediction': root,
        'node-red-contrib-stream-test': path.join(root, 'test', 'helpers', 'stream-nodes'),
      },
      env: { NODE_ENV: 'production' },
    });
    try {
      await red.inject('go');
      await red.shown('id', 1, 300_000);
      for (const { name, explain } of WAYS) {
        await red.inject(`set-${explain}`);
        const count = explain === 'on' ? MESSAGES : 40 * MESSAGES;
        // The threads start, and what explanations keep is made.
        await streamThrough(red, { count: Math.ceil(count / 4), window: WINDOW });
        const before = await cpuMs(red);
        const ms = await streamThrough(red, { count, window: WINDOW });
        const cpu = ((await cpuMs(red)) - before) / count;
        console.log(`| ${model.name} | ${name} | ${Math.round((1000 * count) / ms)} | ${cpu.toFixed(2)} |`);
      }
    } finally {
      await red.stop();
    }
  }
}

void main();
