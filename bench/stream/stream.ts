/*
 * Streams through a real Node-RED: npm run bench -- stream [messages]
 * Our predict node against the flow that a user would build from core nodes, and one row at a time against three bare
 * undici requests with the same bytes. The service is the strict stand-in, which answers after a set time.
 */
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';

import { type FlowNode, placed, type RealNodeRed, root, startNodeRed } from '../../test/helpers/node-red';
import { startStream } from '../../test/helpers/stream';
import { crc32cBase64, startStrictService, type StrictService } from '../../test/helpers/strict-service';
import { openResults } from '../results.mjs';
import { cpuMs, functionNode } from './node-red';

const MESSAGES = Number(process.argv[2] ?? 100_000);
const requireHere = createRequire(__filename);

interface State {
  arrived: number;
  doubled: number;
  mixed: unknown[];
  unordered: unknown[];
  ms: number;
  finished: boolean;
}

const z = 'tab';
const source: FlowNode = { id: 'source', type: 'stream-source', z, wires: [['first']] };
const sink: FlowNode = { id: 'sink', type: 'stream-sink', z, wires: [] };

function base(service: StrictService): FlowNode[] {
  return [
    { id: 'tab', type: 'tab', label: 'bench' },
    {
      id: 'config',
      type: 'tabular-config',
      service: 'hosted',
      baseUrl: service.url,
      credentials: { token: service.token },
    },
    source,
    sink,
  ];
}

function ours(service: StrictService, batchRows: number): FlowNode[] {
  return [
    ...base(service),
    { id: 'go', type: 'inject', z, props: [], wires: [['rows']] },
    {
      id: 'rows',
      type: 'function',
      z,
      func: 'return { payload: Array.from({ length: 40 }, (_, i) => ({ id: i, x: i % 7, y: i / 3 })) };',
      outputs: 1,
      libs: [],
      wires: [['fit']],
    },
    {
      id: 'fit',
      type: 'tabular-fit',
      z,
      config: 'config',
      target: 'y',
      task: 'regression',
      model: 'm',
      wires: [['id']],
    },
    {
      id: 'id',
      type: 'debug',
      z,
      active: true,
      tosidebar: true,
      complete: 'fitted_train_set_id',
      targetType: 'msg',
      wires: [],
    },
    { id: 'first', type: 'tabular-predict', z, config: 'config', model: 'm', batchRows, wires: [['sink']] },
  ];
}

/** Prepare, PUT, predict from core nodes: a function before each http request node, one after the last. */
function coreNodes(service: StrictService, fitted: string): FlowNode[] {
  const code = (id: string, func: string, next: string): FlowNode => functionNode(z, id, func, next);
  const http = (id: string, method: string, ret: string, next: string): FlowNode => ({
    id,
    type: 'http request',
    z,
    method,
    ret,
    paytoqs: 'ignore',
    url: '',
    persist: true,
    authType: '',
    senderr: false,
    headers: [],
    wires: [[next]],
  });
  const authorization = `{ authorization: 'Bearer ${service.token}', 'content-type': 'application/json' }`;
  return [
    ...base(service),
    code(
      'first',
      `msg.row = msg.payload;
const names = Object.keys(msg.row);
msg.csv = names.join(',') + '\\n' + names.map((name) => msg.row[name]).join(',') + '\\n';
msg.url = '${service.url}/svc/prepare_test_set_upload';
msg.headers = ${authorization};
msg.payload = { fitted_train_set_id: '${fitted}', x_test_info: { format: 'csv', size_bytes: Buffer.byteLength(msg.csv) } };
return msg;`,
      'prepare',
    ),
    http('prepare', 'POST', 'obj', 'put-in'),
    code(
      'put-in',
      `msg.upload = msg.payload.test_set_upload_id;
msg.url = msg.payload.x_test_info.signed_urls[0];
msg.headers = msg.payload.x_test_info.required_headers;
msg.payload = Buffer.from(msg.csv);
return msg;`,
      'put',
    ),
    http('put', 'PUT', 'txt', 'predict-in'),
    code(
      'predict-in',
      `msg.url = '${service.url}/svc/predict';
msg.headers = ${authorization};
msg.payload = { test_set_upload_id: msg.upload, fitted_train_set_id: '${fitted}', task_config: { task: 'regression' } };
return msg;`,
      'predict',
    ),
    http('predict', 'POST', 'obj', 'joined'),
    code(
      'joined',
      'return { stream: msg.stream, payload: { ...msg.row, prediction: msg.payload.prediction[0] } };',
      'sink',
    ),
  ];
}

function bare(service: StrictService, fitted: string): FlowNode[] {
  const upload = [...service.seen('put')].at(-1)!.url.split('/')[2]!;
  const file = service.bytesOf(upload);
  return [
    ...base(service),
    {
      id: 'first',
      type: 'stream-bare',
      z,
      undici: requireHere.resolve('undici'),
      url: service.url,
      token: service.token,
      fitted,
      file: file.toString('base64'),
      info: { format: 'parquet', hash: crc32cBase64(file), size_bytes: file.length },
      predict: { fitted_train_set_id: fitted, task_config: { task: 'regression' } },
      wires: [['sink']],
    },
  ];
}

function latency(service: StrictService, delayMs: number): void {
  for (const route of ['prepare_test_set_upload', 'put', 'predict'] as const) {
    service.fault(route, delayMs === 0 ? undefined : () => ({ delayMs }));
  }
}

async function stream(red: RealNodeRed, count: number, window: number): Promise<State> {
  await startStream(red, { count, window });
  for (;;) {
    const state = (await (await fetch(`${red.url}/stream/state`)).json()) as State;
    if (state.finished) {
      return state;
    }
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function verdict(state: State, count: number): string {
  const lost = count - state.arrived;
  const order = state.unordered.length === 0 ? 'order kept' : 'order not kept';
  return `${lost} lost, ${state.doubled} duplicated, ${state.mixed.length} mixed up, ${order}`;
}

async function main(): Promise<void> {
  const service = await startStrictService();
  const red = await startNodeRed({
    flows: [],
    link: {
      'node-red-contrib-tabular-prediction': root,
      'node-red-contrib-stream-test': path.join(root, 'test', 'helpers', 'stream-nodes'),
    },
    env: { NODE_ENV: 'production' },
  });
  const deploy = async (flow: FlowNode[]) => {
    await red.deploy(placed(flow));
    await new Promise((resolve) => setTimeout(resolve, 500));
  };
  try {
    await deploy(ours(service, 500));
    await red.inject('go');
    const [card] = await red.shown('id');
    const fitted = String(card!.msg);

    latency(service, 50);
    await stream(red, 2_000, 1_000);
    const mine = await stream(red, MESSAGES, 20_000);
    const rate = MESSAGES / (mine.ms / 1000);

    const few = Math.min(1_000, MESSAGES);
    await deploy(coreNodes(service, fitted));
    await stream(red, 100, 20);
    const theirs: [number, State][] = [];
    for (const window of [50, 500]) {
      theirs.push([window, await stream(red, few, window)]);
    }

    const cpu = `${os.cpus().length} cores`;
    console.log(`Node ${process.version}, ${process.platform} ${process.arch}, ${cpu}\n`);
    const results = openResults(__filename);
    const many = results.table(
      'many',
      ['flow', 'messages', 'messages/s', 'ours is faster by', ''],
      'One row per message; the service answers each request after 50 ms:',
    );
    many.row('predict node, batchRows 500', MESSAGES, Math.round(rate), '', verdict(mine, MESSAGES));
    for (const [window, state] of theirs) {
      const other = few / (state.ms / 1000);
      many.row(
        `http request nodes and functions, ${window} messages at a time`,
        few,
        Math.round(other),
        `${(rate / other).toFixed(1)}x`,
        verdict(state, few),
      );
    }

    const single = results.table(
      'single',
      [
        ...['latency of the service', 'predict node', 'three bare undici requests', 'ratio'],
        ...['http request nodes', 'CPU ms of Node-RED for each'],
      ],
      'One row at a time, no batching, milliseconds per message:',
    );
    for (const delay of [0, 5, 50]) {
      const [count, rounds] = delay === 50 ? [20, 2] : [100, 5];
      latency(service, delay);
      const best: Record<string, number> = {};
      const cpu: Record<string, number> = {};
      // Turn and turn about, so that what else the machine does meets all of them; the best round counts.
      for (let round = 0; round < rounds; round++) {
        const flows: [string, FlowNode[]][] = [
          ['ours', ours(service, 1)],
          ['bare', []],
          ['core', coreNodes(service, fitted)],
        ];
        for (const [name, flow] of flows) {
          await deploy(name === 'bare' ? bare(service, fitted) : flow);
          await stream(red, 20, 1);
          const before = await cpuMs(red);
          const { ms } = await stream(red, count, 1);
          best[name] = Math.min(best[name] ?? Infinity, ms / count);
          cpu[name] = Math.min(cpu[name] ?? Infinity, ((await cpuMs(red)) - before) / count);
        }
      }
      const { ours: node, bare: undici, core } = best as Record<'ours' | 'bare' | 'core', number>;
      const ratio = (node / undici).toFixed(2);
      const work = `${cpu.ours!.toFixed(2)}, ${cpu.bare!.toFixed(2)}, ${cpu.core!.toFixed(2)}`;
      single.row(`${delay} ms`, node.toFixed(2), undici.toFixed(2), ratio, core.toFixed(2), work);
    }
    await results.save();
    if (service.breaches.length > 0) {
      console.log('breaches:', new Set(service.breaches));
    }
  } finally {
    await red.stop();
    await service.close();
  }
}

void main();
