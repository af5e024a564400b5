import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';

import { tableFromArrays, tableToIPC } from 'apache-arrow';

import type { FlowNode } from '../helpers/node-red';
import { removedAtEnd } from '../helpers/temporary';
import { type Case, CASES, nodesOf } from './cases';
import { columnsOf, csvOf, ROWS, trainRows } from './cases/case';
import { ContractNodeRed, type Json, type Outcome, STATUS_PATIENCE_MS } from './contract-node-red';
import { PlayedService, TOKEN } from './played-service';
import { describeSent, type Sent } from './sent';

export const FIXTURES = path.join(__dirname, 'fixtures');
export const MESSAGES = path.join(FIXTURES, 'messages.json');
export const EXAMPLES = path.join(FIXTURES, 'examples.br');

/** What came of a case: of each node's outputs and errors, and the last status of the first node. */
export interface CaseResult {
  outcome: Outcome;
  status: Json | null;
  /** What was sent to services for it. */
  sent?: Sent[];
}

const config = (id: string, properties: Json, token = TOKEN): FlowNode => ({
  id,
  type: 'tabular-config',
  ...properties,
  ...(token !== '' && { credentials: { token } }),
});
const hosted = (id: string, host: string, more: Json = {}): FlowNode =>
  config(id, { service: 'hosted', baseUrl: `http://${host}.example.com`, ...more });

const NAMED = { apiName: 'acme', fitRequest: 'flat', fileInfo: 'sample' };

const CONFIGS = [
  hosted('cloud', 'hosted'),
  hosted('by names', 'acme', NAMED),
  hosted('newer one', 'newer'),
  hosted('wire plain', 'plain'),
  hosted('wire named', 'acme', NAMED),
  hosted('wire newer', 'newer'),
  hosted('wire pending', 'pending'),
  config('wire on site', { service: 'onPrem', baseUrl: 'http://endpoint.example.com/other' }),
  hosted('refusing', 'refusing', { retries: 0 }),
  hosted('held', 'refusing', { retries: 0 }),
  config('own service', { service: 'embedded' }, ''),
  config('on site', { service: 'onPrem', baseUrl: 'http://endpoint.example.com' }),
  config('no token', { service: 'hosted', baseUrl: 'http://hosted.example.com' }, ''),
  config('no address', { service: 'hosted' }),
];

const ENVIRONMENT = {
  CONTRACT_ROWS: csvOf(ROWS),
  CONTRACT_MODEL: 'labels',
  CONTRACT_NAME: 'from the environment',
  CONTRACT_NUMBER: '3',
};

/** The ids of the played service count up; here they count from 1 in each case. */
const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g;
const PLAYED_ID = /00000000-0000-4000-8000-\d{12}/g;

interface Options {
  package?: string;
  /** What the statuses will be. */
  expected?: Record<string, CaseResult>;
  /** Flows that are deployed at last. */
  flows?: FlowNode[];
}

export interface Found {
  results: Record<string, CaseResult>;
  deployed: Awaited<ReturnType<ContractNodeRed['deployed']>>;
}

/** Runs all cases in one Node-RED. */
export async function runCases(options: Options = {}): Promise<Found> {
  const userDir = removedAtEnd(fs.mkdtempSync(path.join(os.tmpdir(), 'tabular-messages-')));
  writeFiles(userDir);
  const service = new PlayedService();
  await service.listen();
  const red = await ContractNodeRed.start({
    nodes: [...CONFIGS, ...CASES.flatMap(nodesOf)],
    package: options.package,
    userDir,
    env: { ...ENVIRONMENT, http_proxy: service.url },
  });
  try {
    const results: Record<string, CaseResult> = {};
    for (const one of CASES) {
      one.refused?.forEach(([route, answer]) => service.refuse(route, answer));
      const before = service.recorded.length;
      const outcome = await given(red, one);
      const sent = one.sent === true ? await describeSent(service.recorded, before) : undefined;
      results[one.name] = settled({ outcome, status: null, ...(sent && { sent }) }, one);
    }
    // Statuses follow at leisure: all are looked at when the last one must be there.
    if (options.expected === undefined) {
      await red.status(CASES.at(-1)!.name);
    }
    const end = performance.now() + STATUS_PATIENCE_MS;
    for (const one of CASES) {
      const wanted = JSON.stringify(options.expected?.[one.name]?.status);
      const shownAs = (shown: Json | undefined) => settled(shown ?? null, one);
      const isWanted = (shown: Json | undefined) =>
        wanted === undefined || JSON.stringify(shownAs(shown)) === wanted;
      results[one.name]!.status = shownAs(await red.status(one.name, isWanted, end - performance.now()));
    }
    return { results, deployed: await red.deployed(options.flows ?? []) };
  } finally {
    await red.stop();
    await service.close();
    fs.rmSync(userDir, { recursive: true, force: true });
  }
}

function writeFiles(folder: string): void {
  fs.writeFileSync(path.join(folder, 'rows.csv'), csvOf(ROWS));
  fs.writeFileSync(path.join(folder, 'rows.tsv'), csvOf(ROWS, '\t'));
  fs.writeFileSync(path.join(folder, 'train.csv'), csvOf(trainRows(21)));
  fs.writeFileSync(path.join(folder, 'rows.arrow'), tableToIPC(tableFromArrays(columnsOf(ROWS)), 'file'));
  for (const name of ['rows.parquet', 'train.parquet']) {
    fs.copyFileSync(path.join(FIXTURES, name), path.join(folder, name));
  }
}

async function given(red: ContractNodeRed, { name, give, inTurn = false }: Case): Promise<Outcome> {
  if (!inTurn) {
    return red.outcomeOf(name, give);
  }
  const all: Outcome = { messages: {}, errors: {} };
  for (const msg of give) {
    const { messages, errors } = await red.outcomeOf(name, [msg]);
    Object.entries(messages).forEach(([from, list]) => (all.messages[from] ??= []).push(...list));
    Object.entries(errors).forEach(([from, list]) => (all.errors[from] ??= []).push(...list));
  }
  return all;
}

/** Without what differs from run to run, or may be said in other words. What passed through is told as that. */
function settled<T>(value: T, { give, inTurn = false, learned = false }: Case): T {
  const givenTexts = new Map(
    give.flatMap((msg, i) =>
      Object.entries(msg).map(([name, one]) => [`${inTurn ? 0 : i} ${name} ${JSON.stringify(one)}`, i]),
    ),
  );
  const text = JSON.stringify(value, (_name, one: unknown) => {
    const [, i] = /^given (\d+)$/.exec(String((one as Json | null)?._msgid)) ?? [];
    if (i === undefined) {
      return one;
    }
    const pairs = Object.entries(one as Json).map(([name, property]) => [
      name,
      givenTexts.has(`${i} ${name} ${JSON.stringify(property)}`) ? '<as given>' : property,
    ]);
    return Object.fromEntries(pairs) as unknown;
  });
  const ids = [...new Set(text.match(PLAYED_ID) ?? [])].sort();
  const plain = text.replace(PLAYED_ID, (id) => `<id ${ids.indexOf(id) + 1}>`);
  return JSON.parse(plain, function (this: unknown, name, one: unknown) {
    if (name === '_msgid') {
      return /^[0-9a-f]{16}$/.test(String(one)) ? '<message>' : one;
    }
    if (name === 'error' && typeof (one as Json).message === 'string') {
      return { ...(one as Json), message: '<text>' };
    }
    if (name === 'retryAfterMs') {
      return '<number>';
    }
    if (name === 'traceId') {
      return '<id>';
    }
    if (name === 'fitted_at') {
      return '<time>';
    }
    if (learned && typeof one === 'number') {
      return '<number>';
    }
    if (learned && typeof one === 'string') {
      return one.replace(UUID, '<id>').replace(/-?\d+(\.\d+)?/g, '<number>');
    }
    const isParquet = (this as Json).format === 'parquet';
    return isParquet && (name === 'hash' || name === 'bytes') ? `<${name}>` : one;
  }) as T;
}
