/**
 * npm run evaluate: the tables of a data folder (../shared/data, or the one named by DATA) through a real Node-RED:
 * file in → fit, then file in (→ csv) → predict on rows held back, over several splits, on the embedded service.
 * Prints one row per table and way in, beside the trivial baseline.
 */
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import Papa from 'papaparse';

import { seededRandom } from '../test/doors/util';
import { type FlowNode, placed, root, startNodeRed } from '../test/helpers/node-red';

interface Case {
  file: string;
  target: string;
  task: 'classification' | 'regression';
  ignore: string[];
  /** The class whose recall and precision are shown. */
  positive?: string;
}

const CASES: Case[] = [
  { file: 'penguins.csv', target: 'species', task: 'classification', ignore: [] },
  { file: 'titanic.csv', target: 'survived', task: 'classification', ignore: ['alive'] },
  { file: 'mpg.csv', target: 'mpg', task: 'regression', ignore: [] },
  {
    file: 'ai4i2020.csv',
    target: 'Machine_failure',
    task: 'classification',
    ignore: ['UDI', 'Product ID', 'TWF', 'HDF', 'PWF', 'OSF', 'RNF'],
    positive: '1',
  },
];

const data = process.env.DATA ?? path.join(root, '..', 'shared', 'data');
const SPLITS = Number(process.env.SPLITS ?? 3);

/** Header, then three quarters of the lines to train on and the rest to be held back. */
function split(text: string, seed: number): { train: string; test: string; truth: Record<string, string>[] } {
  const { data: rows, meta } = Papa.parse<Record<string, string>>(text, {
    header: true,
    skipEmptyLines: true,
  });
  const next = seededRandom(seed);
  const order = rows.map((row) => ({ row, key: next() })).sort((a, b) => a.key - b.key);
  const cut = Math.round(order.length * 0.75);
  const csv = (part: typeof order) =>
    Papa.unparse(
      part.map((item) => item.row),
      { columns: meta.fields ?? [], newline: '\n' },
    ) + '\n';
  return {
    train: csv(order.slice(0, cut)),
    test: csv(order.slice(cut)),
    truth: order.slice(cut).map((item) => item.row),
  };
}

/** Two http routes: /fit and /score, each reading its file with core nodes. */
function flow(item: Case, folder: string, parsed: boolean): FlowNode[] {
  const fileIn = (id: string, name: string, to: string) => ({
    id,
    type: 'file in',
    z: 't',
    filename: path.join(folder, name),
    filenameType: 'str',
    format: 'utf8',
    chunk: false,
    sendError: false,
    encoding: 'none',
    allProps: false,
    wires: [[to]],
  });
  const csv = (id: string, to: string) => ({
    id,
    type: 'csv',
    z: 't',
    spec: 'rfc',
    sep: ',',
    hdrin: true,
    hdrout: 'none',
    multi: 'mult',
    ret: '\\n',
    temp: '',
    skip: '0',
    strings: true,
    include_empty_strings: true,
    include_null_values: true,
    wires: [[to]],
  });
  const table = { config: 'c', table: 'payload', tableType: 'msg' };
  return placed([
    { id: 't', type: 'tab', label: 'evaluate' },
    { id: 'c', type: 'tabular-config', name: '', service: 'embedded' },
    { id: 'fit-in', type: 'http in', z: 't', url: '/fit', method: 'post', wires: [['train-file']] },
    fileIn('train-file', 'train.csv', parsed ? 'train-csv' : 'fit'),
    csv('train-csv', 'fit'),
    {
      id: 'fit',
      type: 'tabular-fit',
      z: 't',
      ...table,
      target: item.target,
      ignore: item.ignore.join(','),
      task: item.task,
      model: 'evaluated',
      wires: [['fit-out']],
    },
    {
      id: 'fit-out',
      type: 'function',
      z: 't',
      func: 'msg.payload = msg.model; return msg;',
      outputs: 1,
      wires: [['out']],
    },
    { id: 'score-in', type: 'http in', z: 't', url: '/score', method: 'post', wires: [['test-file']] },
    fileIn('test-file', 'test.csv', parsed ? 'test-csv' : 'predict'),
    csv('test-csv', 'predict'),
    {
      id: 'predict',
      type: 'tabular-predict',
      z: 't',
      ...table,
      model: 'evaluated',
      property: 'predicted',
      wires: [['out']],
    },
    { id: 'caught', type: 'catch', z: 't', scope: null, uncaught: false, wires: [['error']] },
    {
      id: 'error',
      type: 'function',
      z: 't',
      func: 'msg.payload = msg.error; msg.statusCode = 500; return msg;',
      outputs: 1,
      wires: [['out']],
    },
    { id: 'out', type: 'http response', z: 't', statusCode: '', headers: {}, wires: [] },
  ]);
}

function trivial(item: Case, train: Record<string, string>[], truth: string[]): number {
  const known = train.map((row) => row[item.target]!);
  if (item.task === 'regression') {
    const mean = known.reduce((sum, value) => sum + Number(value), 0) / known.length;
    return Math.sqrt(truth.reduce((sum, value) => sum + (Number(value) - mean) ** 2, 0) / truth.length);
  }
  const counts = new Map<string, number>();
  for (const value of known) {
    counts.set(value, (counts.get(value) ?? 0) + 1);
  }
  const [most] = [...counts].sort((a, b) => b[1] - a[1])[0]!;
  return truth.filter((value) => value === most).length / truth.length;
}

interface Scores {
  measure: number;
  baseline: number;
  recall?: number;
  precision?: number;
}

function score(item: Case, train: string, truth: Record<string, string>[], predicted: unknown[]): Scores {
  const trainRows = Papa.parse<Record<string, string>>(train, { header: true, skipEmptyLines: true }).data;
  const right = truth.map((row) => row[item.target]!);
  const baseline = trivial(item, trainRows, right);
  if (predicted.length !== right.length) {
    throw new Error(`${predicted.length} predictions for ${right.length} rows`);
  }
  if (item.task === 'regression') {
    const errors = right.map((value, i) => (Number(value) - Number(predicted[i])) ** 2);
    return { measure: Math.sqrt(errors.reduce((a, b) => a + b, 0) / errors.length), baseline };
  }
  const hit = right.filter((value, i) => value === String(predicted[i])).length;
  const scores: Scores = { measure: hit / right.length, baseline };
  if (item.positive !== undefined) {
    const said = predicted.map((value) => String(value) === item.positive);
    const is = right.map((value) => value === item.positive);
    const both = is.filter((value, i) => value && said[i]).length;
    scores.recall = both / is.filter(Boolean).length;
    scores.precision = both / said.filter(Boolean).length;
  }
  return scores;
}

async function post(url: string): Promise<unknown> {
  const answer = await fetch(url, { method: 'POST' });
  const body = await answer.json();
  if (!answer.ok) {
    throw new Error(JSON.stringify(body));
  }
  return body;
}

async function evaluate(item: Case, parsed: boolean): Promise<void> {
  const text = fs.readFileSync(path.join(data, item.file), 'utf8');
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-evaluate-'));
  const red = await startNodeRed({ flows: flow(item, folder, parsed) });
  const all: (Scores & { seconds: number })[] = [];
  try {
    for (let seed = 1; seed <= SPLITS; seed++) {
      const { train, test, truth } = split(text, seed);
      fs.writeFileSync(path.join(folder, 'train.csv'), train);
      fs.writeFileSync(path.join(folder, 'test.csv'), test);
      const begun = performance.now();
      await post(`${red.url}/fit`);
      const seconds = (performance.now() - begun) / 1000;
      const rows = (await post(`${red.url}/score`)) as { predicted: unknown }[];
      const predicted = rows.map((row) => row.predicted);
      all.push({ ...score(item, train, truth, predicted), seconds });
    }
  } finally {
    await red.stop();
    fs.rmSync(folder, { recursive: true, force: true });
  }
  const mean = (pick: (one: (typeof all)[number]) => number | undefined) => {
    const value = all.reduce((sum, one) => sum + (pick(one) ?? NaN), 0) / all.length;
    return Number.isNaN(value) ? '' : value.toFixed(3);
  };
  const cells = [
    item.file.replace('.csv', ''),
    item.target,
    parsed ? 'csv node' : 'text',
    item.task === 'regression' ? 'RMSE' : 'accuracy',
    mean((one) => one.measure),
    mean((one) => one.baseline),
    mean((one) => one.recall),
    mean((one) => one.precision),
    mean((one) => one.seconds),
  ];
  console.log(`| ${cells.join(' | ')} |`);
}

async function main(): Promise<void> {
  console.log(`Held-back quarter, mean of ${SPLITS} random splits, embedded service.\n`);
  console.log('| table | target | in by | measure | held out | trivial | recall | precision | fit s |');
  console.log('|---|---|---|---|---|---|---|---|---|');
  for (const item of CASES) {
    for (const parsed of [false, true]) {
      await evaluate(item, parsed);
    }
  }
}

void main();
